import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { inTiers } from "../helpers/rows.ts";

const BRANCH = "task/T0001-fix-it";
const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 20 }, (_, index) => changed[index] ?? `line ${index}`).join("\n");

/** A task with two commits on its branch, and a colleague's commit on the base. */
async function worked(project: Project): Promise<Project> {
  project.commit("text.txt", lines());
  await ok(project.pawl("task", "new", "Fix it", "--profile", "light"));
  await ok(project.pawl("start", "T1"));
  const there = openProject({ ...project, path: join(project.path, ".worktrees/T0001-fix-it") });
  there.commit("text.txt", lines({ 10: "fixed" }));
  there.commit("new.txt", "new\n");
  return there;
}

const finish = (project: Project, reason = "merged") =>
  project.pawl("finish", "T1", "--remove", "--reason", reason, "--json");

/** What a host does with a pull request, by its buttons. */
const BUTTONS: [string, string, (project: Project) => void][] = [
  ["merge", "merge", (project) => project.git("merge", "-q", "--no-ff", "-m", "Merge it", BRANCH)],
  ["a fast-forward", "fast-forward", (project) => project.git("merge", "-q", "--ff-only", BRANCH)],
  [
    "squash",
    "squash",
    (project) => {
      project.commit("other.txt", "a colleague's\n");
      project.git("merge", "-q", "--squash", BRANCH);
      project.git("commit", "-q", "-m", "Fix it (#1)");
    },
  ],
  [
    "squash beside a colleague's change",
    "squash",
    (project) => {
      project.commit("text.txt", lines({ 13: "a colleague's" }));
      project.git("merge", "-q", "--squash", BRANCH);
      project.git("commit", "-q", "-m", "Fix it (#1)");
    },
  ],
  [
    "rebase",
    "rebase",
    (project) => {
      project.commit("other.txt", "a colleague's\n");
      project.git("cherry-pick", `main..${BRANCH}`);
    },
  ],
];

describe("work that came into the base without an approval here", () => {
  for (const { tags, rows } of inTiers(BUTTONS, ([name]) => ["merge", "squash"].includes(name)))
    test.for(rows)("%s: the task is done, and says how", { tags }, async ([, how, press], { project }) => {
      const there = await worked(project);
      press(project);
      const later = project.commit("later.txt", "later\n");
      for (const branch of [BRANCH, "main"])
        project.git("update-ref", `refs/remotes/origin/${branch}`, branch);
      for (const from of [project, there]) {
        const told = await ok(from.pawl("status", "--json"));
        expect(told.json.data.status.merged_elsewhere).toMatchObject([{ task: "T0001" }]);
        expect(told.json.data.status.merged_elsewhere[0].by).toMatch(new RegExp(`^my project by ${how} `));
        const session = await ok(from.pawl("session", "--json"));
        for (const { json } of [told, session]) expect(json.next.command).toBe("pawl finish T0001");
      }
      const { json } = await ok(finish(project));
      expect(json.data.task.status).toBe("done");
      expect(json.warnings.join("\n")).toContain(`git push origin --delete ${BRANCH}`);
      const [landed] = json.data.run.landed;
      expect(landed).toMatchObject({ repo: "my project", how });
      for (const commit of landed.commits) project.git("merge-base", "--is-ancestor", commit, "main");
      expect(landed.commits).not.toContain(later);
      expect(project.git("branch", "--list", BRANCH)).toBe("");
    });

  const NOT: [string, (project: Project) => void][] = [
    ["nothing of it", () => {}],
    ["a colleague's work alone", (project) => project.commit("other.txt", "a colleague's\n")],
    ["one commit of two", (project) => project.git("cherry-pick", `${BRANCH}~1`)],
    [
      "the same files with another content",
      (project) => {
        project.git("merge", "-q", "--squash", BRANCH);
        project.write("new.txt", "not what the task wrote\n");
        project.git("add", "-A");
        project.git("commit", "-q", "-m", "Fix it (#1)");
      },
    ],
  ];
  for (const { tags, rows } of inTiers(NOT, (_row, index) => index === 0))
    test.for(rows)(
      "%s is not the work: nothing is called merged",
      { tags },
      async ([, press], { project }) => {
        await worked(project);
        press(project);
        expect((await ok(project.pawl("status", "--json"))).json.data.status.merged_elsewhere).toEqual([]);
        const refused = await finish(project);
        expect([refused.code, refused.json.error.code]).toEqual([1, "not_merged"]);
        expect(refused.json.error.hint).toContain("pawl approve T0001");
        expect(project.git("branch", "--list", BRANCH)).not.toBe("");
        const aside = await ok(finish(project, "not now"));
        expect([aside.json.data.task.status, aside.json.data.run.landed]).toEqual(["active", []]);
      },
    );

  test("a branch on which nothing was done is not merged, wherever its base went", async ({ project }) => {
    await ok(project.pawl("task", "new", "Fix it"));
    await ok(project.pawl("start", "T1"));
    project.commit("other.txt", "a colleague's\n");
    await ok(project.pawl("refresh", "T1"));
    expect((await finish(project)).json.error.code).toBe("not_merged");
  });
});

describe("a saved run", () => {
  test("comes back with its commits, what was not committed, its handoff and its own diff", async ({
    project,
  }) => {
    const there = await worked(project);
    await ok(project.pawl("handoff", "T1", "--what", "Half of it", "--next", "the rest"));
    const head = there.git("rev-parse", "HEAD");
    writeFileSync(join(there.path, "text.txt"), lines({ 10: "fixed", 11: "not committed" }));
    writeFileSync(join(there.path, "untracked.txt"), "mine\n");
    gitIn(project, there.path, "rm", "-q", "--cached", "new.txt");
    const ended = await ok(finish(project, "not now"));
    expect(ended.json.warnings.join(" ")).toContain("pawl start T0001 --restore R1");
    project.commit("other.txt", "a colleague's\n");
    const back = await ok(project.pawl("start", "T1", "--restore", "R1", "--json"));
    expect(back.json.data.run).toMatchObject({ id: "T0001/R2", restored: "T0001/R1", status: "running" });
    expect(there.git("rev-parse", "HEAD")).toBe(head);
    expect(readFileSync(join(there.path, "text.txt"), "utf8")).toContain("not committed");
    expect(there.git("status", "--porcelain").split("\n")).toEqual(["M text.txt", "?? untracked.txt"]);
    const { json } = await project.pawl("check", "T1", "--stage", "close", "--json");
    expect(json.data.check.reasons.map((one: { code: string }) => one.code)).not.toContain("no_handoff");
    await ok(project.pawl("snapshot", "T1"));
    const stat = await ok(project.pawl("diff", "T1", "--stat", "--json"));
    expect(stat.json.data.diffs[0].stat.map((one: { path: string }) => one.path)).toEqual([
      "new.txt",
      "text.txt",
      "untracked.txt",
    ]);
  });

  test("does not replace a run in progress, and a run with nothing saved is refused", {
    tags: ["proof"],
  }, async ({ project }) => {
    await worked(project);
    const busy = await project.pawl("start", "T1", "--restore", "R1", "--json");
    expect(busy.json.error.code).toBe("run_under_way");
    expect(existsSync(join(project.path, ".worktrees/T0001-fix-it"))).toBe(true);
    await ok(finish(project, "not now"));
    expect(await project.pawl("start", "T1", "--restore", "R7")).toMatchObject({ code: 4 });
    await ok(project.pawl("task", "new", "Other"));
    await ok(project.pawl("start", "T2"));
    await ok(project.pawl("finish", "T2", "--remove", "--reason", "nothing done"));
    const nothing = await project.pawl("start", "T2", "--restore", "R1", "--json");
    expect(nothing.json.error.code).toBe("snapshot_missing");
  });
});

test("the diff of a refreshed task is its own change, and not what the base brought", async ({ project }) => {
  await worked(project);
  project.commit("other.txt", "a colleague's\n");
  await ok(project.pawl("refresh", "T1"));
  await ok(project.pawl("snapshot", "T1"));
  const { json } = await ok(project.pawl("diff", "T1", "--stat", "--json"));
  expect(json.data.diffs[0].stat.map((one: { path: string }) => one.path)).toEqual(["new.txt", "text.txt"]);
});
