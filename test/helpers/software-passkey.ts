import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Approver } from "../../src/model/approvers.ts";
import type { Assertion } from "../../src/model/signature.ts";

type Algorithm = "ES256" | "EdDSA" | "RS256";

export interface Passkey {
  approver: Approver;
  secret: KeyObject;
}

export function makePasskey(alg: Algorithm, rp = "pawl.localhost"): Passkey {
  const { publicKey, privateKey } =
    alg === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : alg === "EdDSA"
        ? generateKeyPairSync("ed25519")
        : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const approver: Approver = {
    name: "Ada",
    key: `ada-${alg.toLowerCase()}`,
    kind: "webauthn",
    public: publicKey.export({ format: "der", type: "spki" }).toString("base64url"),
    level: "present",
    id: randomBytes(16).toString("base64url"),
    alg,
    rp,
  };
  return { approver, secret: privateKey };
}

interface Asked {
  flags?: number;
  origin?: string;
  site?: string;
  client?: Record<string, unknown>;
}

/** What a browser and an authenticator would answer, as the standard says; the tests of the page use a real browser. */
export function answer({ approver, secret }: Passkey, challenge: Buffer, asked: Asked = {}): Assertion {
  const {
    flags = 0x05,
    origin = `http://${approver.rp}:24817`,
    site = approver.rp ?? "",
    client = {},
  } = asked;
  const clientData = Buffer.from(
    JSON.stringify({ type: "webauthn.get", challenge: challenge.toString("base64url"), origin, ...client }),
  );
  const counter = Buffer.from([0, 0, 0, 7]);
  const authenticator = Buffer.concat([sha256(site), Buffer.from([flags]), counter]);
  const hash = approver.alg === "EdDSA" ? null : "sha256";
  return {
    credential: approver.id ?? "",
    authenticator_data: authenticator.toString("base64url"),
    client_data: clientData.toString("base64url"),
    signature: sign(hash, Buffer.concat([authenticator, sha256(clientData)]), secret).toString("base64url"),
  };
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest();
