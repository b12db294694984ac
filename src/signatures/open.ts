import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { Signatures } from "../ports/signatures.ts";
import { readPasskey } from "./passkey.ts";
import { signWithSsh } from "./sign-with-ssh.ts";
import { readSshKey } from "./ssh-key.ts";
import { MalformedSignature } from "./ssh-wire.ts";
import { checkAhead, digestOf, verifySignature } from "./verify.ts";

export function openSignatures(env: Environment): Signatures {
  return {
    sign: async (wish) => ({ ssh: signWithSsh(env, digestOf(wish.statement), wish) }),
    check: verifySignature,
    checkAhead,
    demanded: false,
    fromPage: false,
    readKey,
    readPasskey,
    newId: () => randomBytes(16).toString("hex"),
  };
}

/** Whoever names the private key means the public one beside it. */
function readKey(file: string): ReturnType<Signatures["readKey"]> {
  const path = !file.endsWith(".pub") && existsSync(`${file}.pub`) ? `${file}.pub` : file;
  const refuse = (why: string, cause: unknown) =>
    new Failure("usage", "bad_key", `${path} ${why}.`, {
      hint: "Name the file of a public key, such as ~/.ssh/id_ed25519_sk.pub. To create one: ssh-keygen -t ed25519-sk",
      details: { field: "ssh", file: path },
      cause,
    });
  let line: string;
  try {
    line = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
  try {
    const { application } = readSshKey(line);
    const level = application === undefined ? "possession" : "present";
    return { public: line.split(/\s+/).slice(0, 2).join(" "), level };
  } catch (error) {
    if (!(error instanceof MalformedSignature)) throw error;
    throw refuse(`is not a public key that pawl can enrol: ${error.message}`, error);
  }
}
