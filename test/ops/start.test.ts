import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, type Result, test } from "../helpers/command-line.ts";
import { makeRepository, stateOf } from "../helpers/temporary-repository.ts";

const BRANCH = "task/T0001-make-it-faster";
const WORKTREE = ".worktrees/T0001-make-it-faster";
const placeOf = (project: Project) => join(project.path, WORKTREE);

async function newTask(project: Project, ...more: string[]): Promise<void> {
  expect((await project.pawl("task", "new", "Make it faster", ...more)).code).toBe(0);
}

async function started(project: Project, ...argv: string[]): Promise<Result> {
  const result = await project.pawl("start", "T1", "--json", ...argv);
  expect(result.json).toMatchObject({ ok: true });
  return result;
}

/** Everything of a repository that a refused start must leave as it was. */
function picture(project: Project): string {
  return [
    project.git("for-each-ref"),
    project.git("worktree", "list", "--porcelain"),
    project.git("status", "--porcelain", "--ignored"),
    existsSync(join(project.path, ".git/worktrees")),
    existsSync(join(project.path, ".worktrees")),
  ].join("\n");
}

const gitIn = (project: Project, cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: project.env, encoding: "utf8", stdio: "pipe" }).trim();

/** A second repository beside the project, linked to its state. */
async function linkSecond(project: Project, name = "api"): Promise<Project> {
  const second = openProject(makeRepository(dirname(project.path), name));
  expect((await project.pawl("repo", "add", second.path)).code).toBe(0);
  return second;
}

test("another worktree that git is writing at that moment delays a start, and does not fail it", async ({
  project,
}) => {
  await newTask(project);
  const entry = join(project.path, ".git/worktrees/another");
  mkdirSync(entry, { recursive: true });
  writeFileSync(join(entry, "gitdir"), `${join(project.path, "../another/.git")}\n`);
  writeFileSync(join(entry, "HEAD"), "ref: refs/heads/another\n");
  writeFileSync(join(entry, "commondir"), "");
  expect(() => project.git("worktree", "list")).toThrow(/failed to read .*commondir/);
  const written = setTimeout(() => rmSync(entry, { recursive: true }), 400);
  await started(project);
  clearTimeout(written);
  expect(existsSync(entry), "it was waited for").toBe(false);
});

describe("a start", () => {
  test("makes the branch at the tip of the base, and a locked worktree that is bound to the task", async ({
    project,
  }) => {
    await newTask(project);
    const base = project.git("rev-parse", "main");
    const { json } = await started(project);
    expect(json.data.run).toMatchObject({
      id: "T0001/R1",
      status: "running",
      holder: "human:Ada",
      repos: [
        { name: "my project", worktree: WORKTREE, branch: BRANCH, base_branch: "main", base_head: base },
      ],
    });
    expect(json.data.task).toMatchObject({ status: "active", branch: BRANCH });
    expect(json.data.worktrees).toEqual([{ repo: "my project", path: placeOf(project) }]);
    expect(project.git("rev-parse", BRANCH)).toBe(base);
    expect(project.git("worktree", "list", "--porcelain")).toContain(
      `worktree ${placeOf(project)}\nHEAD ${base}\nbranch refs/heads/${BRANCH}\nlocked pawl T0001`,
    );
    expect(readFileSync(join(project.path, ".git/worktrees/T0001-make-it-faster/pawl-task"), "utf8")).toBe(
      "T0001\n",
    );
    const grants = join(project.path, ".git/pawl/grants");
    expect(readFileSync(join(grants, "worktree/refs/heads", BRANCH), "utf8")).toBe(
      "worktrees/T0001-make-it-faster\n",
    );
    expect(existsSync(join(grants, "update/refs/heads", BRANCH))).toBe(false);
    const inside = await project.pawlIn(placeOf(project), {}, "task", "show", "--json");
    expect(inside.json.data.task.id).toBe("T0001");
    // The records name no folder of this machine.
    expect(project.read("tasks/T0001/runs/R1/run.md")).not.toContain(project.path);
    expect(project.git("reflog", "show", BRANCH)).toContain("pawl: T0001 started");
  });

  test("shows nothing of itself in the project's git status, and leaves no side folder", async ({
    project,
  }) => {
    await newTask(project);
    await started(project);
    expect(project.git("status", "--porcelain", "-uall")).toBe("");
    expect(existsSync(join(project.path, ".worktrees/.new"))).toBe(false);
    expect(gitIn(project, placeOf(project), "status", "--porcelain", "--ignored")).toBe("");
    const exclude = readFileSync(join(project.path, ".git/info/exclude"), "utf8");
    expect(exclude.split("\n").filter((line) => line === "/.worktrees/")).toHaveLength(1);
  });

  test("hides only its own place in a folder that was there before", async ({ project }) => {
    project.write(".work/mine.txt", "untracked\n");
    project.write(".pawl/config.yaml", 'worktree: ".work/{id}"\n');
    await newTask(project);
    await started(project);
    expect(project.git("status", "--porcelain", "-uall")).toBe("?? .pawl/config.yaml\n?? .work/mine.txt");
  });

  test("by the same actor answers with the run there is; by another one it is refused", async ({
    project,
  }) => {
    await newTask(project);
    await started(project);
    const again = await started(project);
    expect(again.json.data.run).toMatchObject({ id: "T0001/R1", rev: 2 });
    const other = await project.pawl("start", "T1", "--actor", "agent:codex", "--json");
    expect(other.code).toBe(5);
    expect(other.json.error).toMatchObject({
      code: "task_active_elsewhere",
      hint: expect.stringContaining("pawl start T0001 --claim"),
      details: { run: "T0001/R1", holder: "human:Ada", worktrees: [WORKTREE] },
    });
  });

  test("of a title that is refused leaves no task behind", async ({ project }) => {
    project.write(".pawl/lock.json", "{}\n");
    const start = (...flags: string[]) => project.pawl("start", "Make it faster", "--json", ...flags);
    for (const [code, ...flags] of [
      ["surfaces_not_in_base"],
      ["surfaces_not_in_base", "--dry-run"],
      ["nothing_to_take_over", "--claim"],
      ["nothing_to_take_over", "--restore", "R1"],
      ["here_and_claim", "--here", "--claim"],
    ] as [string, ...string[]][])
      expect((await start(...flags)).json.error.code, flags.join(" ")).toBe(code);
    rmSync(join(project.path, ".pawl/lock.json"));
    expect((await project.pawl("task", "list", "--json")).json.data.tasks).toEqual([]);
    expect((await start()).json.data.task.id).toBe("T0001");
  });

  test("--dry-run says what would be made, and makes nothing", async ({ project }) => {
    await newTask(project);
    const before = picture(project);
    const { json } = await project.pawl("start", "T1", "--dry-run", "--json");
    expect(json.planned).toEqual([
      { do: "make branch", path: expect.stringContaining(`${BRANCH} of my project at `) },
      { do: "add worktree", path: placeOf(project) },
    ]);
    expect(picture(project)).toBe(before);
    project.git("branch", BRANCH);
    expect((await project.pawl("start", "T1", "--dry-run", "--json")).json.error.code).toBe("branch_exists");
  });

  test("works in a bare repository with worktrees around it", async ({ project }) => {
    const bare = join(dirname(project.path), "bare one");
    mkdirSync(bare);
    gitIn(project, bare, "clone", "-q", "--bare", project.path, ".bare");
    writeFileSync(join(bare, ".git"), "gitdir: ./.bare\n");
    gitIn(project, bare, "worktree", "add", "-q", "main", "main");
    await project.pawlIn(join(bare, "main"), {}, "task", "new", "Make it faster");
    const { json } = await project.pawlIn(join(bare, "main"), {}, "start", "T1", "--json");
    expect(json.data.worktrees).toEqual([{ repo: "bare one", path: join(bare, WORKTREE) }]);
    expect(json.data.run.repos[0].worktree).toBe(`../${WORKTREE}`);
    expect(existsSync(join(bare, WORKTREE, "README.md"))).toBe(true);
    expect((await project.pawlIn(join(bare, WORKTREE), {}, "task", "show", "--json")).json.data.task.id).toBe(
      "T0001",
    );
    const end = await project.pawlIn(
      join(bare, "main"),
      {},
      "finish",
      "T1",
      "--remove",
      "--reason",
      "x",
      "--json",
    );
    expect(end.json).toMatchObject({
      ok: true,
      data: { repos: [{ worktree: "removed", branch: "deleted" }] },
    });
    expect(existsSync(join(bare, WORKTREE))).toBe(false);
  });
});

describe("which task", () => {
  test("the only one that is ready is named in the hint, and started only when it is asked for", async ({
    project,
  }) => {
    await newTask(project);
    const { json, code } = await project.pawl("start", "--json");
    expect(code).toBe(1);
    expect(json.error).toMatchObject({ code: "which_task", hint: "pawl start T0001" });
    await project.pawl("task", "new", "Another");
    expect((await project.pawl("start", "--json")).json.error.details.candidates).toEqual(["T0001", "T0002"]);
  });

  test("a task that waits for another, is over, or is archived is not started", async ({ project }) => {
    await newTask(project);
    await project.pawl("task", "new", "Later", "--depends", "T1");
    const refusal = async () => (await project.pawl("start", "T2", "--json")).json.error;
    expect(await refusal()).toMatchObject({ code: "dependency_open", details: { open: ["T0001"] } });
    await project.pawl("task", "update", "T2", "--depends", "");
    await project.pawl("task", "update", "T2", "--status", "dropped");
    expect(await refusal()).toMatchObject({
      code: "bad_transition",
      hint: "pawl task update T0002 --status open",
    });
    await project.pawl("task", "archive", "T2");
    expect(await refusal()).toMatchObject({ code: "bad_transition", hint: "pawl task archive T0002 --undo" });
  });
});

/** The branch was there when the task was made to start at it. */
async function vanishedBase(project: Project): Promise<void> {
  project.git("branch", "develop");
  await project.pawl("task", "update", "T1", "--base", "develop");
  project.git("branch", "-D", "develop");
}

/** Everything that can stand in the way, provoked on a real repository. */
const CONFLICTS: {
  code: string;
  exit: number;
  hint: RegExp;
  argv?: string[];
  prepare(project: Project): void | Promise<void>;
}[] = [
  {
    code: "branch_exists",
    exit: 5,
    hint: /git branch -m task/,
    prepare: (p) => void p.git("branch", BRANCH),
  },
  {
    code: "branch_exists",
    exit: 5,
    hint: /elsewhere.*pawl start T0001 --here/,
    prepare: (p) => void p.git("worktree", "add", "-q", "-b", BRANCH, "../elsewhere"),
  },
  {
    code: "branch_name_taken",
    exit: 5,
    hint: /git branch -m task /,
    prepare: (p) => void p.git("branch", "task"),
  },
  {
    code: "branch_name_taken",
    exit: 5,
    hint: /config\.yaml/,
    prepare: (p) => void p.git("branch", `${BRANCH}/part`),
  },
  {
    code: "path_exists",
    exit: 5,
    hint: /Move it away/,
    prepare: (p) => p.write(`${WORKTREE}/mine.txt`, "mine\n"),
  },
  {
    code: "path_exists",
    exit: 5,
    hint: /git worktree prune/,
    prepare(p) {
      p.git("worktree", "add", "-q", "-b", "other", WORKTREE);
      rmSync(placeOf(p), { recursive: true });
    },
  },
  {
    code: "base_branch_missing",
    exit: 4,
    hint: /pawl task update T0001 --base/,
    prepare: vanishedBase,
  },
  {
    code: "base_branch_missing",
    exit: 4,
    hint: /^git branch develop origin\/develop$/,
    async prepare(p) {
      p.git("update-ref", "refs/remotes/origin/develop", "HEAD");
      await vanishedBase(p);
    },
  },
  {
    code: "detached",
    exit: 1,
    hint: /git switch -c/,
    argv: ["--here"],
    prepare: (p) => void p.git("switch", "-q", "--detach"),
  },
  { code: "on_protected_branch", exit: 1, hint: /leave out --here/, argv: ["--here"], prepare: () => {} },
  {
    code: "on_protected_branch",
    exit: 1,
    hint: /git switch -c/,
    argv: ["--here"],
    prepare(p) {
      p.write(".pawl/config.yaml", 'protected: ["release/*"]\n');
      p.git("switch", "-q", "-c", "release/1");
    },
  },
  {
    code: "on_protected_branch",
    exit: 1,
    hint: /git switch -c/,
    argv: ["--here"],
    prepare(p) {
      p.git("switch", "-q", "-c", "trunk");
      p.git("update-ref", "refs/remotes/origin/trunk", "HEAD");
      p.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    },
  },
  {
    code: "on_base_branch",
    exit: 1,
    hint: /git switch -c/,
    argv: ["--here"],
    async prepare(p) {
      p.git("switch", "-q", "-c", "develop");
      await p.pawl("task", "update", "T1", "--base", "develop");
    },
  },
  {
    code: "no_common_base",
    exit: 1,
    hint: /--base/,
    argv: ["--here"],
    prepare(p) {
      p.git("switch", "-q", "--orphan", "apart");
      p.git("commit", "-q", "--allow-empty", "-m", "apart");
    },
  },
  {
    code: "worktree_bound",
    exit: 5,
    hint: /pawl finish T0002/,
    argv: ["--here"],
    async prepare(p) {
      await p.pawl("task", "new", "Another");
      p.git("switch", "-q", "-c", "mine");
      expect((await p.pawl("start", "T2", "--here")).code).toBe(0);
    },
  },
  {
    code: "repository_not_in_task",
    exit: 1,
    hint: /api/,
    argv: ["--here"],
    async prepare(p) {
      await linkSecond(p);
      writeFileSync(
        join(stateOf(p), "tasks/T0001/task.md"),
        p.read("tasks/T0001/task.md").replace("- my project", "- api"),
      );
    },
  },
  {
    code: "no_repository",
    exit: 4,
    hint: /pawl repo add <path> --name web/,
    prepare: (p) =>
      writeFileSync(
        join(stateOf(p), "tasks/T0001/task.md"),
        p.read("tasks/T0001/task.md").replace("- my project", "- web"),
      ),
  },
  {
    code: "surfaces_not_in_base",
    exit: 1,
    hint: /Where main is checked out, in a terminal: pawl install --commit/,
    prepare: (p) => p.write(".pawl/lock.json", "{}\n"),
  },
  {
    code: "unsupported_repository",
    exit: 2,
    hint: /in files and in reftables/,
    prepare: (p) => appendFileSync(join(p.path, ".git/config"), "[extensions]\n\trefStorage = stones\n"),
  },
  {
    code: "bad_template",
    exit: 3,
    hint: /task\/\{id\}-\{slug\}/,
    prepare: (p) => p.write(".pawl/config.yaml", 'branch: "a b/{id}"\n'),
  },
  { code: "here_and_claim", exit: 3, hint: /--claim/, argv: ["--here", "--claim"], prepare: () => {} },
  { code: "no_run", exit: 1, hint: /pawl start T0001/, argv: ["--claim"], prepare: () => {} },
];

describe("conflicts are found before anything changes", () => {
  for (const [index, conflict] of CONFLICTS.entries())
    test(`${conflict.code} (${index + 1})`, async ({ project }) => {
      await newTask(project, "--base", "main");
      await conflict.prepare(project);
      const readable = conflict.code !== "unsupported_repository";
      const before = readable && picture(project);
      const { code, json } = await project.pawl("start", "T1", "--json", ...(conflict.argv ?? []));
      expect(json.error).toMatchObject({ code: conflict.code, hint: expect.stringMatching(conflict.hint) });
      expect(code).toBe(conflict.exit);
      if (readable) expect(picture(project)).toBe(before);
      expect(existsSync(join(stateOf(project), "tasks/T0001/runs"))).toBe(false);
    });

  test("unborn", async ({ project }) => {
    const empty = join(dirname(project.path), "empty one");
    gitIn(project, project.path, "init", "-q", "-b", "main", empty);
    await project.pawlIn(empty, {}, "task", "new", "Begin");
    const { json } = await project.pawlIn(empty, {}, "start", "T1", "--json");
    expect(json.error).toMatchObject({ code: "unborn", hint: expect.stringContaining("git commit") });
  });
});

describe("several repositories", () => {
  test("each gets its branch and worktree, from its own base", async ({ project }) => {
    const api = openProject(makeRepository(dirname(project.path), "api"));
    api.git("branch", "-m", "main", "trunk");
    await project.pawl("repo", "add", api.path, "--base", "trunk");
    await newTask(project, "--repo", "my project", "--repo", "api");
    const { json } = await started(project);
    expect(json.data.run.repos).toMatchObject([
      { name: "my project", base_branch: "main" },
      { name: "api", base_branch: "trunk", worktree: WORKTREE },
    ]);
    expect(json.data.worktrees.map((one: { path: string }) => one.path)).toEqual([
      placeOf(project),
      placeOf(api),
    ]);
    expect(api.git("status", "--porcelain", "-uall")).toBe("");
    const there = await project.pawlIn(placeOf(api), {}, "task", "show", "--json");
    expect(there.json.data.task.id).toBe("T0001");
    // From the other repository it is the same run, not one of another clone.
    const again = await project.pawlIn(api.path, {}, "start", "T1", "--json");
    expect(again.json.data.run.id).toBe("T0001/R1");
  });

  test("all conflicts of all repositories are reported at once", async ({ project }) => {
    const api = await linkSecond(project);
    await newTask(project, "--repo", "my project", "--repo", "api");
    project.git("branch", BRANCH);
    api.write(`${WORKTREE}/mine.txt`, "mine\n");
    const { error } = (await project.pawl("start", "T1", "--json")).json;
    expect(error.code).toBe("branch_exists");
    expect(error.details.conflicts.map((one: { code: string }) => one.code)).toEqual([
      "branch_exists",
      "path_exists",
    ]);
  });

  test("a failure in the second takes back the first, and the record says why", async ({ project }) => {
    const api = await linkSecond(project);
    await newTask(project, "--repo", "my project", "--repo", "api");
    project.write("mine.txt", "untracked\n");
    // Nothing that could be found before: a file that cannot be checked out.
    api.write(".gitattributes", "*.bin filter=broken\n");
    api.git("config", "filter.broken.smudge", "false");
    api.git("config", "filter.broken.required", "true");
    api.git("config", "filter.broken.clean", "cat");
    api.commit("a.bin", "data\n");
    const before = [picture(project), picture(api)];
    const { code, json } = await project.pawl("start", "T1", "--json");
    expect(json.error).toMatchObject({ code: "git_failed", message: expect.stringContaining("api") });
    expect(code).toBe(2);
    expect([picture(project), picture(api)]).toEqual(before);
    const run = project.read("tasks/T0001/runs/R1/run.md");
    expect(run).toContain("status: failed\n");
    expect(run).toContain("ended: removed\n");
    expect(run).toMatch(/reason: .*external filter 'false'/);
    expect(project.read("tasks/T0001/task.md")).toContain("status: open\n");
    api.git("config", "filter.broken.smudge", "cat");
    expect((await started(project)).json.data.run.id).toBe("T0001/R2");
  });
});

describe(".worktreeinclude", () => {
  test("copies untracked, ignored files as they are, and nothing else", async ({ project }) => {
    project.write(".gitignore", ".env*\nsecrets/\nlink\nbuild/\n");
    project.write(".worktreeinclude", ".env\nsecrets/\nlink\nnotes.txt\nREADME.md\n.pawl/\n.worktrees/\n");
    project.git("add", ".gitignore", ".worktreeinclude");
    project.git("commit", "-q", "-m", "Ignore");
    project.write(".env", "KEY=1\n");
    project.write(".env.local", "not named\n");
    project.write("notes.txt", "named, but not ignored\n");
    project.write("secrets/deep/key file", "secret\n");
    project.write("build/out", "not named\n");
    chmodSync(join(project.path, "secrets/deep/key file"), 0o600);
    symlinkSync(".env", join(project.path, "link"));
    await newTask(project);
    await started(project);
    const there = placeOf(project);
    expect(readFileSync(join(there, ".env"), "utf8")).toBe("KEY=1\n");
    expect(lstatSync(join(there, "secrets/deep/key file")).mode & 0o777).toBe(0o600);
    expect(readlinkSync(join(there, "link"))).toBe(".env");
    for (const path of [".env.local", "notes.txt", "build", ".pawl", ".worktrees"])
      expect(existsSync(join(there, path)), path).toBe(false);
    expect(gitIn(project, there, "status", "--porcelain")).toBe("");
    // A second worktree does not get the first one's copies.
    await project.pawl("task", "new", "Second");
    expect((await project.pawl("start", "T2")).code).toBe(0);
    expect(existsSync(join(project.path, ".worktrees/T0002-second/.worktrees"))).toBe(false);
  });

  test("does not follow a link out of the worktree", async ({ project }) => {
    project.write(".gitignore", "out/key\n");
    project.write(".worktreeinclude", "out/key\n");
    const outside = join(dirname(project.path), "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(project.path, "out"));
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "A link");
    rmSync(join(project.path, "out"));
    project.write("out/key", "secret\n");
    await newTask(project);
    const { json } = await started(project);
    expect(existsSync(join(outside, "key"))).toBe(false);
    expect(json.warnings).toEqual([
      // The folder that took the link's place is not committed.
      expect.stringContaining("has uncommitted changes"),
      expect.stringContaining("out/key"),
    ]);
  });
});

describe("hooks", () => {
  test("the user's post-checkout hook runs in the final place; its failure is only told", async ({
    project,
  }) => {
    const log = join(dirname(project.path), "hook log");
    mkdirSync(join(project.path, ".git/hooks"), { recursive: true });
    const hook = join(project.path, ".git/hooks/post-checkout");
    writeFileSync(hook, `#!/bin/sh\necho "$PWD $1 $3" >> '${log}'\necho no luck >&2\nexit 3\n`, {
      mode: 0o755,
    });
    await newTask(project);
    const { json } = await started(project);
    expect(readFileSync(log, "utf8")).toBe(`${placeOf(project)} ${"0".repeat(40)} 1\n`);
    expect(json.warnings).toEqual([
      expect.stringMatching(/post-checkout hook of my project failed \(3\).*no luck/),
    ]);
    expect(json.data.run.status).toBe("running");
  });
});

describe("--here", () => {
  test("adopts a worktree that an agent made itself, as it is", async ({ project }) => {
    const agents = join(project.path, ".claude/worktrees/quick fix");
    project.git("worktree", "add", "-q", "-b", "agent-branch", agents);
    project.git("worktree", "lock", "--reason", "claude", agents);
    const base = project.git("rev-parse", "main");
    writeFileSync(join(agents, "new.txt"), "by the agent\n");
    gitIn(project, agents, "add", "-A");
    gitIn(project, agents, "commit", "-q", "-m", "Agent's");
    writeFileSync(join(agents, "loose.txt"), "not committed\n");
    project.commit("moved on.txt", "main moved\n");
    await newTask(project);
    const { json } = await project.pawlIn(agents, {}, "start", "T1", "--here", "--json");
    expect(json.data.run.repos).toEqual([
      expect.objectContaining({
        worktree: ".claude/worktrees/quick fix",
        branch: "agent-branch",
        base_head: base,
        dirty: true,
        adopted: true,
      }),
    ]);
    expect(json.data.task.branch).toBe("agent-branch");
    expect(project.git("worktree", "list", "--porcelain")).toMatch(/locked claude$/m);
    expect(gitIn(project, agents, "status", "--porcelain")).toBe("?? loose.txt");
    expect((await project.pawlIn(agents, {}, "task", "show", "--json")).json.data.task.id).toBe("T0001");
  });

  test("adopts the main worktree on a branch of its own", async ({ project }) => {
    project.git("switch", "-q", "-c", "mine");
    await newTask(project, "--base", "main");
    const { json } = await started(project, "--here");
    expect(json.data.run.repos).toEqual([
      expect.objectContaining({ worktree: ".", branch: "mine", dirty: false, adopted: true }),
    ]);
    expect(readFileSync(join(project.path, ".git/pawl/grants/worktree/refs/heads/mine"), "utf8")).toBe(".\n");
    expect(project.git("status", "--porcelain")).toBe("");
  });
});

describe("--claim", () => {
  const asCodex = ["--actor", "agent:codex"];
  const silence = (project: Project, path = join(project.path, ".git/worktrees/T0001-make-it-faster")) => {
    const long = new Date(Date.now() - 3_600_000);
    for (const file of ["index", "HEAD", "logs/HEAD"]) utimesSync(join(path, file), long, long);
  };
  const age = (project: Project) => {
    const file = join(stateOf(project), "tasks/T0001/runs/R1/run.md");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/^updated: .*$/m, 'updated: "2026-01-01T00:00:00.000Z"'));
  };

  test("an agent may claim only from a holder that has been silent", async ({ project }) => {
    await newTask(project);
    await started(project, "--actor", "agent:claude");
    const refused = await project.pawl("start", "T1", "--claim", ...asCodex, "--json");
    expect(refused.json.error).toMatchObject({ code: "holder_alive", details: { holder: "agent:claude" } });
    age(project);
    // The records are old, but git is not.
    expect((await project.pawl("start", "T1", "--claim", ...asCodex, "--json")).json.error.code).toBe(
      "holder_alive",
    );
    silence(project);
    // Something that the holder wrote down just now.
    await project.pawl("decide", "a", "--why", "b", "--task", "T1", "--actor", "agent:claude");
    expect((await project.pawl("start", "T1", "--claim", ...asCodex, "--json")).json.error.code).toBe(
      "holder_alive",
    );
    rmSync(join(stateOf(project), "tasks/T0001/decisions/D1.md"));
    const claimed = await project.pawl("start", "T1", "--claim", ...asCodex, "--json");
    expect(claimed.json.data.run).toMatchObject({
      id: "T0001/R1",
      holder: "agent:codex",
      actor: "agent:claude",
    });
    expect((await project.pawl("log", "--json")).out).toContain("claimed from agent:claude");
  });

  test("a human may always claim", async ({ project }) => {
    await newTask(project);
    await started(project, "--actor", "agent:claude");
    expect((await started(project, "--claim")).json.data.run.holder).toBe("human:Ada");
  });

  test("makes a deleted worktree again from its branch", async ({ project }) => {
    await newTask(project);
    await started(project);
    writeFileSync(join(placeOf(project), "work.txt"), "committed\n");
    gitIn(project, placeOf(project), "add", "-A");
    gitIn(project, placeOf(project), "commit", "-q", "-m", "Work");
    const tip = project.git("rev-parse", BRANCH);
    rmSync(placeOf(project), { recursive: true });
    expect((await started(project)).json.warnings).toEqual([expect.stringContaining("--claim")]);
    await started(project, "--claim");
    expect(readFileSync(join(placeOf(project), "work.txt"), "utf8")).toBe("committed\n");
    expect(project.git("rev-parse", BRANCH)).toBe(tip);
    expect(project.git("worktree", "list", "--porcelain")).toContain("locked pawl T0001");
    expect(project.git("worktree", "prune", "-v")).toBe("");
  });

  test("makes it again from the snapshot when the branch is gone too", async ({ project }) => {
    await newTask(project);
    await started(project);
    writeFileSync(join(placeOf(project), "loose.txt"), "not committed\n");
    expect((await project.pawl("snapshot", "T1")).code).toBe(0);
    rmSync(placeOf(project), { recursive: true });
    project.git("update-ref", "-d", `refs/heads/${BRANCH}`);
    await started(project, "--claim");
    expect(readFileSync(join(placeOf(project), "loose.txt"), "utf8")).toBe("not committed\n");
  });

  test("without branch and snapshot it says so, and finish ends the run", async ({ project }) => {
    await newTask(project);
    await started(project);
    rmSync(placeOf(project), { recursive: true });
    project.git("update-ref", "-d", `refs/heads/${BRANCH}`);
    expect((await project.pawl("start", "T1", "--claim", "--json")).json.error.code).toBe("branch_gone");
    expect((await project.pawl("finish", "T1", "--remove", "--reason", "lost", "--json")).json).toMatchObject(
      {
        data: { run: { ended: "removed" }, repos: [{ worktree: "gone", branch: "gone" }] },
      },
    );
    expect(project.git("worktree", "list")).not.toContain("T0001");
    expect((await started(project)).json.data.run.id).toBe("T0001/R2");
  });

  test("follows a worktree that was moved with git", async ({ project }) => {
    await newTask(project);
    await started(project);
    const moved = join(dirname(project.path), "moved");
    project.git("worktree", "unlock", placeOf(project));
    project.git("worktree", "move", placeOf(project), moved);
    const { json } = await started(project, "--claim");
    expect(json.data.worktrees).toEqual([{ repo: "my project", path: moved }]);
    expect(json.data.run.repos[0].worktree).toBe("../moved");
  });

  test("a run of another clone is out of reach", async ({ project }) => {
    await newTask(project);
    await started(project);
    const file = join(stateOf(project), "tasks/T0001/runs/R1/run.md");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^clone: .*$/m, 'clone: "ffffffff"'));
    expect((await project.pawl("start", "T1", "--claim", "--json")).json.error.code).toBe("other_clone");
    expect((await project.pawl("start", "T1", "--json")).json.error.code).toBe("task_active_elsewhere");
  });
});

test("a renamed project is still the home of its tasks", async ({ project }) => {
  await newTask(project);
  await started(project);
  await project.pawl("finish", "T1", "--remove", "--reason", "again");
  const renamed = join(dirname(project.path), "renamed");
  renameSync(project.path, renamed);
  const { json } = await project.pawlIn(renamed, {}, "start", "T1", "--json");
  expect(json.data.worktrees).toEqual([{ repo: "my project", path: join(realpathSync(renamed), WORKTREE) }]);
});

test("a plain folder in the place of the worktree is not claimed, and neither is one on another branch", async ({
  project,
}) => {
  await project.pawl("task", "new", "Alpha");
  await project.pawl("start", "T1");
  const worktree = join(project.path, ".worktrees", "T0001-alpha");
  project.git("-C", worktree, "branch", "-m", "renamed");
  expect((await project.pawl("start", "T1", "--claim", "--json")).json.error.code).toBe("other_branch");
  project.git("-C", worktree, "branch", "-m", "task/T0001-alpha");
  rmSync(worktree, { recursive: true });
  mkdirSync(worktree);
  expect((await project.pawl("start", "T1", "--claim", "--json")).json.error.code).toBe("worktree_broken");
  rmSync(worktree, { recursive: true });
  expect((await project.pawl("start", "T1", "--claim")).code).toBe(0);
  expect(project.git("-C", worktree, "branch", "--show-current")).toBe("task/T0001-alpha");
});

test("after a kept run the way on is to claim it", async ({ project }) => {
  await project.pawl("task", "new", "Alpha");
  await project.pawl("start", "T1");
  await project.pawl("finish", "T1", "--keep", "--reason", "later");
  const { json } = await project.pawl("start", "T1", "--json");
  expect([json.error.code, json.error.hint]).toEqual(["branch_exists", expect.stringContaining("--claim")]);
  expect((await project.pawl("start", "T1", "--claim")).code).toBe(0);
  expect((await project.pawl("finish", "T1", "--remove", "--reason", "done")).code).toBe(0);
});

test("a copy of the policy that names other branches does not open the usual ones to --here", async ({
  project,
}) => {
  await project.pawl("task", "new", "Alpha", "--base", "main");
  project.git("switch", "-q", "-c", "trunk");
  await project.pawl("task", "update", "T1", "--base", "trunk");
  project.git("switch", "-q", "main");
  project.write(".pawl/config.yaml", "protected: [release/*]\n");
  const { json } = await project.pawl("start", "T1", "--here", "--json");
  expect(json.error.code).toBe("on_protected_branch");
});

test("a strict task without a reviewed plan: agents are stopped, a human is warned", async ({ project }) => {
  const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
  await project.pawl("task", "new", "Make it faster", "--profile", "strict", "--plan", "Measure first");
  for (const more of [[], ["--dry-run"]]) {
    const stopped = await project.pawlIn(project.path, agent, "start", "T1", "--json", ...more);
    expect([stopped.code, stopped.json.error.code]).toEqual([1, "plan_not_reviewed"]);
    expect(stopped.json.error.hint).toContain("pawl review start T0001 --kind plan");
  }
  expect(project.git("branch", "--list", "task/*")).toBe("");
  const begun = await project.pawl("start", "T1", "--json");
  expect([begun.code, begun.json.warnings[0]]).toEqual([
    0,
    expect.stringContaining("needs a reviewed plan first"),
  ]);
});

test("a human who began to work in the main checkout is told how the changes get into the worktree", async ({
  project,
}) => {
  project.commit("hello.txt", "hello\n");
  const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
  await project.pawl("task", "list");
  await project.pawl("task", "new", "Nothing begun");
  expect((await project.pawl("start", "T1", "--json")).json.warnings).toEqual([]);
  project.write("hello.txt", "hello, world\n");
  expect((await project.pawlIn(project.path, agent, "start", "By an agent", "--json")).json.warnings).toEqual(
    [],
  );
  const { json } = await project.pawl("start", "Say more", "--json");
  expect(json.warnings).toEqual([
    `${project.path} has uncommitted changes, and the worktree does not. To move them there: pawl rescue T0003`,
  ]);
  await project.pawl("rescue", "T3");
  const moved = join(project.path, ".worktrees/T0003-say-more/hello.txt");
  expect(readFileSync(moved, "utf8")).toBe("hello, world\n");
  expect(project.git("status", "--porcelain")).toBe("");
});

test("a strict task that an agent cannot start yet is not written down by the start", async ({ project }) => {
  const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
  for (const more of [[], ["--dry-run"]]) {
    const line = ["start", "Make it faster", "--profile", "strict", "--json", ...more];
    const stopped = await project.pawlIn(project.path, agent, ...line);
    expect([stopped.code, stopped.json.error.code]).toEqual([1, "plan_missing"]);
    expect(stopped.json.error.hint).toContain("pawl task new 'Make it faster' --profile strict --plan");
  }
  expect((await project.pawl("task", "list", "--json")).json.data.tasks).toEqual([]);
  expect((await project.pawl("start", "Make it faster", "--profile", "strict")).code).toBe(0);
});

test("an agent begins a strict task whose plan a human has passed", async ({ project }) => {
  const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
  await project.pawlIn(
    project.path,
    agent,
    "task",
    "new",
    "Make it faster",
    "--profile",
    "strict",
    "--plan",
    "Measure",
  );
  const review = ["review", "record", "T1", "--kind", "plan", "--verdict", "pass", "--looked-at", "plan"];
  expect((await project.pawl(...review)).code).toBe(0);
  const begun = await project.pawlIn(project.path, agent, "start", "T1", "--json");
  expect([begun.code, begun.json.data?.run.status]).toEqual([0, "running"]);
});
