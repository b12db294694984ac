// @module-tag proof
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findRecord } from "../../src/flows/audit/baseline.ts";
import { newUnlock } from "../../src/flows/audit/open-unlock.ts";
import { change } from "../../src/judge/change.ts";
import { type RepositoryRecord, repository } from "../../src/model/records/run.ts";
import { observeSteps } from "../../src/model/steps.ts";
import { type Audit, auditIn, guardFromHere, handsOf } from "../helpers/audited-project.ts";
import { openProject } from "../helpers/command-line.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import {
  copySigned,
  makePublished,
  makeSigned,
  PLAIN_KEY,
  type SignedProject,
} from "../helpers/signed-project.ts";
import { makeKey, type TestKey } from "../helpers/ssh-keys.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Protected branches that were made after the guard came, where decisions are signed. */
const POLICY = 'profile: light\nprotected: [main, "release/*"]\napprovals: signed\nlevel: possession\n';
const NOTHING = "0".repeat(40);
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

type Baselines = RepositoryRecord["baseline"];

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
  await ok(it.home.pawl("sync", "--yes"));
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
  test("may begin with what main has been at, and with nothing that main only merged", {
    tags: ["proof"],
  }, async () => {
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

  test("opens no way to main: only main's own records explain its moves", async () => {
    const it = fresh();
    const evil = it.git("commit-tree", "-p", "main", "-m", "evil", "main^{tree}");
    await publish(it, `${evil}:refs/heads/release/9`);
    expect(await server(it, "main", evil, at(it, "main"))).toEqual([1, "no_approval"]);
  });

  test("gets what was approved for it published, and CI and a pinned root explain all of it", {
    tags: ["proof"],
  }, async () => {
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
    await ok(it.home.pawl("sync", "--yes"));
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

  test("is not moved to what main has by anything but a decision about itself", {
    tags: ["proof"],
  }, async () => {
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

  test("keeps what it approved before, where the removal landed on all branches together", {
    tags: ["proof"],
  }, async () => {
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

describe("a protected branch made where main was not signed yet", () => {
  const terminal = POLICY.replace("approvals: signed\n", "");

  const enrol = (it: SignedProject) =>
    ok(it.types("ada", "approver", "add", "--name", "Ada", "--ssh", `${it.ada.file}.pub`));

  async function signFromHereOn(it: SignedProject): Promise<void> {
    it.home.commit(".pawl/config.yaml", POLICY);
    await ok(it.types("main", "unlock", "main", "--accept"));
  }

  test("asks for main's keys all the same, and a human accepts with one what it has", async () => {
    const it = await makePublished(join(folder, "before"), terminal);
    await enrol(it);
    const begin = at(it, "main");
    // What is approved before main is signed leaves what somebody would forge afterwards; nothing tells the two apart.
    it.git("branch", "release/9", begin);
    await it.readyOn("release/9", "evil");
    await ok(it.types("T0001", "approve", "T1"));
    await signFromHereOn(it);
    await publish(it, "main", "release/9");
    const ci = await it.ci();
    expect([ci.code, ci.reasons]).toEqual([1, ["not_signed"]]);
    expect(await server(it, "release/9", at(it, "release/9"), begin)).toEqual([1, "not_signed"]);
    expect((await it.audit()).reasons).toEqual(["not_signed"]);
    const accepted = await ok(it.types("release/9", "unlock", "release/9", "--accept"));
    expect(accepted.err).toContain("Sign what the branch has now.");
    // From now on it asks for them by itself.
    await it.readyOn("release/9", "next");
    const approved = await ok(it.types("T0002", "approve", "T2"));
    expect(approved.err).toContain("Sign the approval.");
    await publish(it, "release/9");
    expect((await it.ci()).counts).toMatchObject({ approved: 1, unexplained: 0 });
    expect((await it.audit()).code).toBe(0);
  });

  test("is opened by main's keys, and an unlock that nobody signed is told where it stands open", async () => {
    const it = await makePublished(join(folder, "opened"), terminal);
    await enrol(it);
    it.git("branch", "release/9");
    const tip = at(it, "release/9");
    await signFromHereOn(it);
    const opened = await ok(it.types("release/9", "unlock", "release/9", "--for", "10m"));
    expect(opened.err).toContain("Sign the opening of the branch.");
    expect((await it.audit("--offline")).findings).toEqual([]);
    await ok(it.types("release/9", "unlock", "release/9", "--end"));
    // What somebody with a changed pawl writes: record, event and grant, and no signature.
    const forge = async (branch: string, from: string | undefined) => {
      const [ref, seconds] = [`refs/heads/${branch}`, Math.floor(Date.now() / 1000) + 600];
      const until = new Date(seconds * 1000).toISOString();
      const opening = { ref, tip: from, until, reason: "", repo: "shop" };
      const { data } = await handsOf(it.home).record((reader, now) => newUnlock(reader, now, opening));
      const grant = join(it.home.path, ".git/pawl/grants/unlock", ref);
      mkdirSync(dirname(grant), { recursive: true });
      writeFileSync(grant, `${seconds} ${data.unlock.id}\n`);
    };
    await forge("release/9", tip);
    expect((await it.audit("--offline")).findings).toEqual(["forged_unlock"]);
    await forge("main", undefined);
    expect((await it.audit("--offline")).findings).toEqual(["forged_unlock", "forged_unlock"]);
  });

  test("needs nothing new where the first key came to both at once", async () => {
    const it = await makePublished(join(folder, "together"), terminal);
    // One that was there before pawl, with history of its own.
    it.git("branch", "release/0", it.git("commit-tree", "-p", "main~1", "-m", "old", "main^{tree}"));
    await guardFromHere(it.home, true, "shop", false, "release/0");
    it.git("branch", "release/1", "main");
    await it.readyOn("release/1", "one");
    await ok(it.types("T0001", "approve", "T1"));
    await enrol(it);
    await signFromHereOn(it);
    await publish(it, "main", "release/1", "release/0");
    const ci = await it.ci();
    expect([ci.code, ci.findings, ci.reasons]).toEqual([0, [], []]);
    expect((await it.audit()).code).toBe(0);
  });

  /** Record and event are as pawl would write them, and on a host that lets anybody force it, their history is gone. */
  async function rewriteBaselines(it: SignedProject, rewrite: (known: Baselines, now: string) => Baselines) {
    await handsOf(it.home).record((reader, { now, ...at }) => {
      const stored = findRecord(reader, { name: "shop", home: true });
      if (!stored) throw new Error("there is no record");
      const baseline = rewrite(stored.value.baseline, now);
      const { effect } = change(repository, stored, { baseline }, { now, ...at }, "baseline");
      return { data: undefined, effects: [effect] };
    });
    return () => {
      const state = "refs/heads/pawl/state";
      const alone = gitIn(it, it.remote, "commit-tree", "-m", "State", `${state}^{tree}`);
      gitIn(it, it.remote, "update-ref", state, alone);
    };
  }

  test("is not made an older one by a baseline that somebody writes for it", async () => {
    const it = fresh();
    const evil = it.git("commit-tree", "-p", `${rootOf(it)}~2`, "-m", "evil", EMPTY_TREE);
    const force = await rewriteBaselines(it, (known, now) => [
      ...known,
      { ref: "refs/heads/release/9", commit: evil, at: now, clone: undefined },
    ]);
    await publish(it, `${evil}:refs/heads/release/9`);
    const ci = await it.ci();
    expect([ci.code, ci.reasons]).toEqual([1, ["no_approval"]]);
    force();
    for (const argv of [[], ["--root", rootOf(it)]]) {
      const forced = await it.ci(...argv);
      expect([forced.code, forced.reasons], argv.join()).toEqual([1, ["no_approval"]]);
    }
  });

  test("does not begin with a key of its own where somebody took every baseline away", async () => {
    const it = fresh();
    const listed = it.git("show", "main:.pawl/approvers.yaml");
    it.git("switch", "-q", "--orphan", "evil");
    it.home.write(".pawl/approvers.yaml", `${listed.replace(it.ada.approver.public, bob.approver.public)}\n`);
    it.home.write(".pawl/config.yaml", POLICY);
    it.git("add", "-f", ".pawl");
    it.git("commit", "-qm", "Our own key");
    it.git("branch", "-m", "release/9");
    it.git("switch", "-q", "main");
    const force = await rewriteBaselines(it, () => []);
    await publish(it, "release/9");
    const wrong = ({ code, reasons }: Audit) => [code, reasons];
    expect(wrong(await it.audit("--offline"))).toEqual([1, ["pushed_directly"]]);
    expect(wrong(await it.ci())).toEqual([1, ["no_approval"]]);
    force();
    expect(wrong(await it.ci())).toEqual([1, ["no_approval"]]);
  });
});

/** A later branch, and a new key on both without a signature, because nobody has the old one. */
async function loseKeys(it: SignedProject, begins: string) {
  it.git("branch", "release/1", begins);
  await publish(it, "release/1");
  rmSync(join(it.root, ".ssh"), { recursive: true });
  const add = ["approver", "add", "--name", "Ada", "--as", "again", "--ssh", `${bob.file}.pub`, "--lost"];
  const { json } = await ok(it.types("again", ...add));
  return { json, main: at(it, "main"), release: at(it, "release/1") };
}

test("all keys are lost: a branch at the same commit as main has the same root", async () => {
  const it = fresh();
  // The clock goes on between the two branches.
  observeSteps((step) => {
    if (step === "merge-let-go") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  });
  const { json, main, release } = await loseKeys(it, "main").finally(() => observeSteps(() => {}));
  expect(release).toBe(main);
  expect(json.warnings.join()).toMatch(new RegExp(`pawl audit --ci --root ${main}$`));
  await publish(it, "main", "release/1");
  expect((await it.ci("--root", main)).code).toBe(0);
});

test("all keys are lost: each branch has its new root pinned, and answers for everything after it", async () => {
  const it = fresh();
  const before = rootOf(it);
  const { json, main, release } = await loseKeys(it, "main~1");
  expect(json.warnings.join()).toContain(`pawl audit --ci --root ${main} --root ${release}`);
  await publish(it, "main", "release/1");
  const told = async (...roots: string[]) => {
    const { code, findings, reasons } = await it.ci(...roots.flatMap((root) => ["--root", root]));
    return [code, ...findings, ...reasons];
  };
  expect(await told()).toEqual([1, "not_signed", "not_signed"]);
  expect(await told(main)).toEqual([1, "not_signed"]);
  expect(await told(main, release)).toEqual([0]);
  expect(await told(main, release, "e".repeat(40))).toEqual([1, "root_missing"]);
  expect(await told(main, release, before)).toEqual([1, "root_missing"]);
  // What comes after the pinned root needs the new key, on either branch.
  it.git("checkout", "-q", "--detach", "release/1");
  it.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "Past everybody");
  it.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/release/1");
  expect((await told(main, release))[0]).toBe(1);
});
