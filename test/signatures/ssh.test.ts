import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Level } from "../../src/model/approvers.ts";
import type { Statement } from "../../src/model/statement.ts";
import { digestOf, verifySignature } from "../../src/signatures/verify.ts";
import { AUTHENTICATOR, hasAuthenticator, makeKey, sign, type TestKey } from "../helpers/ssh-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl ssh-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sha = (digit: string) => digit.repeat(40);
const statement: Statement = {
  kind: "approval",
  record: "5a3f",
  receipt: "1".repeat(64),
  repos: [
    {
      id: "r-1",
      ref: "refs/heads/main",
      style: "merge",
      old: sha("a"),
      head: sha("b"),
      tree: sha("c"),
      new: sha("d"),
    },
  ],
};
const digest = digestOf(statement);
const check = (ssh: string, key: TestKey, wanted: Level = "possession", about: Statement = statement) =>
  verifySignature(about, { ssh }, [key.approver], wanted);

const SOFTWARE: Record<string, string[]> = {
  ed25519: ["-t", "ed25519"],
  "ecdsa-256": ["-t", "ecdsa", "-b", "256"],
  "ecdsa-384": ["-t", "ecdsa", "-b", "384"],
  "ecdsa-521": ["-t", "ecdsa", "-b", "521"],
  rsa: ["-t", "rsa", "-b", "2048"],
};
const SECURITY: Record<string, string[]> = {
  "ed25519-sk": ["-t", "ed25519-sk", "-w", AUTHENTICATOR],
  "ecdsa-sk": ["-t", "ecdsa-sk", "-w", AUTHENTICATOR],
};

const withAuthenticator = describe.runIf(hasAuthenticator());

describe.each(Object.entries(SOFTWARE))("a plain %s key", (name, options) => {
  const key = makeKey(folder, name, options);
  const signature = sign(key, digest);

  test("proves possession, and no more", () => {
    expect(check(signature, key)).toEqual({ ok: true, name: "Ada", key: name, level: "possession" });
    expect(check(signature, key, "present")).toMatchObject({ ok: false, code: "level_too_low" });
  });

  test("no byte of the signature can be another", () => expectEveryByteToMatter(signature, key));
});

withAuthenticator.each(Object.entries(SECURITY))("a security key, %s", (name, options) => {
  const key = makeKey(folder, name, options);
  const signature = sign(key, digest);

  test("that was touched proves that somebody was there", () => {
    expect(check(signature, key, "present")).toEqual({ ok: true, name: "Ada", key: name, level: "present" });
  });

  test("no byte of the signature can be another", () => expectEveryByteToMatter(signature, key));

  test("made without touch is refused, although ssh-keygen itself says that the signature is good", () => {
    const lazy = makeKey(folder, `${name}-lazy`, [...options, "-O", "no-touch-required"]);
    const untouched = sign(lazy, digest);
    expect(sshKeygenAccepts(lazy, untouched)).toBe(true);
    expect(check(untouched, lazy)).toMatchObject({ ok: false, code: "not_present" });
  });
});

describe("a signature", () => {
  const key = makeKey(folder, "ada", SOFTWARE.ed25519 as string[]);
  const other = makeKey(folder, "eve", SOFTWARE.ed25519 as string[]);
  const signature = sign(key, digest);

  test("counts for one statement: whatever is changed in it, it is another one", () => {
    const [repo] = statement.repos;
    if (statement.kind !== "approval" || !repo) throw new Error("not the statement that is meant");
    const others: Statement[] = [
      { ...statement, record: "5a40" },
      { ...statement, receipt: "2".repeat(64) },
      ...(["id", "ref", "old", "head", "tree", "new"] as const).map((field) => ({
        ...statement,
        repos: [{ ...repo, [field]: sha("e") }] as typeof statement.repos,
      })),
      { ...statement, repos: [{ ...repo, style: "squash" } as (typeof statement.repos)[number]] },
      { ...statement, repos: [] },
      { ...statement, repos: [...statement.repos, ...statement.repos] },
    ];
    for (const about of others)
      expect(check(signature, key, "possession", about)).toMatchObject({ ok: false, code: "bad_signature" });
  });

  test("of somebody who is not an approver, or for another purpose, counts for nothing", () => {
    expect(check(sign(other, digest), key)).toMatchObject({ ok: false, code: "unknown_key" });
    expect(check(sign(key, digest, { namespace: "git" }), key)).toMatchObject({ code: "wrong_namespace" });
    expect(check(sign(key, Buffer.from("anything")), key)).toMatchObject({ code: "bad_signature" });
  });

  test("with another's key inside is not this one's", () => {
    const bytes = Buffer.from(sign(other, digest), "base64");
    const blob = Buffer.from(key.approver.public.split(" ")[1] ?? "", "base64");
    blob.copy(bytes, 14);
    expect(check(bytes.toString("base64"), key)).toMatchObject({ ok: false, code: "bad_signature" });
  });

  test("that is cut off, has something after it, or is not base64 is refused", () => {
    const bytes = Buffer.from(signature, "base64");
    const odd = [
      ...Array.from(bytes, (_, length) => bytes.subarray(0, length).toString("base64")),
      Buffer.concat([bytes, Buffer.from([0])]).toString("base64"),
      `${signature} `,
      `${signature}====`,
      signature.replace(/^./, "-"),
    ];
    for (const one of odd) expect(check(one, key), one).toMatchObject({ ok: false, code: "malformed" });
  });

  test("comes from a key with a passphrase, which ssh itself asks for, and from an agent", () => {
    const locked = makeKey(folder, "locked", SOFTWARE.ed25519 as string[], "a secret phrase");
    const answering = join(folder, "askpass");
    writeFileSync(answering, "#!/bin/sh\necho 'a secret phrase'\n");
    chmodSync(answering, 0o755);
    const asked = { SSH_ASKPASS: answering, SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":0" };
    expect(check(sign(locked, digest, { variables: asked }), locked)).toMatchObject({ ok: true });
    expect(() => sign(locked, digest, { variables: { ...asked, SSH_ASKPASS: "false" } })).toThrow();
    const agent = execFileSync("ssh-agent", ["-s"], { encoding: "utf8" });
    const socket = /SSH_AUTH_SOCK=([^;]+)/.exec(agent)?.[1] ?? "";
    try {
      execFileSync("ssh-add", ["-q", locked.file], {
        env: { ...process.env, ...asked, SSH_AUTH_SOCK: socket },
        stdio: "pipe",
      });
      const public_ = { ...locked, file: `${locked.file}.pub` };
      expect(check(sign(public_, digest, { variables: { SSH_AUTH_SOCK: socket } }), locked).ok).toBe(true);
    } finally {
      process.kill(Number(/SSH_AGENT_PID=(\d+)/.exec(agent)?.[1]));
    }
  });
});

/** Flips every bit's byte once, in the bytes and in the text that stands for them. */
function expectEveryByteToMatter(signature: string, key: TestKey): void {
  const bytes = Buffer.from(signature, "base64");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    expect(check(changed.toString("base64"), key).ok, `byte ${at}`).toBe(false);
  }
  for (let at = 0; at < signature.length; at++) {
    const text = `${signature.slice(0, at)}${signature[at] === "A" ? "B" : "A"}${signature.slice(at + 1)}`;
    expect(check(text, key).ok, `character ${at}`).toBe(false);
  }
}

function sshKeygenAccepts(key: TestKey, signature: string): boolean {
  const [signers, file] = [join(folder, "signers"), join(folder, "lazy.sig")];
  writeFileSync(signers, `ada ${key.approver.public}\n`);
  const lines = signature.match(/.{1,70}/g)?.join("\n");
  writeFileSync(file, `-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----\n`);
  const args = ["-Y", "verify", "-f", signers, "-I", "ada", "-n", "pawl-statement", "-s", file];
  return spawnSync("ssh-keygen", args, { input: digest }).status === 0;
}
