import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, type Result, test } from "../helpers/command-line.ts";
import { makeRepository, stateOf } from "../helpers/temporary-repository.ts";

const BRANCH = "task/T0001-make-it-faster";
const WORKTREE = ".worktrees/T0001-make-it-faster";
const placeOf = (project: Project) => join(project.path, WORKTREE);

const gitIn = (project: Project, cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: project.env, encoding: "utf8", stdio: "pipe" }).trim();

async function start(project: Project, ...more: string[]): Promise<void> {
  expect((await project.pawl("task", "new", "Make it faster", ...more)).code).toBe(0);
  expect((await project.pawl("start", "T1")).code).toBe(0);
}

function commitWork(project: Project, name = "work.txt", text = "work\n"): string {
  writeFileSync(join(placeOf(project), name), text);
  gitIn(project, placeOf(project), "add", "-A");
  gitIn(project, placeOf(project), "commit", "-q", "-m", `Add ${name}`);
  return gitIn(project, placeOf(project), "rev-parse", "HEAD");
}

const finish = (project: Project, ...argv: string[]): Promise<Result> =>
  project.pawl("finish", "T1", "--reason", "enough", "--json", ...argv);

const setStatus = (project: Project, status: string) => {
  const file = join(stateOf(project), "tasks/T0001/task.md");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^status: .*$/m, `status: ${status}`));
};

/** What a refusal must leave: the worktree, bound and locked, and the branch. */
function expectUntouched(project: Project, tip: string): void {
  expect(project.git("rev-parse", BRANCH)).toBe(tip);
  expect(existsSync(join(placeOf(project), ".git"))).toBe(true);
  expect(existsSync(join(project.path, ".worktrees/.removing"))).toBe(false);
  expect(project.read("tasks/T0001/runs/R1/run.md")).not.toContain("ended:");
}

describe("--remove", () => {
  test("saves unmerged commits and loose files first, then worktree and branch go", async ({ project }) => {
    await start(project);
    const tip = commitWork(project);
    writeFileSync(join(placeOf(project), "loose.txt"), "not committed\n");
    const { json, code } = await finish(project, "--remove");
    expect(code).toBe(0);
    expect(json.data).toMatchObject({
      run: { status: "interrupted", ended: "removed", reason: "enough", repos: [{ head: tip }] },
      task: { status: "active" },
      repos: [{ repo: "my project", worktree: "removed", branch: "deleted" }],
    });
    const { saved } = json.data.repos[0];
    expect(project.git("rev-parse", "refs/pawl/snapshots/T0001/R1")).toBe(saved);
    expect(project.git("show", `${saved}:loose.txt`)).toBe("not committed");
    expect(project.git("merge-base", "--is-ancestor", tip, saved)).toBe("");
    expect(json.warnings.join("\n")).toContain("pawl diff T0001");
    expect(json.next.command).toBe("pawl start T0001 --restore R1");
    expect(project.git("for-each-ref", "refs/heads")).not.toContain("task/");
    expect(project.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
    expect(existsSync(join(project.path, ".worktrees"))).toBe(false);
    expect(existsSync(join(project.path, ".git/worktrees"))).toBe(false);
    const grants = join(project.path, ".git/pawl/grants");
    for (const kind of ["worktree", "update"])
      expect(existsSync(join(grants, kind, "refs/heads", BRANCH))).toBe(false);
    const diff = await project.pawl("diff", "T1");
    expect(diff.out).toContain("+not committed");
    // A later start begins anew, and says where the old work is.
    const again = await project.pawl("start", "T1", "--json");
    expect(again.json.data.run.id).toBe("T0001/R2");
    expect(again.json.warnings.join("\n")).toContain(saved.slice(0, 12));
    expect(existsSync(join(placeOf(project), "work.txt"))).toBe(false);
  });

  test("a merged task becomes done, without a snapshot", async ({ project }) => {
    await start(project);
    const tip = commitWork(project);
    project.git("merge", "-q", "--no-ff", "-m", "Merge", BRANCH);
    setStatus(project, "merged");
    const { json } = await finish(project, "--remove");
    expect(json.data).toMatchObject({
      run: { status: "succeeded", ended: "removed", snapshots: [], repos: [{ head: tip }] },
      task: { status: "done" },
      repos: [{ worktree: "removed", branch: "deleted" }],
    });
    expect(json.next).toBeUndefined();
    expect(project.git("for-each-ref", "refs/pawl")).toBe("");
  });

  test("commits after the merge are not merged: refused under that reason, else saved, with the way back", {
    tags: ["proof"],
  }, async ({ project }) => {
    await start(project);
    commitWork(project);
    project.git("merge", "-q", "--no-ff", "-m", "Merge", BRANCH);
    setStatus(project, "merged");
    const late = commitWork(project, "late.txt");
    for (const argv of [[], ["--remove", "--reason", "merged"], ["--keep", "--reason", "Merged"]])
      for (const dry of argv[0] === "--keep" ? [[]] : [[], ["--dry-run"]]) {
        const { json } = await project.pawl("finish", "T1", "--json", ...argv, ...dry);
        expect(json.error).toMatchObject({
          code: "unmerged_commits",
          message: `1 commit of ${BRANCH} is not in main.`,
          hint: expect.stringContaining("pawl finish T0001 --remove --reason"),
        });
      }
    expectUntouched(project, late);
    const { json } = await finish(project, "--remove");
    expect(json.data).toMatchObject({ task: { status: "done" }, repos: [{ branch: "deleted" }] });
    const said = json.warnings.join("\n");
    expect(said).toContain(`1 commit of ${BRANCH} is not in main, but saved.`);
    const [, back = ""] = /To bring the branch back: git (.*)/.exec(said) ?? [];
    project.git(...back.split(" "));
    expect(project.git("rev-parse", BRANCH)).toBe(late);
  });

  test("what the remote's base has is merged too", async ({ project }) => {
    await start(project);
    project.git("update-ref", "refs/remotes/origin/main", commitWork(project));
    const { json } = await finish(project, "--remove");
    expect(json.data).toMatchObject({ run: { snapshots: [] }, repos: [{ branch: "deleted" }] });
  });

  test("a merged branch with loose files is saved all the same", async ({ project }) => {
    await start(project);
    writeFileSync(join(placeOf(project), "loose.txt"), "not committed\n");
    const { json } = await finish(project, "--remove");
    expect(project.git("show", `${json.data.repos[0].saved}:loose.txt`)).toBe("not committed");
  });

  test("finds changes that git was told not to look at", async ({ project }) => {
    await start(project);
    gitIn(project, placeOf(project), "update-index", "--assume-unchanged", "README.md");
    writeFileSync(join(placeOf(project), "README.md"), "changed behind git's back\n");
    const { json } = await finish(project, "--remove");
    expect(project.git("show", `${json.data.repos[0].saved}:README.md`)).toBe("changed behind git's back");
  });

  test("a branch that somebody has checked out elsewhere is kept, and so told", async ({ project }) => {
    await start(project);
    const elsewhere = join(dirname(project.path), "elsewhere");
    project.git("worktree", "add", "-q", "--force", elsewhere, BRANCH);
    const { json } = await finish(project, "--remove");
    expect(json.data.repos).toMatchObject([{ worktree: "removed", branch: "kept" }]);
    expect(json.warnings.join("\n")).toContain(`${BRANCH} of my project was kept`);
    expect(gitIn(project, elsewhere, "status", "--porcelain")).toBe("");
  });

  test("a worktree that was deleted by hand is forgotten; its branch is saved", async ({ project }) => {
    await start(project);
    const tip = commitWork(project);
    rmSync(placeOf(project), { recursive: true });
    const { json } = await finish(project, "--remove");
    expect(json.data.repos).toMatchObject([{ worktree: "gone", branch: "deleted" }]);
    expect(project.git("merge-base", "--is-ancestor", tip, "refs/pawl/snapshots/T0001/R1")).toBe("");
    expect(existsSync(join(project.path, ".git/worktrees"))).toBe(false);
  });

  test("an adopted worktree is only let go", async ({ project }) => {
    const agents = join(project.path, ".claude/worktrees/quick");
    project.git("worktree", "add", "-q", "-b", "agent-branch", agents);
    writeFileSync(join(agents, "loose.txt"), "not committed\n");
    await project.pawl("task", "new", "Make it faster");
    expect((await project.pawlIn(agents, {}, "start", "T1", "--here")).code).toBe(0);
    const { json } = await project.pawlIn(agents, {}, "finish", "--remove", "--reason", "enough", "--json");
    expect(json.data).toMatchObject({
      run: { ended: "removed" },
      repos: [{ worktree: "left", branch: "kept", path: agents }],
    });
    expect(json.warnings.join("\n")).toContain("was left as it is");
    expect(gitIn(project, agents, "status", "--porcelain")).toBe("?? loose.txt");
    expect(project.git("worktree", "list", "--porcelain")).not.toContain("locked");
    expect(existsSync(join(project.path, ".git/worktrees/quick/pawl-task"))).toBe(false);
  });

  test("ignored files go with the worktree, and are counted", async ({ project }) => {
    project.commit(".gitignore", "*.log\n");
    await start(project);
    writeFileSync(join(placeOf(project), "a.log"), "noise\n");
    const { json, err } = await finish(project, "--remove");
    expect(err).toContain("1 ignored file will be removed with the worktree");
    expect(json.warnings.join("\n")).toContain("1 ignored file removed");
  });

  test("two repositories: both or none", { tags: ["proof"] }, async ({ project }) => {
    const api = openProject(makeRepository(dirname(project.path), "api"));
    await project.pawl("repo", "add", api.path);
    await start(project, "--repo", "my project", "--repo", "api");
    const [tip] = [commitWork(project), commitWork(api)];
    mkdirSync(join(placeOf(api), "nested"));
    gitIn(api, join(placeOf(api), "nested"), "init", "-q");
    writeFileSync(join(placeOf(api), "nested/file"), "in a repository of its own\n");
    gitIn(api, join(placeOf(api), "nested"), "add", "-A");
    gitIn(api, join(placeOf(api), "nested"), "commit", "-q", "-m", "nested");
    const refused = await finish(project, "--remove");
    expect(refused.json.error).toMatchObject({ code: "snapshot_incomplete", details: { repo: "api" } });
    expectUntouched(project, tip);
    rmSync(join(placeOf(api), "nested"), { recursive: true });
    const { json } = await finish(project, "--remove");
    expect(json.data.repos).toMatchObject([
      { repo: "my project", worktree: "removed", branch: "deleted" },
      { repo: "api", worktree: "removed", branch: "deleted" },
    ]);
  });

  test("saved work is brought back by the next command, and no list offers to resume it", async ({
    project,
  }) => {
    await start(project);
    commitWork(project);
    const { json } = await finish(project, "--remove");
    expect(json.next.command).toBe("pawl start T0001 --restore R1");
    const listed = await project.pawl("run", "list", "--json");
    expect(listed.json.data.runs).toMatchObject([{ id: "T0001/R1", state: "removed" }]);
    expect(listed.json.next).toEqual(expect.objectContaining({ command: "pawl start T0001 --restore R1" }));
    expect((await project.pawl("start", "T1", "--restore", "R1")).code).toBe(0);
  });

  test("--dry-run says what would be done", async ({ project }) => {
    await start(project);
    const tip = commitWork(project);
    const { json } = await finish(project, "--remove", "--dry-run");
    expect(json.planned.map((one: { do: string }) => one.do)).toEqual(["save", "remove", "delete branch"]);
    expectUntouched(project, tip);
  });
});

describe("--keep", () => {
  test("leaves everything, and says why in git's own lock; --claim resumes the work", async ({ project }) => {
    await start(project);
    const tip = commitWork(project);
    const { json } = await project.pawl("finish", "T1", "--keep", "--reason", "waiting\nfor Bob", "--json");
    expect(json.data).toMatchObject({
      run: { ended: "kept", status: "kept", repos: [{ head: tip }] },
      repos: [{ worktree: "kept", branch: "kept", path: placeOf(project) }],
    });
    expect((await project.pawl("run", "list")).out).toMatch(/T0001\/R1 +kept \(pending merge\)/);
    expect(project.git("worktree", "list", "--porcelain")).toContain(
      "locked pawl T0001 kept: waiting for Bob",
    );
    expect((await project.pawlIn(placeOf(project), {}, "task", "show", "--json")).json.data.task.id).toBe(
      "T0001",
    );
    const refused = await project.pawl("start", "T1", "--json");
    expect(refused.json.error).toMatchObject({ code: "branch_exists" });
    const claimed = await project.pawl("start", "T1", "--claim", "--json");
    expect(claimed.json.data.run).toMatchObject({ id: "T0001/R1", status: "running" });
    expect(claimed.json.data.run.ended).toBeUndefined();
    expect(project.git("worktree", "list", "--porcelain")).toMatch(/locked pawl T0001$/m);
  });

  test("an adopted worktree gets its own state back", async ({ project }) => {
    project.git("switch", "-q", "-c", "mine");
    await project.pawl("task", "new", "Make it faster", "--base", "main");
    await project.pawl("start", "T1", "--here");
    expect((await finish(project, "--keep")).json.data.repos).toMatchObject([{ worktree: "left" }]);
    expect(existsSync(join(project.path, ".git/pawl-task"))).toBe(false);
    expect(existsSync(join(project.path, ".git/pawl/grants/worktree/refs/heads/mine"))).toBe(false);
  });

  test("what was kept can be removed later", async ({ project }) => {
    await start(project);
    await finish(project, "--keep");
    expect((await finish(project, "--remove")).json.data).toMatchObject({ run: { ended: "removed" } });
  });
});

/** Everything that forbids a removal. */
const REFUSALS: {
  code: string;
  exit: number;
  hint: RegExp;
  cwd?: (project: Project) => string;
  argv?: string[];
  prepare(project: Project): void | Promise<void>;
}[] = [
  { code: "keep_or_remove", exit: 3, hint: /--remove/, argv: [], prepare: () => {} },
  { code: "keep_or_remove", exit: 3, hint: /--remove/, argv: ["--keep", "--remove"], prepare: () => {} },
  { code: "standing_in_it", exit: 1, hint: /^cd '.*my project'$/, cwd: placeOf, prepare: () => {} },
  {
    code: "worktree_busy",
    exit: 1,
    hint: /git -C/,
    prepare(p) {
      p.commit("README.md", "# Other\n");
      commitWork(p, "README.md", "# Mine\n");
      expect(() => gitIn(p, placeOf(p), "merge", "main")).toThrow();
    },
  },
  {
    code: "worktree_busy",
    exit: 1,
    hint: /git -C/,
    prepare: (p) => void gitIn(p, placeOf(p), "bisect", "start"),
  },
  {
    code: "other_branch",
    exit: 1,
    hint: /switch task/,
    prepare: (p) => void gitIn(p, placeOf(p), "switch", "-q", "-c", "another"),
  },
  {
    code: "other_branch",
    exit: 1,
    hint: /switch task/,
    prepare: (p) => void gitIn(p, placeOf(p), "switch", "-q", "--detach"),
  },
  {
    code: "worktree_locked",
    exit: 1,
    hint: /git worktree unlock/,
    prepare(p) {
      p.git("worktree", "unlock", placeOf(p));
      p.git("worktree", "lock", "--reason", "on a stick", placeOf(p));
    },
  },
  {
    code: "submodules_inside",
    exit: 1,
    hint: /submodule deinit/,
    prepare(p) {
      const other = makeRepository(dirname(p.path), "other");
      const args = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", other.path, "sub"];
      gitIn(p, placeOf(p), ...args);
      gitIn(p, placeOf(p), "commit", "-q", "-m", "Add a submodule");
    },
  },
  {
    code: "other_clone",
    exit: 5,
    hint: /pawl sync/,
    prepare(p) {
      const file = join(stateOf(p), "tasks/T0001/runs/R1/run.md");
      writeFileSync(file, readFileSync(file, "utf8").replace(/^clone: .*$/m, 'clone: "ffffffff"'));
    },
  },
  {
    code: "holder_alive",
    exit: 1,
    hint: /silent/,
    argv: ["--remove", "--actor", "agent:codex"],
    prepare: () => {},
  },
];

describe("refusals come before anything changes", () => {
  for (const [index, refusal] of REFUSALS.entries())
    test(`${refusal.code} (${index + 1})`, async ({ project }) => {
      await start(project);
      writeFileSync(join(placeOf(project), "loose.txt"), "not committed\n");
      await refusal.prepare(project);
      const tip = project.git("rev-parse", BRANCH);
      const before = project.git("worktree", "list", "--porcelain");
      const argv = ["finish", "T1", "--reason", "x", "--json", ...(refusal.argv ?? ["--remove"])];
      const { code, json } = await project.pawlIn(refusal.cwd?.(project) ?? project.path, {}, ...argv);
      expect(json.error).toMatchObject({ code: refusal.code, hint: expect.stringMatching(refusal.hint) });
      expect(code).toBe(refusal.exit);
      expectUntouched(project, tip);
      expect(project.git("worktree", "list", "--porcelain")).toBe(before);
    });

  test("a program that runs there", async ({ project }) => {
    await start(project);
    const child: ChildProcess = spawn("sleep", ["60"], { cwd: placeOf(project) });
    try {
      const { json } = await finish(project, "--remove");
      expect(json.error).toMatchObject({
        code: "worktree_busy",
        hint: 'Stop it or move it elsewhere, then: pawl finish T0001 --remove --reason "…"',
        details: { processes: [`sleep (pid ${child.pid})`] },
      });
    } finally {
      child.kill();
    }
  });

  test("a run that is over, or was never begun", async ({ project }) => {
    await project.pawl("task", "new", "Make it faster");
    expect((await finish(project, "--remove")).json.error.code).toBe("no_run");
    await project.pawl("start", "T1");
    await finish(project, "--remove");
    expect((await finish(project, "--remove")).json.error.code).toBe("no_run");
  });
});

test("the log tells what was about to be done, and what was", async ({ project }) => {
  await start(project);
  await finish(project, "--remove");
  const events = (await project.pawl("log", "--json")).json.data.events as {
    event: string;
    phase?: string;
  }[];
  const phases = (name: string) => events.filter((one) => one.event === name).map((one) => one.phase);
  expect(new Set(phases("start"))).toEqual(new Set(["before", "after"]));
  expect(new Set(phases("finish"))).toEqual(new Set(["before", "after"]));
});

test("the list of worktrees says whose each is, what is uncommitted there and how far it is from its base", async ({
  project,
}) => {
  const list = async () => (await project.pawl("worktree", "list", "--json")).json;
  expect((await project.pawl("worktree", "list")).out).toBe("no worktrees\n");
  await start(project);
  project.git("worktree", "add", "-q", "-b", "mine", "../my own");
  const holder = (await project.pawl("task", "show", "T1", "--json")).json.data.runs[0].holder;
  const task = { task: "T0001", run: "T0001/R1", branch: BRANCH, base_branch: "main", holder };
  const mine = { task: null, run: null, branch: "mine", holder: null, files: "clean", ahead: null };
  expect((await list()).data.worktrees).toMatchObject([
    { ...task, state: "held", files: "clean", ahead: 0, behind: 0, path: placeOf(project) },
    mine,
  ]);
  commitWork(project);
  writeFileSync(join(placeOf(project), "more.txt"), "more\n");
  project.commit("base.txt", "moved on\n");
  await project.pawl("finish", "T1", "--keep", "--reason", "later");
  expect((await list()).data.worktrees).toMatchObject([
    { ...task, state: "kept", files: "dirty", ahead: 1, behind: 1 },
    mine,
  ]);
  expect((await project.pawl("worktree", "list")).out).toMatch(
    /T0001\/R1 +kept .* dirty +1 commit ahead, 1 behind main/,
  );
  rmSync(placeOf(project), { recursive: true });
  const gone = await list();
  expect(gone.data.worktrees).toMatchObject([{ ...task, state: "kept", files: "gone" }, mine]);
  expect(gone.next.command).toBe("pawl start T0001 --claim");
});
