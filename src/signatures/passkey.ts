import { createHash, createPublicKey, verify } from "node:crypto";
import type { Approver } from "../model/approvers.ts";
import { Failure } from "../model/failure.ts";
import { type Assertion, refused, type Verdict } from "../model/signature.ts";
import type { Signatures } from "../ports/signatures.ts";
import { strictBase64 } from "./ssh-wire.ts";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
/** The digest of the site's name, the flags, and a counter. */
const LEAST_AUTHENTICATOR_BYTES = 37;

const HASHES = { ES256: "sha256", RS256: "sha256", EdDSA: null } as const;

/** Checks a WebAuthn assertion whose challenge is the digest of a statement, without a browser, a network or a clock. */
export function verifyPasskey(assertion: Assertion, digest: Buffer, approvers: readonly Approver[]): Verdict {
  const owner = approvers.find((one) => one.kind === "webauthn" && one.id === assertion.credential);
  if (!owner?.rp || !owner.alg) return refused("unknown_key", "its passkey is not one of the approvers'");
  const clientData = strictBase64(assertion.client_data, "base64url");
  const authenticator = strictBase64(assertion.authenticator_data, "base64url");
  const wrong = wrongClient(clientData, digest, owner.rp);
  if (wrong) return wrong;
  if (authenticator.length < LEAST_AUTHENTICATOR_BYTES)
    return refused("malformed", "the authenticator's answer is too short");
  if (!authenticator.subarray(0, 32).equals(sha256(owner.rp)))
    return refused("wrong_origin", "it was made for another site");
  const key = createPublicKey({ key: strictBase64(owner.public, "base64url"), format: "der", type: "spki" });
  const signed = Buffer.concat([authenticator, sha256(clientData)]);
  if (!verify(HASHES[owner.alg], signed, key, strictBase64(assertion.signature, "base64url")))
    return refused("bad_signature", "it was not made by this passkey for this statement");
  const flags = authenticator[32] as number;
  if (!(flags & USER_PRESENT)) return refused("not_present", "nobody touched the authenticator");
  const level = flags & USER_VERIFIED ? "present" : "possession";
  if (level === "possession" && owner.level === "present")
    return refused("not_verified", "the authenticator did not ask for a PIN, fingerprint or face");
  return { ok: true, name: owner.name, key: owner.key, level };
}

const ALGORITHMS = ["ES256", "EdDSA", "RS256"] as const;

/** The name of the page: a key that was made for another site never signs for us. */
const PAGE = "pawl.localhost";

/** What a browser said of a new passkey, if a signature of it could be checked. */
export function readPasskey(text: string): ReturnType<Signatures["readPasskey"]> {
  const [id = "", name, key = "", ...rest] = text.split(".");
  const alg = ALGORITHMS.find((one) => one === name);
  try {
    if (!alg || rest.length > 0 || strictBase64(id, "base64url").length < 16) throw new Error("not ours");
    const der = strictBase64(key, "base64url");
    const { asymmetricKeyType } = createPublicKey({ key: der, format: "der", type: "spki" });
    if (asymmetricKeyType !== { ES256: "ec", EdDSA: "ed25519", RS256: "rsa" }[alg])
      throw new Error("not that");
  } catch (cause) {
    throw new Failure("usage", "bad_key", "That is not a passkey that pawl can enrol.", {
      hint: "Passkeys are enrolled on the page: pawl ui, then /approvers",
      details: { field: "passkey" },
      cause,
    });
  }
  return { public: key, id, alg, rp: PAGE, level: "present" };
}

function wrongClient(bytes: Buffer, digest: Buffer, rp: string): Verdict | undefined {
  let client: Record<string, unknown>;
  try {
    client = JSON.parse(bytes.toString("utf8"));
  } catch {
    return refused("malformed", "the browser's data is not JSON");
  }
  if (client.type !== "webauthn.get") return refused("malformed", "it is not an answer to a question");
  if (client.challenge !== digest.toString("base64url"))
    return refused("wrong_statement", "it was made for another statement");
  return client.crossOrigin === true || !isSite(client.origin, rp)
    ? refused("wrong_origin", "another page asked for it")
    : undefined;
}

/** The page is served by pawl itself on this machine, so its address is plain http and the port may be any. */
function isSite(origin: unknown, rp: string): boolean {
  const { protocol, hostname } = URL.canParse(String(origin))
    ? new URL(String(origin))
    : { protocol: "", hostname: "" };
  return protocol === "http:" && hostname === rp;
}

const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest();
