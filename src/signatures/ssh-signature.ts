import { createHash, verify } from "node:crypto";
import type { Approver } from "../model/approvers.ts";
import { refused, type Verdict } from "../model/signature.ts";
import { SSH_NAMESPACE } from "../model/statement.ts";
import { readSshKey, type SshKey } from "./ssh-key.ts";
import { MalformedSignature, SshReader, sshString, strictBase64 } from "./ssh-wire.ts";

const MAGIC = "SSHSIG";
const HASHES = ["sha256", "sha512"];
const USER_PRESENT = 1;

const ARMOUR = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?$/;

/** What `ssh-keygen -Y sign` printed, as the one line that a record keeps. */
export function withoutArmour(printed: string): string {
  const base64 = ARMOUR.exec(printed.replaceAll("\r\n", "\n"))?.[1]?.replaceAll("\n", "");
  if (base64 === undefined) throw new MalformedSignature("ssh-keygen printed no signature");
  return base64;
}

/**
 * Checks a signature of `ssh-keygen -Y sign` (PROTOCOL.sshsig) over the digest of a statement. `ssh-keygen -Y verify`
 * accepts security keys that nobody touched; the flags in the signature are read here.
 */
export function verifySsh(signature: string, digest: Buffer, approvers: readonly Approver[]): Verdict {
  const reader = new SshReader(strictBase64(signature, "base64"));
  if (reader.raw(MAGIC.length).toString("latin1") !== MAGIC || reader.number() !== 1)
    return refused("malformed", "it is not a signature of ssh-keygen");
  const publicKey = reader.string();
  const namespace = reader.text();
  const reserved = reader.string();
  const hash = reader.text();
  const inner = reader.string();
  reader.end();
  if (namespace !== SSH_NAMESPACE) return refused("wrong_namespace", "it was made for another purpose");
  if (reserved.length > 0 || !HASHES.includes(hash)) return refused("malformed", "it has unknown parts");
  const owner = approvers.find((one) => one.kind === "ssh" && keyOf(one).blob.equals(publicKey));
  if (!owner) return refused("unknown_key", "its key is not one of the approvers'");
  const message = Buffer.concat([
    Buffer.from(MAGIC),
    ...[namespace, "", hash].map(sshString),
    sshString(createHash(hash).update(digest).digest()),
  ]);
  return verifyInner(keyOf(owner), new SshReader(inner), message, owner);
}

/** An audit checks thousands of signatures by the same few keys. */
const known = new WeakMap<Approver, SshKey>();

function keyOf(approver: Approver): SshKey {
  const key = known.get(approver) ?? readSshKey(approver.public);
  known.set(approver, key);
  return key;
}

function verifyInner(key: SshKey, inner: SshReader, message: Buffer, owner: Approver): Verdict {
  const type = inner.text();
  const blob = inner.string();
  if (!type.startsWith("sk-")) inner.end();
  const hash = hashFor(key.type, type);
  if (hash === undefined) return refused("malformed", `${type} is not a signature of a ${key.type} key`);
  const { signed, present } =
    key.application === undefined ? { signed: message, present: false } : touched(key, inner, message);
  if (!isMadeBy(hash, signed, key, signatureBytes(key.type, blob)))
    return refused("bad_signature", "it was not made by this key for this statement");
  if (key.application !== undefined && !present)
    return refused("not_present", "nobody touched the security key");
  return { ok: true, name: owner.name, key: owner.key, level: present ? "present" : "possession" };
}

/** The mathematics takes most of an audit's time, so that all processors do it, before anybody asks for the answers. */
const answers = new Map<string, boolean>();
let ahead: Promise<void>[] | undefined;

function isMadeBy(hash: string | null, signed: Buffer, key: SshKey, bytes: Buffer): boolean {
  const name = [hash, ...[key.blob, signed, bytes].map((one) => one.toString("base64"))].join(" ");
  const known = answers.get(name);
  if (known !== undefined) return known;
  if (!ahead) return verify(hash, signed, keyFor(key), bytes);
  ahead.push(
    new Promise((done) =>
      verify(hash, signed, keyFor(key), bytes, (error, good) => {
        // What cannot be checked ahead is refused with its reason when its turn comes.
        if (!error) answers.set(name, good);
        done();
      }),
    ),
  );
  return false;
}

/** Has what these calls of `verifySsh` ask computed at the same time; they are made once more for their verdicts. */
export async function computeAhead(calls: () => void): Promise<void> {
  ahead = [];
  calls();
  const all = ahead;
  ahead = undefined;
  await Promise.all(all);
}

/** A security key signs digests of the application and of the message, with its flags and counter in between. */
function touched({ application = "" }: SshKey, inner: SshReader, message: Buffer) {
  const state = inner.raw(5);
  inner.end();
  const digest = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest();
  return {
    signed: Buffer.concat([digest(application), state, digest(message)]),
    present: ((state[0] as number) & USER_PRESENT) !== 0,
  };
}

/** The digest that goes with a signature's type; undefined when a key of that type does not sign like this. */
function hashFor(keyType: string, type: string): string | null | undefined {
  if (keyType === "ssh-rsa") return { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" }[type];
  if (keyType !== type) return undefined;
  if (type.includes("ed25519")) return null;
  if (type.endsWith("nistp384")) return "sha384";
  return type.endsWith("nistp521") ? "sha512" : "sha256";
}

const keyFor = ({ key }: SshKey) =>
  key.asymmetricKeyType === "ec" ? { key, dsaEncoding: "ieee-p1363" as const } : key;

/** ECDSA: two numbers, brought to the curve's size; all others are bytes already. */
function signatureBytes(keyType: string, blob: Buffer): Buffer {
  if (!keyType.includes("ecdsa")) return blob;
  const size = keyType.endsWith("nistp384") ? 48 : keyType.endsWith("nistp521") ? 66 : 32;
  const reader = new SshReader(blob);
  const numbers = [reader.unsigned(), reader.unsigned()];
  reader.end();
  if (numbers.some((one) => one.length > size))
    throw new MalformedSignature("a number is too large for the curve");
  return Buffer.concat(numbers.map((one) => Buffer.concat([Buffer.alloc(size - one.length), one])));
}
