import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { observeSteps } from "../../src/model/steps.ts";
import { openProject, test } from "../helpers/command-line.ts";
import { makeRun } from "../helpers/hand-made-run.ts";
import { askStateGit, makeRepository, stateOf } from "../helpers/temporary-repository.ts";

const REF = "refs/pawl/snapshots/T0001/R1";
const PATCH = "tasks/T0001/runs/R1/my project.patch";

test("a snapshot is in the record, the log and the state's history", async ({ project }) => {
  const work = await makeRun(project);
  work.write("new.txt", "one\ntwo\n");
  const { code, json } = await project.pawl("snapshot", "T1", "--json");
  expect(code).toBe(0);
  expect(json.data.run).toMatchObject({ id: "T0001/R1", rev: 2, snapshots: json.data.snapshots });
  // A commit's name is quoted only where it could be taken for a number.
  const named = new RegExp(`^ {4}commit: "?${json.data.snapshots[0].commit}"?$`, "m");
  expect(project.read("tasks/T0001/runs/R1/run.md")).toMatch(named);
  expect(askStateGit(project, "log", "-1", "--format=%s")).toBe("T0001/R1: snapshot");
  expect(askStateGit(project, "show", `HEAD:${PATCH}`)).toContain("+two");
  const log = askStateGit(project, "grep", "-h", '"event":"snapshot"', "HEAD", "--", "events");
  expect(log).toContain("saved my project: 1 file +2 -0");
});

test("no snapshot is ever lost: each keeps the one before it, whatever happens to the branch", async ({
  project,
}) => {
  const work = await makeRun(project);
  const commits: string[] = [];
  const take = async () => {
    const { json } = await project.pawl("snapshot", "T1", "--json");
    commits.push(json.data.snapshots[0].commit);
  };
  work.write("a.txt", "only in the first snapshot\n");
  await take();
  rmSync(join(work.worktree, "a.txt"));
  await take();
  work.write("b.txt", "committed, then reset away\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "B");
  await take();
  work.git("reset", "-q", "--hard", "HEAD~1");
  await take();
  expect(new Set(commits).size).toBe(4);
  for (const commit of commits) project.git("merge-base", "--is-ancestor", commit, REF);
  expect(project.git("show", `${commits[0]}:a.txt`)).toBe("only in the first snapshot");
  expect(project.git("show", `${commits[2]}:b.txt`)).toBe("committed, then reset away");
});

test("a clean branch needs no commit of its own", async ({ project }) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "A");
  const { json } = await project.pawl("snapshot", "T1", "--json");
  expect(json.data.snapshots[0]).toMatchObject({ commit: work.git("rev-parse", "HEAD"), files: 1 });
});

test("a patch that was damaged or deleted is written again", async ({ project }) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  await project.pawl("snapshot", "T1");
  const patch = readFileSync(join(stateOf(project), PATCH), "utf8");
  for (const damage of [
    () => writeFileSync(join(stateOf(project), PATCH), "half"),
    () => rmSync(join(stateOf(project), PATCH)),
  ]) {
    damage();
    expect((await project.pawl("snapshot", "T1", "--json")).json.data.changed).toBe(true);
    expect(project.read(PATCH)).toBe(patch);
  }
});

test("without the worktree the branch is saved; without the branch nothing is, and that is said", async ({
  project,
}) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "A");
  rmSync(work.worktree, { recursive: true });
  const saved = await project.pawl("snapshot", "T1", "--json");
  expect(saved.json.data.snapshots[0]).toMatchObject({
    files: 1,
    commit: project.git("rev-parse", "task/T0001"),
  });
  expect(saved.json.warnings[0]).toContain("worktree of my project is gone");

  project.git("worktree", "prune");
  project.git("branch", "-D", "task/T0001");
  const refused = await project.pawl("snapshot", "T1", "--json");
  expect(refused.code).toBe(1);
  // The run names another clone, so that is where its branch may be.
  expect(refused.json.error.code).toBe("run_elsewhere");
  const [clone] = readFileSync(join(project.path, ".git/pawl/clone"), "utf8").split(" ");
  const file = join(stateOf(project), "tasks/T0001/runs/R1/run.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("0badc0de", clone ?? ""));
  expect((await project.pawl("snapshot", "T1", "--json")).json.error.code).toBe("branch_missing");
});

test("a worktree that was moved with git is found; one that is broken or on another branch is refused", async ({
  project,
}) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  project.git("worktree", "move", work.worktree, join(project.path, "..", "moved away"));
  const { json } = await project.pawl("snapshot", "T1", "--json");
  expect(json.data.snapshots[0]).toMatchObject({ files: 1 });
  project.git("worktree", "move", join(project.path, "..", "moved away"), work.worktree);

  work.git("switch", "-q", "-c", "elsewhere");
  expect((await project.pawl("snapshot", "T1", "--json")).json.error.code).toBe("other_branch");
  work.git("switch", "-q", "task/T0001");
  rmSync(join(work.worktree, ".git"));
  expect((await project.pawl("snapshot", "T1", "--json")).json.error.code).toBe("worktree_broken");
});

test("a dry run says what would be saved, and saves nothing", async ({ project }) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  const { code, out } = await project.pawl("snapshot", "T1", "--dry-run");
  expect(code).toBe(0);
  expect(out).toContain(`would save the worktree of my project as ${PATCH}`);
  expect(project.git("for-each-ref", "refs/pawl")).toBe("");
});

test("eight snapshots at once: one commit, one record that fits its patch", { tags: ["proof"] }, async ({
  project,
}) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  const all = await Promise.all(Array.from({ length: 8 }, () => project.pawl("snapshot", "T1", "--json")));
  expect(all.map((one) => one.code)).toEqual(Array(8).fill(0));
  expect(new Set(all.map((one) => one.json.data.snapshots[0].commit)).size).toBe(1);
  expect((await project.pawl("diff", "T1", "--json")).json.data.diffs[0].from).toBe("patch");
  expect(askStateGit(project, "status", "--porcelain")).toBe("");
});

test("every repository of the run is saved, or the run is left as it was", async ({ project }) => {
  const second = openProject(makeRepository(join(project.path, "../second place"), "web"));
  const linked = await project.pawl("repo", "add", second.path, "--json");
  expect(linked.json.ok, JSON.stringify(linked.json)).toBe(true);
  second.git("worktree", "add", "-q", "-b", "task/T0001", ".worktrees/T0001");
  const work = await makeRun(project);
  const file = join(stateOf(project), "tasks/T0001/runs/R1/run.md");
  const base = second.git("rev-parse", "HEAD");
  const more = `  - name: web\n    worktree: .worktrees/T0001\n    branch: task/T0001\n    base_branch: main\n    base_head: "${base}"\n`;
  writeFileSync(file, readFileSync(file, "utf8").replace("rev: 1", `${more}rev: 1`));
  writeFileSync(join(second.path, ".worktrees/T0001/b.txt"), "b\n");
  work.write("a.txt", "a\n");
  const { json } = await project.pawl("snapshot", "T1", "--json");
  expect(json.data.snapshots).toMatchObject([
    { repo: "my project", files: 1 },
    { repo: "web", files: 1, commit: second.git("rev-parse", REF) },
  ]);
  const { out } = await project.pawl("diff", "T1");
  expect(out).toMatch(/^# my project .*\n[\s\S]*\+a\n# web .*\n[\s\S]*\+b\n$/);
  expect((await project.pawl("diff", "T1", "--repo", "web")).out).not.toContain("my project");

  const before = project.read("tasks/T0001/runs/R1/run.md");
  work.write("a.txt", "more\n");
  rmSync(join(second.path, ".worktrees/T0001/.git"));
  expect((await project.pawl("snapshot", "T1", "--json")).json.error.code).toBe("worktree_broken");
  expect(project.read("tasks/T0001/runs/R1/run.md")).toBe(before);
  expect(readdirSync(join(stateOf(project), ".local/tmp"))).toEqual([]);
});

test("a snapshot that was taken at the same time is kept as well", async ({ project }) => {
  const work = await makeRun(project);
  work.write("a.txt", "a\n");
  let other: string | undefined;
  observeSteps((name) => {
    if (name !== "snapshot ref" || other) return;
    const tree = project.git("rev-parse", "HEAD^{tree}");
    other = project.git("commit-tree", "-m", "Taken by somebody else", tree);
    project.git("update-ref", REF, other);
  });
  const { code } = await project.pawl("snapshot", "T1").finally(() => observeSteps(() => {}));
  expect(code).toBe(0);
  project.git("merge-base", "--is-ancestor", other ?? "", REF);
  expect(project.git("show", `${REF}:a.txt`)).toBe("a");
});
