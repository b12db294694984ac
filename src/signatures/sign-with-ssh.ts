import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Approver } from "../model/approvers.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { SSH_NAMESPACE } from "../model/statement.ts";
import { explainTemporary } from "../model/temporary.ts";
import type { Wish } from "../ports/signatures.ts";
import { withoutArmour } from "./ssh-signature.ts";

/**
 * Has `ssh-keygen` sign 32 bytes. It gets them in a file, because it asks for a passphrase on the terminal only while its
 * own input is one.
 */
export function signWithSsh(env: Environment, digest: Buffer, wish: Wish): string {
  const folder = makeFolder();
  try {
    const key = wish.keyFile === undefined ? findKey(env, wish.approvers, folder) : usable(wish.keyFile);
    if (key === undefined) throw noKey(wish.approvers);
    const message = join(folder, "statement");
    writeFileSync(message, digest);
    const args = ["-Y", "sign", "-q", "-n", SSH_NAMESPACE, "-f", key, message];
    const run = spawnSync("ssh-keygen", args, { env, stdio: ["inherit", "ignore", "inherit"] });
    if (run.error) throw notStarted(run.error);
    if (run.status !== 0 || !existsSync(`${message}.sig`)) throw notSigned(key);
    return withoutArmour(readFileSync(`${message}.sig`, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "pawl-sign-"));
  } catch (error) {
    throw explainTemporary(error, tmpdir());
  }
}

/** Whoever names the public half means the private one beside it; without one, ssh asks its agent. */
function usable(file: string): string {
  const own = file.replace(/\.pub$/, "");
  return existsSync(own) ? own : file;
}

/** The first of these whose private half is in the user's folder of keys, or in an ssh agent. */
function findKey(env: Environment, approvers: readonly Approver[], folder: string): string | undefined {
  const files = publicKeys(join(env.HOME ?? homedir(), ".ssh"));
  const held = env.SSH_AUTH_SOCK ? heldByAgent(env) : [];
  for (const { kind, public: line } of approvers) {
    if (kind !== "ssh") continue;
    const file = files.get(line);
    if (file !== undefined && usable(file) !== file) return usable(file);
    if (!held.includes(line)) continue;
    const copy = join(folder, "key.pub");
    writeFileSync(copy, `${line}\n`);
    return copy;
  }
  return undefined;
}

const withoutComment = (line: string) => line.trim().split(/\s+/).slice(0, 2).join(" ");

function publicKeys(folder: string): Map<string, string> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".pub")) : [];
  return new Map(
    names.map((name) => [withoutComment(readFileSync(join(folder, name), "utf8")), join(folder, name)]),
  );
}

function heldByAgent(env: Environment): string[] {
  const run = spawnSync("ssh-add", ["-L"], { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return run.status === 0 ? run.stdout.split("\n").map(withoutComment) : [];
}

function noKey(approvers: readonly Approver[]): Failure {
  const names = approvers.map((one) => `${one.key} (${one.name})`).join(", ");
  return new Failure(
    "refused",
    "no_key",
    `No key that may sign is on this machine. Enrolled: ${names || "none"}.`,
    {
      hint: "Pawl looks in ~/.ssh and in the ssh agent; name another file with --sign-with FILE. `pawl approver list` shows who may sign.",
      details: { keys: approvers.map((one) => one.key) },
    },
  );
}

function notStarted(cause: Error): Failure {
  return new Failure("unavailable", "no_ssh", `ssh-keygen could not be started: ${cause.message}`, {
    hint: "Install OpenSSH 8.2 or newer and make sure that it is on the PATH.",
    cause,
  });
}

function notSigned(key: string): Failure {
  return new Failure("refused", "not_signed", `ssh-keygen made no signature with ${key}.`, {
    hint: "Nothing was changed. It says why above: a wrong passphrase, a key that was not touched, or one that is not plugged in.",
    details: { key },
  });
}
