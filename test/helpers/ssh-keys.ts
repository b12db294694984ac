import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Approver } from "../../src/model/approvers.ts";
import { SSH_NAMESPACE } from "../../src/model/statement.ts";
import { withoutArmour } from "../../src/signatures/ssh-signature.ts";

/** A security key without hardware, from OpenSSH's own tests: it signs what it is asked to, and says whether touch was demanded. */
export const AUTHENTICATOR = "/usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so";

/** Where it is missing, CI fails and everybody else is told. */
export const hasAuthenticator = () => process.env.CI === "true" || existsSync(AUTHENTICATOR);

const env = { ...process.env, SSH_SK_PROVIDER: AUTHENTICATOR, SSH_AUTH_SOCK: "" };

export interface TestKey {
  file: string;
  approver: Approver;
}

/** Makes a key with the real ssh-keygen; `options` are its own, such as `-t`, `ed25519`. */
export function makeKey(folder: string, name: string, options: readonly string[], passphrase = ""): TestKey {
  const file = join(folder, name);
  execFileSync("ssh-keygen", ["-q", ...options, "-N", passphrase, "-C", "", "-f", file], {
    env,
    stdio: "pipe",
  });
  const [type = "", base64 = ""] = readFileSync(`${file}.pub`, "utf8").split(" ");
  const level = type.startsWith("sk-") ? "present" : "possession";
  const approver = {
    name: "Ada",
    key: name,
    kind: "ssh",
    public: `${type} ${base64.trim()}`,
    level,
  } as const;
  return { file, approver: { ...approver, id: undefined, alg: undefined, rp: undefined } };
}

/** Signs as a person would on a terminal, and gives what a record keeps. */
export function sign(
  key: TestKey,
  message: Buffer,
  {
    namespace = SSH_NAMESPACE,
    variables = {},
  }: { namespace?: string; variables?: Record<string, string> } = {},
): string {
  const file = `${key.file}.message`;
  writeFileSync(file, message);
  rmSync(`${file}.sig`, { force: true });
  execFileSync("ssh-keygen", ["-q", "-Y", "sign", "-n", namespace, "-f", key.file, file], {
    env: { ...env, ...variables },
    stdio: "pipe",
  });
  return withoutArmour(readFileSync(`${file}.sig`, "utf8"));
}
