import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditIn } from "../helpers/audited-project.ts";
import { openProject } from "../helpers/command-line.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { copySigned, makeSigned, PLAIN_KEY, type SignedProject } from "../helpers/signed-project.ts";
import { makeKey, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Protected branches that were made after the guard came, where decisions are signed. */
const POLICY = 'profile: light\nprotected: [main, "release/*"]\napprovals: signed\nlevel: possession\n';
const NOTHING = "0".repeat(40);

let folder: string;
let project: SignedProject;
let bob: TestKey;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("later branches");
  project = await makeSigned(join(folder, "first"), POLICY);
  bob = makeKey(folder, "bob", PLAIN_KEY);
  await project.ready("one");
  await ok(project.types("T0001", "approve", "T1", "--finish"));
  await publish(project, "main");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copySigned(project, join(folder, `copy ${++copies}`));
const at = (it: SignedProject, name: string) => it.git("rev-parse", name);
const rootOf = (it: SignedProject) =>
  it.git("log", "--first-parent", "--format=%H", "--diff-filter=A", "main", "--", ".pawl/approvers.yaml");

async function publish(it: SignedProject, ...refspecs: string[]): Promise<void> {
  await ok(it.home.pawl("sync"));
  it.git("push", "-q", "--no-verify", "origin", ...refspecs);
}

/** What the server's hook is answered about one push: its exit code, and what is wrong. */
async function server(it: SignedProject, ref: string, fresh: string, old = NOTHING, ...argv: string[]) {
  const path = join(it.root, `server ${++copies}.git`);
  cpSync(it.remote, path, { recursive: true });
  gitIn(it, path, "fetch", "-q", it.home.path, `${fresh}:refs/arriving`);
  gitIn(it, path, "update-ref", "-d", "refs/arriving");
  writeFileSync(join(path, "updates"), `${old} ${fresh} refs/heads/${ref}\n`);
  const found = await auditIn(openProject({ path, env: it.env }), "--ci", "--updates", "updates", ...argv);
  return [found.code, ...found.findings, ...found.reasons];
}

/** What the hook of this clone says before the same push. */
async function hook(
  it: SignedProject,
  ref: string,
  fresh: string,
  old = NOTHING,
): Promise<string | undefined> {
  writeFileSync(join(it.home.path, ".git/updates"), `refs/heads/x ${fresh} refs/heads/${ref} ${old}\n`);
  const said = await it.home.pawl("hook", "pre-push", "--updates", ".git/updates", "--json");
  return said.json.error?.code;
}

describe("a protected branch that is made later", () => {
  test("may begin with what main has been at, and with nothing that main only merged", async () => {
    const it = fresh();
    for (const name of ["main", "main~1"]) {
      expect(await hook(it, "release/1", at(it, name)), name).toBeUndefined();
      expect(await server(it, "release/1", at(it, name)), name).toEqual([0]);
    }
    const side = at(it, "main^2");
    expect(await hook(it, "release/9", side)).toBe("protected_push");
    expect(await server(it, "release/9", side)).toEqual([1, "no_approval"]);
    expect(await server(it, "release/9", side, NOTHING, "--root", rootOf(it))).toEqual([1, "no_approval"]);
    it.git("branch", "release/1", "main");
    await publish(it, "release/1", `${side}:refs/heads/release/9`);
    const ci = await it.ci();
    expect([ci.code, ...ci.reasons]).toEqual([1, "no_approval"]);
  });

  test("opens no way to main: only main's own records say how it goes on", async () => {
    const it = fresh();
    const evil = it.git("commit-tree", "-p", "main", "-m", "evil", "main^{tree}");
    await publish(it, `${evil}:refs/heads/release/9`);
    expect(await server(it, "main", evil, at(it, "main"))).toEqual([1, "no_approval"]);
  });

  test("gets what was approved for it published, and CI and a pinned root explain all of it", async () => {
    const it = fresh();
    it.git("branch", "release/1", "main");
    await publish(it, "release/1");
    const made = at(it, "release/1");
    await it.readyOn("release/1", "two");
    await ok(it.types("T0002", "approve", "T2"));
    const merged = at(it, "release/1");
    expect(await hook(it, "release/1", merged, made)).toBeUndefined();
    // As its first push, too: what is below was main's.
    expect(await hook(it, "release/1", merged)).toBeUndefined();
    await ok(it.home.pawl("sync"));
    expect(await server(it, "release/1", merged, made)).toEqual([0]);
    expect(await server(it, "release/1", merged)).toEqual([0]);
    // A branch from there begins with what the records of that one explain.
    it.git("branch", "release/1.1", "release/1");
    expect(await hook(it, "release/1.1", merged)).toBeUndefined();
    await publish(it, "release/1", "release/1.1");
    for (const argv of [[], ["--root", rootOf(it)]]) {
      const ci = await it.ci(...argv);
      expect([ci.code, ci.findings, ci.reasons], argv.join()).toEqual([0, [], []]);
      expect(ci.counts).toMatchObject({ approved: 2, unexplained: 0 });
    }
    expect((await it.audit()).code).toBe(0);
  });

  test("is not moved to what main has by anything but a decision about itself", async () => {
    const it = fresh();
    it.git("branch", "release/1", "main~1");
    await publish(it, "release/1");
    const [made, main] = [at(it, "release/1"), at(it, "main")];
    expect(await hook(it, "release/1", main, made)).toBe("protected_push");
    expect(await server(it, "release/1", main, made)).toEqual([1, "no_approval"]);
    // Somebody gets it there all the same: the clone that has the branch tells, and CI does once a record was about it.
    it.git("push", "-q", "--no-verify", "origin", "main:release/1");
    const told = await it.audit();
    expect([told.code, told.counts.unapproved]).toEqual([1, 1]);
    it.git("push", "-q", "--no-verify", "-f", "origin", `${made}:release/1`);
    it.git("fetch", "-q");
    await it.readyOn("release/1", "two");
    await ok(it.types("T0002", "approve", "T2"));
    it.git("switch", "-q", "--detach", "main");
    it.git("merge", "-q", "--no-ff", "-m", "main first", "release/1");
    await publish(it, "main", "HEAD:release/1");
    const ci = await it.ci();
    expect([ci.code, ...ci.reasons]).toEqual([1, "no_approval", "no_approval"]);
  });
});

describe("a key that was removed", () => {
  const add = (it: SignedProject) =>
    ok(it.types("bob", "approver", "add", "--name", "Bob", "--as", "bob", "--ssh", `${bob.file}.pub`));
  const remove = (it: SignedProject, ...argv: string[]) =>
    ok(it.types("bob", "approver", "remove", "bob", ...argv));

  test("decides nothing on a branch that is made where main still had it", async () => {
    const it = fresh();
    await add(it);
    const listed = at(it, "main");
    await remove(it);
    await publish(it, "main");
    expect(await hook(it, "release/9", listed)).toBe("removed_key");
    expect(await server(it, "release/9", listed)).toEqual([1, "removed_key"]);
    it.git("branch", "release/9", listed);
    await it.readyOn("release/9", "evil");
    await ok(it.types("T0002", "approve", "T2", "--sign-with", bob.file));
    await publish(it, "release/9");
    const ci = await it.ci();
    expect([ci.code, ci.findings, ci.reasons]).toEqual([1, ["removed_key"], ["not_signed"]]);
    const branch = ci.result.json.data.audit.branches.find(({ ref = "" }) => ref.endsWith("release/9"));
    expect(branch.commits[0].message).toContain("main has removed the key bob");
    // Taking it out afterwards makes nothing good that it signed meanwhile, whoever does it.
    await remove(it, "--sign-with", bob.file);
    await publish(it, "release/9");
    expect((await it.ci()).reasons).toEqual(["not_signed", "not_signed"]);
  });

  test("keeps what it approved before, where the removal landed on all branches together", async () => {
    const it = fresh();
    await add(it);
    it.git("branch", "release/1", "main");
    await it.readyOn("release/1", "two");
    await ok(it.types("T0002", "approve", "T2", "--sign-with", bob.file));
    await publish(it, "main", "release/1", "release/1:release/2");
    it.git("fetch", "-q");
    expect((await it.types("no", "approver", "remove", "bob")).err).toContain(
      "git branch release/2 origin/release/2",
    );
    it.git("push", "-q", "--no-verify", "origin", ":release/2");
    const removed = await remove(it);
    expect(removed.err).not.toContain("git branch");
    await publish(it, "main", "release/1");
    const ci = await it.ci();
    expect([ci.code, ci.findings, ci.reasons]).toEqual([0, [], []]);
  });
});
