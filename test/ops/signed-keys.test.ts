import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProject, type Result } from "../helpers/command-line.ts";
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

describe.runIf(hasAuthenticator())(
  "with security keys and the policy's own level",
  { tags: ["proof"] },
  () => {
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
      expect(out).toMatch(/root [0-9a-f]{40}, U0002 by human:Ada: signed by Ada with ada \(present\)/);
    });

    test("one that nobody has to touch signs nothing, although ssh-keygen calls its signatures good", async () => {
      const lazy = makeKey(folder, "lazy", [...TOUCH_KEY, "-O", "no-touch-required"]);
      const first = makeSigned(join(folder, "lazy first"), "", [...TOUCH_KEY, "-O", "no-touch-required"]);
      await expect(first).rejects.toThrow(/nobody touched the security key/);
      const add = (as: string, file: string) =>
        it.types(as, "approver", "add", "--name", "Ada", "--as", as, "--ssh", file);
      // It is tried when it is enrolled, if it is here; where it is not, that is said.
      const here = makeKey(keyFolder(it.root), "idle", [...TOUCH_KEY, "-O", "no-touch-required"]);
      expect((await add("idle", here.file)).json.error).toMatchObject({ details: { why: "not_present" } });
      rmSync(here.file);
      const added = await ok(add("lazy", lazy.file));
      expect(added.json.warnings.join()).toContain("nobody has seen it ask for a touch");
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
  },
);

test("a key with a passphrase: ssh asks for it on the terminal, after the task's id", {
  tags: ["proof"],
  timeout: 120_000,
}, async () => {
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
});

describe("a policy that none of the enrolled keys could sign for", { tags: ["proof"] }, () => {
  const SIGNED = "profile: light\nchecks: none\napprovals: signed\n";

  test("is told by check and refused by approve, before anything is run or asked", async () => {
    const it = await makeSigned(join(folder, "too strict"), "profile: light\nchecks: none\n");
    const at = await it.ready("policy", "policy.txt");
    const policy = "profile: light\nchecks:\n  test: touch ran\napprovals: signed\n";
    const change = (text: string) => {
      const tree = openProject({ ...it.home, path: at });
      tree.write(".pawl/config.yaml", text);
      tree.git("add", "-f", ".pawl/config.yaml");
      tree.git("commit", "-q", "-m", "Sign approvals");
    };
    change(policy);
    const told = await it.home.pawl("check", "T1", "--json");
    const reason = told.json.data.check.reasons.find(
      (one: { code: string }) => one.code === "nobody_could_sign",
    );
    expect(reason).toMatchObject({ owner: "human", command: expect.stringContaining("pawl approver add") });
    expect(reason.message).toMatch(/"present".*ada has possession.*`level: possession`/);
    const refused = await it.types("T0001", "approve", "T1");
    expect(codeOf(refused)).toBe("nobody_could_sign");
    expect(existsSync(join(at, "ran"))).toBe(false);
    change(`${SIGNED}level: possession\n`);
    await ok(it.types("T0001", "approve", "T1"));
  }, 60_000);

  test("where it is in force already, doctor says so, and a plain key gets out by starting over", async () => {
    const it = await makeSigned(join(folder, "locked out"), SIGNED);
    await ok(it.home.pawl("install", "--yes", "--profile", "hooks"));
    const reasons = (await it.home.pawl("doctor", "--json")).json.data.doctor.diagnoses;
    expect(reasons).toContainEqual(
      expect.objectContaining({ code: "nobody_could_sign", level: "problem", where: "main" }),
    );
    const refused = await it.types("main", "unlock", "main", "--for", "1m");
    expect(refused.json.error).toMatchObject({
      code: "no_signer",
      hint: expect.stringMatching(/pawl approver add[\s\S]*"Nobody can sign"/),
    });
    await ok(
      it.types(
        "again",
        "approver",
        "add",
        "--name",
        "Ada",
        "--as",
        "again",
        "--ssh",
        `${it.ada.file}.pub`,
        "--lost",
      ),
    );
    expect(it.git("show", "main:.pawl/config.yaml")).toBe(`${SIGNED}level: possession`);
    await ok(it.types("main", "unlock", "main", "--for", "1m"));
    await ok(it.types("main", "unlock", "main", "--end"));
    const root = it.git("rev-parse", "main");
    await ok(it.home.pawl("sync", "--yes"));
    it.git("push", "-q", "--no-verify", "origin", "main");
    expect((await it.ci()).reasons).toEqual(["not_signed"]);
    expect((await it.ci("--root", root)).code).toBe(0);
  }, 60_000);

  test.runIf(hasAuthenticator())(
    "or a key that fits is enrolled with one that does not, and audits stay content",
    async () => {
      const it = await makeSigned(join(folder, "fits"), SIGNED);
      const touch = makeKey(keyFolder(it.root), "touch", TOUCH_KEY);
      await ok(it.types("touch", "approver", "add", "--name", "Ada", "--as", "touch", "--ssh", touch.file));
      await publish(it);
      expect((await it.ci()).code).toBe(0);
      await it.ready("one");
      await ok(it.types("T0001", "approve", "T1"));
    },
    60_000,
  );
});
