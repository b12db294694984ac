import { createPublicKey, type KeyObject } from "node:crypto";
import { MalformedSignature, SshReader, strictBase64 } from "./ssh-wire.ts";

/** A public key of ssh. Security keys (`sk-`) also name the application they were made for. */
export interface SshKey {
  type: string;
  blob: Buffer;
  key: KeyObject;
  application: string | undefined;
}

const LEAST_RSA_BITS = 2048;
const CURVES: Readonly<Record<string, string>> = { nistp256: "P-256", nistp384: "P-384", nistp521: "P-521" };

/** Reads a line such as `ssh-ed25519 AAAA… comment`. */
export function readSshKey(line: string): SshKey {
  const [type = "", base64 = ""] = line.trim().split(/\s+/);
  const blob = strictBase64(base64, "base64");
  const reader = new SshReader(blob);
  if (reader.text() !== type) throw new MalformedSignature("the key is not of the type it claims");
  const key = publicKey(type, reader);
  const application = type.startsWith("sk-") ? reader.text() : undefined;
  reader.end();
  if (application !== undefined && !application.startsWith("ssh:"))
    throw new MalformedSignature(`the key was made for ${application}, not for ssh`);
  return { type, blob, key, application };
}

function publicKey(type: string, reader: SshReader): KeyObject {
  switch (type) {
    case "ssh-ed25519":
    case "sk-ssh-ed25519@openssh.com":
      return jwk({ kty: "OKP", crv: "Ed25519", x: reader.string().toString("base64url") });
    case "ecdsa-sha2-nistp256":
    case "ecdsa-sha2-nistp384":
    case "ecdsa-sha2-nistp521":
    case "sk-ecdsa-sha2-nistp256@openssh.com":
      return ecdsaKey(reader);
    case "ssh-rsa":
      return rsaKey(reader);
    default:
      throw new MalformedSignature(`${type} keys cannot be used here`);
  }
}

function ecdsaKey(reader: SshReader): KeyObject {
  const crv = CURVES[reader.text()];
  const point = reader.string();
  const size = (point.length - 1) / 2;
  if (crv === undefined || point[0] !== 4) throw new MalformedSignature("the key's point cannot be read");
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
  return jwk({ kty: "EC", crv, x: x.toString("base64url"), y: y.toString("base64url") });
}

function rsaKey(reader: SshReader): KeyObject {
  const [e, n] = [reader.unsigned(), reader.unsigned()];
  const key = jwk({ kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") });
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_RSA_BITS)
    throw new MalformedSignature(`an RSA key needs at least ${LEAST_RSA_BITS} bits`);
  return key;
}

function jwk(key: Record<string, string>): KeyObject {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    throw new MalformedSignature("the key cannot be read");
  }
}
