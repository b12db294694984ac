import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordUnguarded } from "../../src/flows/audit/baseline.ts";
import {
  type Audited,
  auditIn,
  cloneForCheck,
  copyAudited,
  guardFromHere,
  handsOf,
  makeAudited,
  pretendGuard,
  trustOrigin,
  unlockIt,
} from "../helpers/audited-project.ts";
import type { Project } from "../helpers/command-line.ts";
import { gitIn, ok, type Ready, typing, worktreeOf } from "../helpers/ready-task.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

let folder: string;
let single: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("audit");
  single = await makeAudited(join(folder, "single"), 1);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const fresh = () => copyAudited(single, join(folder, `copy ${++copies}`));

/** A commit with the content of `parent`, on no branch. */
const stray = ({ git }: Audited, parent = "main", message = "Sneak in") =>
  git("commit-tree", "-p", parent, "-m", message, `${parent}^{tree}`);

const refFile = ({ home }: Audited, ref = "refs/heads/main") => join(home.path, ".git", ref);

describe("an honest repository", () => {
  test("is explained: baseline and approved", async () => {
    const found = await fresh().audit();
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [] });
    expect(found.counts).toEqual({
      ...{ baseline: 2, approved: 1, pull_request: 0, remote: 0 },
      ...{ unlocked: 0, unapproved: 0, unexplained: 0 },
    });
    expect(found.warnings).toEqual(["The guard is not active in shop."]);
  });

  test("stays so through gc, repack, pack-refs, stash and worktrees", async () => {
    const it = fresh();
    for (const args of [
      ["pack-refs", "--all"],
      ["repack", "-adq"],
      ["gc", "-q"],
      ["commit-graph", "write", "--reachable"],
      ["reflog", "expire", "--all"],
      ["worktree", "add", "-q", "../side", "-b", "side"],
      ["worktree", "remove", "../side"],
      ["tag", "v1"],
    ])
      it.git(...args);
    it.home.write("README.md", "changed\n");
    it.git("stash", "push", "-q");
    it.git("stash", "pop", "-q");
    expect(await it.audit()).toMatchObject({ code: 0, findings: [], reasons: [] });
  });

  test("may pull what others published", async () => {
    const it = fresh();
    const other = cloneForCheck(it, "other");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    // The remote is ahead of what this clone has heard of.
    expect(await it.audit()).toMatchObject({ code: 0, findings: [] });
    it.git("pull", "-q", "--ff-only");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [] });
    expect(found.counts).toMatchObject({ approved: 1, remote: 1 });
    // A second one that nobody here has fetched leaves what was pulled confirmed, and no object of it stays.
    other.commit("more.txt", "more\n");
    other.git("push", "-q", "origin", "main");
    expect((await it.audit()).counts).toMatchObject({ remote: 1 });
    expect((await it.home.pawl("audit")).out).toContain("1 from the remote");
    expect(() => it.git("cat-file", "-e", other.git("rev-parse", "main"))).toThrow();
  });

  test("cannot be told to be so while the remote is not asked, or gone", { tags: ["proof"] }, async () => {
    const it = fresh();
    const other = cloneForCheck(it, "other");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    it.git("pull", "-q", "--ff-only");
    expect((await it.audit()).code).toBe(0);
    const open = { code: 2, reasons: ["remote_silent"], findings: [] };
    expect(await it.audit("--offline")).toMatchObject(open);
    renameSync(it.remote, `${it.remote}.gone`);
    expect(await it.audit()).toMatchObject(open);
    // Whatever else is wrong is certain.
    it.home.commit("evil.txt", "evil\n");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["committed_directly", "remote_silent"] });
  });

  test("has nothing on a guarded remote that nobody approved, pulled or not", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const other = cloneForCheck(it, "other");
    const theirs = other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    expect((await it.audit()).code).toBe(0);
    await trustOrigin(it.home, { name: "shop", home: true }, true);
    const before = await it.audit();
    expect(before).toMatchObject({
      code: 1,
      reasons: ["no_approval"],
      counts: { unapproved: 1, unexplained: 0 },
    });
    expect(before.result.json.data.audit.branches[1]).toMatchObject({ ref: "refs/remotes/origin/main" });
    expect(before.result.out).toContain(theirs);
    it.git("pull", "-q", "--ff-only");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["no_approval"], findings: [] });
    // Whoever takes the rule away does so by a commit that had to keep it.
    await trustOrigin(it.home, { name: "shop", home: true });
    expect((await it.audit()).code).toBe(0);
  });

  test("each next command brings what a host squashed onto a guarded remote nearer to an end", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const other = cloneForCheck(it, "other");
    other.commit("squashed.txt", "by the host's button\n");
    other.git("push", "-q", "origin", "main");
    await trustOrigin(it.home, { name: "shop", home: true }, true);
    const next = async (project = it.home, ...argv: string[]) =>
      (await auditIn(project, ...argv)).result.json.next?.command;
    expect(await next()).toBe("git pull --ff-only");
    it.git("pull", "-q", "--ff-only");
    expect(await next()).toBe("pawl unlock main --accept");
    expect(await next(cloneForCheck(it, "ci"), "--ci")).toBe("pawl unlock main --accept");
    await ok(unlockIt(it, "--accept"));
    expect(await it.audit()).toMatchObject({ code: 0, counts: { unlocked: 1, unapproved: 0 } });
    await ok(it.home.pawl("sync"));
    expect(await auditIn(cloneForCheck(it, "ci again"), "--ci")).toMatchObject({ code: 0 });
    // What names an approval was approved in a clone that has not shared its records yet.
    other.git("commit", "-q", "--allow-empty", "-m", "Merge T0009\n\nPawl-Approval: T0009/A1");
    other.git("push", "-q", "origin", "main");
    expect(await next()).toBe("pawl sync");
  });

  test("a policy that stops guarding the remote had to be approved itself", { tags: ["proof"] }, async () => {
    const it = fresh();
    const policy = (guarded: boolean) =>
      `remotes:\n  - name: origin\n    address: x\n    guarded: ${guarded}\n`;
    it.home.write(".pawl/config.yaml", policy(true));
    const guarding = await unlockIt(it, "--for=5m");
    expect(guarding.code).toBe(0);
    it.git("add", "-f", ".pawl/config.yaml");
    it.git("commit", "-qm", "Guard it");
    it.git("push", "-q", "--no-verify", "origin", "main");
    await ok(it.home.pawl("unlock", "main", "--end"));
    expect(await it.audit()).toMatchObject({ code: 0, counts: { unlocked: 1 } });
    const other = cloneForCheck(it, "other");
    other.write(".pawl/config.yaml", policy(false));
    other.git("commit", "-qam", "Do not guard it");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    it.git("pull", "-q", "--ff-only");
    expect(await it.audit()).toMatchObject({ code: 1, counts: { unapproved: 1, remote: 1 } });
  });

  test("has nothing that this clone pushed past its own hook, pulled or not", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    it.git("push", "-q", "--no-verify", "origin", `${stray(it)}:main`);
    const pushed = { code: 1, reasons: ["pushed_directly"], findings: [], counts: { unapproved: 1 } };
    expect(await it.audit()).toMatchObject(pushed);
    it.git("pull", "-q", "--ff-only");
    expect(await it.audit()).toMatchObject(pushed);
  });

  test("is not explained by a remote that leads elsewhere than it did, or that nobody trusts", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const other = cloneForCheck(it, "other");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    it.git("pull", "-q", "--ff-only");
    it.git("remote", "set-url", "origin", "../other/.git");
    const changed = { code: 1, reasons: ["remote_changed"], findings: ["remote_changed"] };
    expect(await it.audit()).toMatchObject(changed);
    it.git("remote", "set-url", "origin", "../remote 0.git");
    expect(await it.audit()).toMatchObject({ code: 0, findings: [] });
    it.git("remote", "rename", "origin", "upstream");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["remote_not_trusted"], findings: [] });
  });

  test("a fresh clone with the state is explained, under any name", async () => {
    const it = fresh();
    const clone = cloneForCheck(it, "a clone of it");
    await ok(clone.pawl("sync", "--yes"));
    const found = await auditIn(clone);
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [] });
    expect(found.counts).toMatchObject({ baseline: 2, approved: 1 });
  });

  test("that says it has pawl, and lost its guard, its records, or began again, is told", async () => {
    const root = makeTemporaryFolder("audit wiped");
    const { makeRepository } = await import("../helpers/temporary-repository.ts");
    const { openProject } = await import("../helpers/command-line.ts");
    const project = openProject(makeRepository(root));
    project.write(".pawl/lock.json", '{ "profile": "all" }\n');
    project.git("add", "-f", ".pawl/lock.json");
    project.git("commit", "-qm", "Install pawl");
    const gone = await auditIn(project);
    expect(gone).toMatchObject({ code: 1, findings: ["installation_gone", "installation_gone"] });
    expect((await project.pawl("status")).err).toContain("this clone has no guard");
    project.commit("evil.txt", "evil\n");
    // Whoever wipes everything and installs again has a baseline that is later than the installation.
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    const again = await auditIn(project);
    expect(again).toMatchObject({
      code: 1,
      reasons: ["late_baseline"],
      findings: [],
      counts: { baseline: 2 },
    });
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  });

  test("before anything is known, everything was there before", async () => {
    const root = makeTemporaryFolder("audit new");
    const { makeRepository } = await import("../helpers/temporary-repository.ts");
    const { openProject } = await import("../helpers/command-line.ts");
    const project = openProject(makeRepository(root));
    const found = await auditIn(project);
    expect(found).toMatchObject({ code: 0, counts: { baseline: 1, unexplained: 0 } });
    expect(found.warnings).toContain(
      "There is no baseline yet: everything on main counts as older than pawl.",
    );
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
    rmSync(root, { recursive: true, force: true });
  });

  test("without a recorded baseline the first approval begins it", { tags: ["proof"] }, async () => {
    const it = fresh();
    const file = join(stateOf(it.home), "repos/shop.md");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/^baseline:\n(?: .*\n|- .*\n)*/m, ""));
    expect(readFileSync(file, "utf8")).not.toBe(text);
    expect((await it.audit()).counts).toMatchObject({ baseline: 2, approved: 1, unexplained: 0 });
    it.home.commit("x.txt", "x\n");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["committed_directly"] });
  });

  test("two repositories, each with its own merge", { tags: ["proof"], timeout: 120_000 }, async () => {
    const double = await makeAudited(join(folder, "double"), 2);
    const it = copyAudited(double, join(folder, `copy ${++copies}`));
    const found = await it.audit();
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [] });
    expect(found.counts).toMatchObject({ approved: 2, baseline: 4 });
    (it.repos[1] as Project).commit("x.txt", "x\n");
    const after = await it.audit();
    expect(after).toMatchObject({ code: 1, reasons: ["committed_directly"] });
    expect(after.result.json.data.audit.branches[1]).toMatchObject({ repo: "api", ref: "refs/heads/main" });
  });

  test("approve --redo takes the first merge away, rightly", {
    tags: ["proof"],
    timeout: 120_000,
  }, async () => {
    const it = await unpublished();
    const other = cloneForCheck(it, "other");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    const rejected = await typing(it, { typed: "T0001" }, "approve", "T1", "--redo", "--push");
    expect(rejected.json.error ?? rejected.code).toBe(0);
    const found = await it.audit();
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [] });
    expect(found.counts).toMatchObject({ approved: 1, remote: 1 });
    // Git forgets the moves to the first one in time, and only them.
    it.git("reflog", "expire", "--expire-unreachable=now", "refs/heads/main");
    const later = await it.audit();
    expect(later).toMatchObject({ code: 0, findings: [] });
    expect(later.warnings.join()).toContain("everything in it is explained");
  });

  /** Approved here, and not yet published. */
  async function unpublished(): Promise<Audited> {
    const root = join(folder, `redo ${++copies}`);
    const { makeReady, approveIt } = await import("../helpers/ready-task.ts");
    const ready = await makeReady(root, 1);
    const [home] = ready.repos as [Project];
    await guardFromHere(home, true, "shop");
    gitIn(ready, root, "init", "-q", "--bare", "--template=", "-b", "main", join(root, "remote 0.git"));
    home.git("remote", "add", "origin", "../remote 0.git");
    home.git("push", "-q", "origin", "main");
    home.git("fetch", "-q");
    await trustOrigin(home, { name: "shop", home: true });
    await ok(approveIt(ready));
    return copyAudited(ready, `${root} copy`);
  }
});

describe("a commit past the hooks is found", () => {
  const evil = (it: Audited) => it.home.write("evil.txt", "evil\n");

  test.each([
    ["-c core.hooksPath", {}, ["-c", "core.hooksPath=/dev/null"]],
    [
      "GIT_CONFIG_COUNT",
      { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "/dev/null" },
      [],
    ],
    ["GIT_CONFIG_PARAMETERS", { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='/dev/null'" }, []],
  ])("with %s", async (_name, env, options) => {
    const it = fresh();
    evil(it);
    it.git("add", "evil.txt");
    expect(it.gitWith(env, ...options, "commit", "-qm", "Sneak in").code).toBe(0);
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, reasons: ["committed_directly"] });
    expect(found.counts).toMatchObject({ approved: 1, unexplained: 1 });
  });

  test("with a git directory of its own beside the real one", async () => {
    const it = fresh();
    const alt = join(it.root, "alt");
    mkdirSync(alt);
    writeFileSync(join(alt, "commondir"), `${join(it.home.path, ".git")}\n`);
    writeFileSync(join(alt, "HEAD"), "ref: refs/heads/main\n");
    const env = { GIT_DIR: alt, GIT_WORK_TREE: it.home.path };
    expect(it.gitWith(env, "commit", "-q", "--allow-empty", "-m", "Sneak in").code).toBe(0);
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["committed_directly"] });
  });

  test("by a fast-forward to the task's branch, and by another name for it", async () => {
    const it = fresh();
    it.git("branch", "-f", "side", stray(it));
    it.git("merge", "-q", "--ff-only", "side");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["merged_directly"] });
  });

  test("branch -C in place of main", async () => {
    const it = fresh();
    it.git("switch", "-qc", "side");
    it.git("commit", "-q", "--allow-empty", "-m", "Sneak in");
    it.git("branch", "-C", "side", "main");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, reasons: ["branch_overwritten"] });
    expect(found.findings).toContain("branch_overwritten");
  });

  test("main as another name for a branch", async () => {
    const it = fresh();
    it.git("branch", "x");
    it.git("symbolic-ref", "refs/heads/main", "refs/heads/x");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, findings: ["symbolic_ref"] });
  });

  test("the ref's file written by hand", async () => {
    const it = fresh();
    writeFileSync(refFile(it), `${stray(it)}\n`);
    expect(await it.audit()).toMatchObject({
      code: 1,
      reasons: ["written_without_git"],
      findings: ["reflog_gap"],
    });
  });

  test("packed-refs written by hand", async () => {
    const it = fresh();
    const [tip, next] = [it.git("rev-parse", "main"), stray(it)];
    it.git("pack-refs", "--all");
    const packed = join(it.home.path, ".git/packed-refs");
    writeFileSync(
      packed,
      readFileSync(packed, "utf8").replace(`${tip} refs/heads/main`, `${next} refs/heads/main`),
    );
    expect(it.git("rev-parse", "main")).toBe(next);
    expect(await it.audit()).toMatchObject({
      code: 1,
      reasons: ["written_without_git"],
      findings: ["reflog_gap"],
    });
  });

  test("main set back by hand, without any new commit", async () => {
    const it = fresh();
    writeFileSync(refFile(it), `${it.git("rev-parse", "main~1")}\n`);
    expect(await it.audit()).toMatchObject({ code: 1, reasons: [], findings: ["reflog_gap"] });
  });

  test("main moved away and back to where it was", { tags: ["proof"] }, async () => {
    const it = fresh();
    const [tip, elsewhere] = [it.git("rev-parse", "main"), stray(it)];
    it.git("update-ref", "refs/heads/main", elsewhere);
    it.git("update-ref", "refs/heads/main", tip);
    expect(await it.audit()).toMatchObject({ code: 1, reasons: [], findings: ["moved_away", "rewound"] });
    // Also when nothing of it is left but the log.
    rmSync(join(it.home.path, ".git/objects", elsewhere.slice(0, 2), elsewhere.slice(2)));
    expect((await it.audit()).findings).toEqual(["moved_away", "moved_away"]);
  });

  test("main moved back and forth, over commits that are all explained", async () => {
    const it = fresh();
    const tip = it.git("rev-parse", "main");
    it.git("update-ref", "refs/heads/main", "main~1");
    it.git("update-ref", "refs/heads/main", tip);
    expect(await it.audit()).toMatchObject({ code: 1, reasons: [], findings: ["rewound"] });
  });

  test("a log whose lines do not fit together", async () => {
    const it = fresh();
    const next = stray(it);
    it.git("update-ref", "refs/heads/main", next);
    it.git("update-ref", "refs/heads/main", stray(it, next, "Another"));
    const log = join(it.home.path, ".git/logs/refs/heads/main");
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    writeFileSync(log, `${[...lines.slice(0, -2), lines.at(-1)].join("\n")}\n`);
    const found = await it.audit();
    expect(found.findings).toEqual(["reflog_gap"]);
    expect(found.reasons).toEqual(["committed_directly", "written_without_git"]);
  });

  test("a remote-tracking ref that was made up, then a fast-forward to it", { tags: ["proof"] }, async () => {
    const it = fresh();
    it.git("update-ref", "refs/remotes/origin/main", stray(it));
    it.git("merge", "-q", "--ff-only", "origin/main");
    const found = await it.audit();
    expect(found).toMatchObject({
      code: 1,
      reasons: ["remote_not_confirmed"],
      findings: ["remote_not_confirmed"],
    });
    // The same while the remote is ahead with a commit that nobody here has.
    const other = cloneForCheck(it, "other");
    other.commit("theirs.txt", "theirs\n");
    other.git("push", "-q", "origin", "main");
    expect(await it.audit()).toMatchObject({
      code: 1,
      reasons: ["remote_not_confirmed"],
      findings: ["remote_not_confirmed"],
    });
    expect(await it.audit("--offline")).toMatchObject({ code: 2, reasons: ["remote_silent"], findings: [] });
  });

  test("a policy that no longer names the branch it was changed on", async () => {
    const it = fresh();
    it.home.write(".pawl/config.yaml", "protected: [other]\n");
    it.git("add", "-f", ".pawl/config.yaml");
    it.git("commit", "-qm", "Talk it out of it");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["committed_directly"] });
  });
});

describe("an approval that does not fit its commit is found", () => {
  const amendRecord = (it: Audited, change: (text: string) => string) => {
    const file = join(stateOf(it.home), "tasks/T0001/approvals/A1.md");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, change(before));
    expect(readFileSync(file, "utf8")).not.toBe(before);
  };

  test("the merge was amended", async () => {
    const it = fresh();
    it.home.write("src/kept.txt", "not what was approved\n");
    it.git("commit", "-qa", "--amend", "--no-edit");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, reasons: ["approval_rewritten"] });
    expect(found.findings).toContain("rewound");
  });

  test("the record was edited to name another commit", async () => {
    const it = fresh();
    const tip = it.git("rev-parse", "main");
    it.home.commit("evil.txt", "evil\n");
    amendRecord(it, (text) => text.replaceAll(tip, it.git("rev-parse", "main")));
    const found = await it.audit();
    expect(found.code).toBe(1);
    // What was merged and published is still on the remote, and no approval names it any more.
    expect(found.reasons).toEqual(["approval_mismatch", "pushed_directly"]);
  });

  test("and what was pushed in the second in which the branch began to be guarded counts as pushed after that", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    const began =
      /at: "?([^"\n]+)/.exec(readFileSync(join(stateOf(it.home), "repos/shop.md"), "utf8"))?.[1] ?? "";
    const log = join(it.home.path, ".git/logs/refs/remotes/origin/main");
    const seconds = Math.floor(Date.parse(began) / 1000);
    writeFileSync(log, readFileSync(log, "utf8").replace(/> \d+( \S+\tupdate by push)/g, `> ${seconds}$1`));
    const tip = it.git("rev-parse", "main");
    it.home.commit("evil.txt", "evil\n");
    amendRecord(it, (text) => text.replaceAll(tip, it.git("rev-parse", "main")));
    expect((await it.audit()).reasons).toEqual(["approval_mismatch", "pushed_directly"]);
  });

  test.each(["tree", "head", "old"])("the record's %s is another one", async (field) => {
    const it = fresh();
    amendRecord(it, (text) => text.replace(new RegExp(`^( +${field}: ).*$`, "m"), `$1"${"ab".repeat(20)}"`));
    // The remote has the commit, so that it is explained; the record is not.
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["approval_mismatch", "record_not_ours"] });
    it.git("update-ref", "-d", "refs/remotes/origin/main");
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["approval_mismatch"] });
  });

  test("another commit with the same parents and tree that does not name it", async () => {
    const it = fresh();
    const old = it.git("rev-parse", "main");
    const twin = it.git("commit-tree", "-p", "main^1", "-p", "main^2", "-m", "Merge", "main^{tree}");
    it.git("update-ref", "refs/heads/main", twin);
    amendRecord(it, (text) => text.replaceAll(old, twin));
    const found = await it.audit();
    expect(found.reasons).toEqual(["approval_mismatch", "pushed_directly"]);
  });

  test("a record that nobody can read leaves it untold", { tags: ["proof"] }, async () => {
    const it = fresh();
    amendRecord(it, (text) => text.replace("status: merged", "status: perhaps"));
    const { result } = await it.audit();
    expect([result.code, result.json.error.code]).toEqual([2, "cannot_tell"]);
    expect(result.json.error.message).toContain("A1.md");
  });
});

describe("forged records are found", () => {
  const zeros = "0".repeat(40);

  test("a baseline that was moved up to what nobody approved", async () => {
    const it = fresh();
    const file = join(stateOf(it.home), "repos/shop.md");
    const evil = it.home.commit("evil.txt", "evil\n");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/^( +commit: ).*$/m, `$1"${evil}"`));
    expect(await it.audit()).toMatchObject({
      code: 1,
      findings: ["record_not_ours"],
      reasons: ["late_baseline"],
    });
    const push = it.gitWith({}, "push", "--dry-run", "origin", "main");
    expect(push.code).toBe(0);
    const pushed = `refs/heads/main ${evil} refs/heads/main ${it.git("rev-parse", "origin/main")}\n`;
    it.home.write("updates", pushed);
    const refused = await it.home.pawl("hook", "pre-push", "--updates", "updates", "--remote", "origin");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("by hand")]);
  });

  test("a baseline that was removed, and made anew by an agent", { tags: ["proof"] }, async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    rmSync(join(stateOf(it.home), "repos/shop.md"));
    expect(await it.audit()).toMatchObject({ code: 1, findings: expect.arrayContaining(["record_missing"]) });
    await guardFromHere({ ...it.home, env: { ...it.home.env, CLAUDECODE: "1" } }, true, "shop");
    expect(await it.audit()).toMatchObject({ code: 1, findings: expect.arrayContaining(["record_renewed"]) });
  });

  test("an approval of one's own that fits its commit", async () => {
    const it = fresh();
    const old = it.git("rev-parse", "main");
    const head = it.git("commit-tree", "-p", old, "-m", "evil", "main~1^{tree}");
    const id = "T0001/A2";
    const message = `Merge T0001\n\nPawl-Approval: ${id}`;
    const merge = it.git("commit-tree", "-p", old, "-p", head, "-m", message, `${head}^{tree}`);
    it.git("update-ref", "refs/heads/main", merge);
    const folder = join(stateOf(it.home), "tasks/T0001/approvals");
    const [from] = /new: .*/.exec(readFileSync(join(folder, "A1.md"), "utf8")) ?? [];
    expect(from).toContain(old);
    const text = readFileSync(join(folder, "A1.md"), "utf8")
      .replaceAll("T0001/A1", id)
      .replace(/^( +old: ).*$/m, `$1"${old}"`)
      .replace(/^( +new: ).*$/m, `$1"${merge}"`)
      .replace(/^( +head: ).*$/m, `$1"${head}"`)
      .replace(/^( +tree: ).*$/m, `$1"${it.git("rev-parse", `${head}^{tree}`)}"`);
    writeFileSync(join(folder, "A2.md"), text);
    const found = await it.audit();
    expect(found.result.json.data.audit.findings).toMatchObject([
      { code: "record_not_ours", where: "tasks/T0001/approvals/A2.md" },
    ]);
    expect(found.code).toBe(1);
  });

  test("a branch that the guard is said to have seen coming into being", async () => {
    const it = fresh();
    const evil = it.home.commit("evil.txt", "evil\n");
    writeFileSync(join(it.home.path, ".git/pawl/moves"), `${zeros} ${evil} refs/heads/main created\n`);
    expect(await it.audit()).toMatchObject({ code: 1, reasons: ["committed_directly"] });
  });
});

describe("tampering is found", () => {
  test("a replaced commit, and what it hides", async () => {
    const it = fresh();
    const old = it.git("rev-parse", "main");
    it.home.commit("evil.txt", "evil\n");
    it.git("replace", "main", old);
    expect(it.git("log", "-1", "--format=%s", "main")).toContain("Merge T0001");
    expect(await it.audit()).toMatchObject({
      code: 1,
      findings: ["replace_ref"],
      reasons: ["committed_directly"],
    });
  });

  test("a graft, and what it hides", async () => {
    const it = fresh();
    const old = it.git("rev-parse", "main");
    it.home.commit("evil.txt", "evil\n");
    const top = it.home.commit("more.txt", "more\n");
    mkdirSync(join(it.home.path, ".git/info"), { recursive: true });
    writeFileSync(join(it.home.path, ".git/info/grafts"), `${top} ${old}\n`);
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, findings: ["graft_file"] });
    expect(found.reasons).toHaveLength(2);
  });

  test("history that is hidden as if the clone were shallow", { tags: ["proof"] }, async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    const top = it.home.commit("more.txt", "more\n");
    writeFileSync(join(it.home.path, ".git/shallow"), `${top}\n`);
    expect(it.git("rev-list", "--count", "main")).toBe("1");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, findings: ["shallow_graft"] });
    expect(found.reasons).toHaveLength(2);
  });

  test("a grant that no approval under way needs", async () => {
    const it = fresh();
    const grant = join(it.home.path, ".git/pawl/grants/update/refs/heads/main");
    mkdirSync(join(grant, ".."), { recursive: true });
    const [old, next] = [it.git("rev-parse", "main"), stray(it)];
    writeFileSync(grant, `${old} ${next} refs/heads/main\n`);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["leftover_grant"] });
  });

  test("an unlock that no human made", async () => {
    const it = fresh();
    const grant = join(it.home.path, ".git/pawl/grants/unlock/refs/heads/main");
    mkdirSync(join(grant, ".."), { recursive: true });
    writeFileSync(grant, `${Math.floor(Date.now() / 1000) + 600} U0001\n`);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["forged_unlock"] });
  });

  test("hooks that were removed, made inert, changed or switched off", async () => {
    const it = fresh();
    const { hook, before } = pretendGuard(it.home);
    const honest = await it.audit();
    expect(honest).toMatchObject({ code: 0, findings: [], warnings: [] });
    const text = readFileSync(hook, "utf8");
    chmodSync(hook, 0o644);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hook_not_executable"] });
    rmSync(hook);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hook_missing"] });
    writeFileSync(hook, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hook_changed"] });
    const { sha256 } = await import("../../src/files/digest.ts");
    writeFileSync(before, JSON.stringify({ digests: { "pawl/hooks/reference-transaction": sha256(text) } }));
    writeFileSync(hook, text);
    expect((await it.audit()).code).toBe(0);
    appendFileSync(hook, "exit 0\n");
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hook_changed"] });
    writeFileSync(hook, text);
    it.git("config", "core.hooksPath", "/dev/null");
    const off = await it.audit();
    expect(off).toMatchObject({ code: 1, findings: ["hooks_path_changed", "hooks_path_changed"] });
    expect(off.result.json.data.audit.findings[1].where).toBe(worktreeOf(it.home));
  });

  test("another setting in one worktree, in force or not, and in the environment", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    pretendGuard(it.home);
    const own = join(it.home.path, ".git/worktrees/T0001-change-it-all/config.worktree");
    writeFileSync(own, "[core]\n\thooksPath = /dev/null\n");
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hooks_path_changed"] });
    it.git("config", "extensions.worktreeConfig", "true");
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["hooks_path_changed"] });
    rmSync(own);
    expect((await it.audit()).code).toBe(0);
    const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "" };
    const found = await it.home.pawlIn(it.home.path, env, "audit", "--json");
    expect(found.json.data.audit.findings[0]).toMatchObject({
      code: "hooks_path_changed",
      message: expect.stringContaining("the environment"),
    });
  });

  test("a guard that was there and is gone", async () => {
    const it = fresh();
    await guardFromHere(it.home, true, "shop", true);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["guard_removed"] });
    // In another clone it never was.
    await ok(it.home.pawl("sync", "--yes"));
    const clone = cloneForCheck(it, "other");
    await ok(clone.pawl("sync", "--yes"));
    expect(await auditIn(clone)).toMatchObject({ code: 0, findings: [] });
    // And where it was taken away in the open, nobody has to wonder.
    await recordUnguarded(handsOf(it.home), { name: "shop", home: true });
    expect(await it.audit()).toMatchObject({ code: 0, findings: [] });
  });

  test("what the guard remembers: a branch that is elsewhere, or gone", { tags: ["proof"] }, async () => {
    const it = fresh();
    pretendGuard(it.home);
    const tips = join(it.home.path, ".git/pawl/tips");
    mkdirSync(tips);
    const tip = it.git("rev-parse", "main");
    writeFileSync(join(tips, "main"), `${tip} refs/heads/main ${tip}\n`);
    expect((await it.audit()).code).toBe(0);
    // A move that was allowed and then not made, because somebody else said no.
    writeFileSync(join(tips, "main"), `${tip} refs/heads/main ${"ab".repeat(20)}\n`);
    expect((await it.audit()).code).toBe(0);
    rmSync(join(it.home.path, ".git/logs/refs/heads/main"));
    writeFileSync(refFile(it), `${it.git("rev-parse", "main~1")}\n`);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["moved_unguarded"] });
    writeFileSync(refFile(it), `${tip}\n`);
    writeFileSync(join(tips, "release~1"), `${tip} refs/heads/release/1 ${tip}\n`);
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["branch_deleted"] });
  });
});

describe("a check of what was published", () => {
  test("needs only the commits and the state", async () => {
    const it = fresh();
    const clone = cloneForCheck(it, "check");
    const found = await auditIn(clone, "--ci");
    expect(found).toMatchObject({ code: 0, findings: [], reasons: [], warnings: [] });
    expect(found.counts).toMatchObject({ baseline: 2, approved: 1, remote: 0 });
    expect(existsSync(join(clone.path, ".pawl"))).toBe(false);
  });

  test("finds a push past every hook", async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    it.git("push", "-q", "--no-verify", "origin", "main");
    // The clone that pushed knows that it did; the published history tells.
    expect(await it.audit()).toMatchObject({ code: 1, counts: { unapproved: 1, remote: 0 } });
    const found = await auditIn(cloneForCheck(it, "check"), "--ci");
    expect(found).toMatchObject({ code: 1, reasons: ["no_approval"] });
    expect(found.counts).toMatchObject({ approved: 1, unexplained: 1 });
  });

  test("finds that a published merge was taken away, and the baseline with it", async () => {
    const it = fresh();
    it.git("push", "-q", "--force", "origin", "main~1:main");
    expect(await auditIn(cloneForCheck(it, "check 1"), "--ci")).toMatchObject({
      code: 1,
      findings: ["approved_missing"],
    });
    it.git("push", "-q", "origin", "main:refs/heads/kept");
    it.git("push", "-q", "--force", "origin", "main~2:main");
    expect(await auditIn(cloneForCheck(it, "check 2"), "--ci")).toMatchObject({
      code: 1,
      findings: ["approved_missing", "baseline_missing"],
    });
  });

  test("finds that what a plain git push had published was taken away, once a sync has noted it", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    // As after an approve without --push, and after a commit under an unlock.
    const file = join(stateOf(it.home), "tasks/T0001/approvals/A1.md");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^( +pushed: )true$/m, "$1false"));
    await ok(unlockIt(it, "--for", "10m"));
    it.home.commit("by hand.txt", "by hand\n");
    await ok(it.home.pawl("unlock", "main", "--end"));
    it.git("push", "-q", "--no-verify", "origin", "main");
    it.git("push", "-q", "--force", "origin", "main~2:main");
    await ok(it.home.pawl("sync", "--yes"));
    const found = await auditIn(cloneForCheck(it, "check"), "--ci");
    expect(found).toMatchObject({ code: 1 });
    expect(found.findings.filter((one) => one === "approved_missing")).toHaveLength(2);
    expect(readFileSync(file, "utf8")).toMatch(/^ +pushed: true$/m);
    // What a human takes away under an unlock is not missing.
    const other = fresh();
    await ok(unlockIt(other, "--for", "10m"));
    other.git("update-ref", "refs/heads/main", "main~1");
    await ok(other.home.pawl("unlock", "main", "--end"));
    other.git("push", "-q", "--no-verify", "--force", "origin", "main");
    await ok(other.home.pawl("sync", "--yes"));
    expect(await auditIn(cloneForCheck(other, "check"), "--ci")).toMatchObject({ code: 0, findings: [] });
  });

  test("tells the clone that published it, too, once that has heard of it", async () => {
    const it = fresh();
    cloneForCheck(it, "other").git("push", "-q", "--force", "origin", "HEAD~1:main");
    it.git("fetch", "-q");
    const found = await it.audit();
    expect(found).toMatchObject({ code: 1, findings: ["approved_missing"], counts: { approved: 1 } });
    expect(found.result.out).toContain("refs/remotes/origin/main no longer has");
  });

  test("finds an approved merge that is gone from here, though every trace of the move is", async () => {
    const it = fresh();
    it.git("push", "-q", "--force", "origin", "main~1:main");
    it.git("fetch", "-q");
    it.git("-c", "core.hooksPath=/dev/null", "reset", "-q", "--hard", "main~1");
    rmSync(join(it.home.path, ".git/pawl/tips"), { recursive: true, force: true });
    for (const log of ["refs/heads/main", "refs/remotes/origin/main"])
      rmSync(join(it.home.path, ".git/logs", log), { force: true });
    expect((await it.audit()).findings).toContain("approved_missing");
  });

  test("finds a protected branch that is gone with every trace of it", async () => {
    const it = fresh();
    it.git("checkout", "-q", "--detach");
    it.git("-c", "core.hooksPath=/dev/null", "update-ref", "-d", "refs/heads/main");
    for (const trace of ["pawl/tips/main", "logs/refs/heads/main"])
      rmSync(join(it.home.path, ".git", trace), { force: true });
    expect(await it.audit()).toMatchObject({ code: 1, findings: ["branch_deleted"] });
  });

  /** The state's branch on the remote without anything in it: one commit more, or nothing but that. */
  function emptyState(it: Audited, how: "grown" | "replaced"): void {
    const nothing = gitIn(it, it.remote, "hash-object", "-t", "tree", "-w", "/dev/null");
    const parent = how === "grown" ? ["-p", "pawl/state"] : [];
    const empty = gitIn(it, it.remote, "commit-tree", ...parent, "-m", "empty", nothing);
    gitIn(it, it.remote, "update-ref", "refs/heads/pawl/state", empty);
  }

  test("is not satisfied by records that were all removed: the state's history has them", {
    tags: ["proof"],
  }, async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    it.git("push", "-q", "--no-verify", "origin", "main");
    emptyState(it, "grown");
    expect(await auditIn(cloneForCheck(it, "check"), "--ci")).toMatchObject({
      code: 1,
      findings: ["record_missing"],
      reasons: ["no_approval", "no_approval"],
    });
    // An exchange with a clone that has them brings them back.
    await ok(it.home.pawl("sync", "--yes"));
    expect(await auditIn(cloneForCheck(it, "check again"), "--ci")).toMatchObject({
      code: 1,
      findings: [],
      reasons: ["no_approval"],
    });
  });

  test("is not satisfied by a state that begins with nothing, where the branch has pawl installed", async () => {
    const it = fresh();
    it.home.write(".pawl/lock.json", '{ "profile": "all" }\n');
    it.git("add", "-f", ".pawl/lock.json");
    it.git("commit", "-qm", "Install pawl");
    // Whoever takes the records away can take this file away, too.
    it.git("rm", "-q", ".pawl/lock.json");
    it.git("commit", "-qm", "evil");
    it.git("push", "-q", "--no-verify", "origin", "main");
    emptyState(it, "replaced");
    const check = cloneForCheck(it, "check");
    const found = await auditIn(check, "--ci");
    expect(found).toMatchObject({ code: 1, findings: ["baseline_gone"] });
    expect(found.result.out).toContain("pawl sync");
    expect(await auditIn(check, "--ci", "main~1..main")).toMatchObject({
      code: 1,
      findings: ["baseline_gone"],
    });
  });

  test("says what to fetch when it cannot tell", { tags: ["proof"] }, async () => {
    const it = fresh();
    const bare = cloneForCheck(it, "no state", "--single-branch");
    const lacking = await auditIn(bare, "--ci");
    expect([lacking.code, lacking.result.json.error.code]).toEqual([2, "no_state"]);
    const hint: string = lacking.result.json.error.hint;
    const command = /git fetch origin \S+:[\w/]+/.exec(hint)?.[0] as string;
    bare.git(...command.split(" ").slice(1));
    expect((await auditIn(bare, "--ci")).code).toBe(0);
    const shallow = cloneForCheck(it, "shallow", "--depth=1", "--no-single-branch", "--no-local");
    const cut = await auditIn(shallow, "--ci");
    expect([cut.code, cut.result.json.error.code]).toEqual([2, "shallow_clone"]);
    const keys = await shallow.pawl("approver", "list", "--json");
    expect([keys.code, keys.json.error.code]).toEqual([2, "shallow_clone"]);
    shallow.git("fetch", "-q", "--unshallow");
    expect((await auditIn(shallow, "--ci")).code).toBe(0);
  });

  test("an unreadable record in the published state leaves it untold", async () => {
    const it = fresh();
    const file = join(stateOf(it.home), "tasks/T0001/approvals/A1.md");
    writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from([0xff, 0xfe, 10])]));
    await it.home.pawl("note", "add", "Carry it along");
    gitIn(it, stateOf(it.home), "push", "-q", it.remote, "HEAD:refs/heads/pawl/state");
    const found = await auditIn(cloneForCheck(it, "check"), "--ci");
    expect([found.code, found.result.json.error.code]).toEqual([2, "cannot_tell"]);
  });
});

describe("a part of it", () => {
  test("one branch, or a range of commits", { tags: ["proof"] }, async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    it.git("branch", "side", "main~1");
    expect(await it.audit("main")).toMatchObject({ code: 1, reasons: ["committed_directly"] });
    expect(await it.audit("main~2..main~1")).toMatchObject({ code: 0, counts: { approved: 1 } });
    expect(await it.audit("main~1..main")).toMatchObject({ code: 1, reasons: ["no_approval"] });
    expect((await it.audit("nowhere")).code).toBe(4);
    expect((await it.audit("main..nowhere")).code).toBe(4);
  });

  test("tells people what is wrong, and where", async () => {
    const it = fresh();
    it.home.commit("evil.txt", "evil\n");
    it.git("replace", "main~1", "main~2");
    const { out, code } = await it.home.pawl("audit");
    expect(code).toBe(1);
    expect(out).toContain("main of shop: 2 baseline, 1 approved, 1 unexplained");
    expect(out).toContain("committed_directly");
    expect(out).toContain("replace_ref refs/replace/");
  });
});
