import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Result } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { ok } from "../helpers/ready-task.ts";
import {
  keyFolder,
  makeSigned,
  PLAIN_KEY,
  publish,
  type SignedProject,
  TOUCH_KEY,
} from "../helpers/signed-project.ts";
import { hasAuthenticator, makeKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let folder: string;
beforeAll(() => {
  folder = makeTemporaryFolder("signed keys");
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const codeOf = (result: Result) => result.json.error?.code;

describe.runIf(hasAuthenticator())("with security keys and the policy's own level", () => {
  let it: SignedProject;
  beforeAll(async () => {
    it = await makeSigned(join(folder, "touch"), "profile: light\napprovals: signed\n", TOUCH_KEY);
    await it.ready("one");
  }, 120_000);

  test("the list says whose they are, how good, and since when", async () => {
    const { out } = await it.home.pawl("approver", "list");
    expect(out).toMatch(
      /^main: approvals are signed \(level present\)\n {2}ada {2}"Ada" {2}ssh {2}present\n/,
    );
    expect(out).toMatch(/root [0-9a-f]{12}, U0002 by human:Ada: signed by Ada with ada \(present\)/);
  });

  test("one that nobody has to touch signs nothing, although ssh-keygen calls its signatures good", async () => {
    const lazy = makeKey(folder, "lazy", [...TOUCH_KEY, "-O", "no-touch-required"]);
    const first = makeSigned(join(folder, "lazy first"), "", [...TOUCH_KEY, "-O", "no-touch-required"]);
    await expect(first).rejects.toThrow(/nobody touched the security key/);
    await ok(it.types("lazy", "approver", "add", "--name", "Ada", "--as", "lazy", "--ssh", lazy.file));
  });

  test("a plain key may be enrolled, and is not enough", async () => {
    const plain = makeKey(folder, "plain", PLAIN_KEY);
    const add = ["approver", "add", "--name", "Ada", "--as", "plain", "--ssh", `${plain.file}.pub`];
    await ok(it.types("plain", ...add));
    expect(codeOf(await it.types("plain", ...add))).toBe("already_enrolled");
    await ok(it.home.pawl("refresh", "T1"));
    await ok(
      it.home.pawlIn(join(it.home.path, ".worktrees/T0001-one"), {}, "verify", "--", "test", "-d", "."),
    );
    await ok(it.home.pawl("snapshot", "T1"));
    await ok(it.home.pawl("check", "T1", "--stage", "close"));
    const refused = await it.types("T0001", "approve", "T1", "--sign-with", plain.file);
    expect(refused.json.error).toMatchObject({ code: "bad_signature", details: { why: "level_too_low" } });
    // Its type promises a touch; what it signs says that there was none.
    const untouched = await it.types("T0001", "approve", "T1", "--sign-with", join(folder, "lazy"));
    expect(untouched.json.error).toMatchObject({ code: "bad_signature", details: { why: "not_present" } });
    const byPlain = await it.types("ada", "approver", "remove", "ada", "--sign-with", plain.file);
    expect(byPlain.json.error).toMatchObject({ code: "bad_signature", details: { why: "level_too_low" } });
  });

  test("a touch approves, and CI believes it", async () => {
    const done = await it.types("T0001", "approve", "T1");
    expect(done.json.error ?? done.json.data.approval.how).toBe("signed by Ada with ada (present)");
    await publish(it);
    const ci = await it.ci();
    expect(ci.result.json.data.audit).toMatchObject({ clean: true });
    expect(ci.counts).toMatchObject({ approved: 1, unlocked: 4, unexplained: 0 });
  });

  test("neither the last key goes, nor the last that the policy accepts", async () => {
    await ok(it.types("lazy", "approver", "remove", "lazy"));
    expect(codeOf(await it.types("ada", "approver", "remove", "ada"))).toBe("last_key");
    await ok(it.types("plain", "approver", "remove", "plain"));
    expect(codeOf(await it.types("ada", "approver", "remove", "ada"))).toBe("last_key");
    expect(codeOf(await it.types("eve", "approver", "remove", "eve"))).toBe("no_approver");
    await publish(it);
    expect((await it.ci()).result.json.data.audit.clean).toBe(true);
  });
});

test("a key with a passphrase: ssh asks for it on the terminal, after the task's id", async () => {
  const program = await bundlePawl(folder);
  const it = await makeSigned(join(folder, "phrase"), "approvals: signed\nlevel: possession\n");
  const locked = makeKey(keyFolder(it.root), "locked", PLAIN_KEY, "a secret phrase");
  await ok(it.types("locked", "approver", "add", "--name", "Bob", "--as", "locked", "--ssh", locked.file));
  await it.ready("one");
  const approve = (phrase: string) =>
    onTerminal(program, it.home, ["approve", "T1", "--sign-with", locked.file], "T0001", () => {}, phrase);
  const wrong = await approve("another phrase");
  expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining("ssh-keygen made no signature")]);
  const right = await approve("a secret phrase");
  expect([right.code, right.out]).toEqual([0, expect.stringContaining("merged: one")]);
  expect((await it.home.pawl("task", "show", "T1")).out).toContain("signed by Bob with locked (possession)");
}, 120_000);
