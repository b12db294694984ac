import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeRepository, stateOf } from "../helpers/temporary-repository.ts";

/** A second real repository beside the first one. */
const beside = (project: Project, name = "the api") =>
  openProject(makeRepository(dirname(project.path), name));

async function linked(project: Project): Promise<Project> {
  const other = beside(project);
  await project.pawl("task", "new", "Both");
  const added = await project.pawl("repo", "add", "../the api");
  expect(added.err + added.out).toContain("the api is linked");
  return other;
}

describe("repo add", () => {
  test("the state of all is found from each, also from a linked worktree", async ({ project }) => {
    const other = await linked(project);
    const tree = join(dirname(project.path), "api worktree");
    other.git("worktree", "add", "-q", tree, "-b", "side");
    for (const folder of [other.path, tree]) {
      const { json } = await other.pawlIn(folder, {}, "task", "list", "--json");
      expect(json.data.tasks.map((one: { title: string }) => one.title)).toEqual(["Both"]);
    }
    await other.pawl("task", "new", "From the other side");
    expect((await project.pawl("task", "show", "T2", "--json")).json.data.task.repos).toEqual(["the api"]);
    expect(existsSync(stateOf(other))).toBe(false);
    expect(other.git("status", "--porcelain")).toBe("");
  });

  test("may be repeated, and says so in the record once", async ({ project }) => {
    await linked(project);
    const again = await project.pawl("repo", "add", "../the api");
    expect(again.code).toBe(0);
    const { json } = await project.pawl("repo", "list", "--json");
    expect(json.data.repos).toMatchObject([
      { name: "my project", home: true, here: true, path: project.path },
      { name: "the api", home: false, here: false },
    ]);
    expect(project.read("repos/the api.md")).toMatch(/^rev: 1$/m);
    expect(project.read("repos/my project.md")).toMatch(/^home: true$/m);
  });

  test("keeps a name of its own, and a base of its own", async ({ project }) => {
    const other = beside(project);
    await project.pawl("repo", "add", "../the api", "--name", "api", "--base", "trunk");
    expect((await other.pawl("status", "--json")).json.data.status.repo).toBe("api");
    expect(project.read("repos/api.md")).toMatch(/^base_branch: trunk$/m);
    await project.pawl("repo", "add", "../the api", "--name", "api", "--base", "main");
    expect(project.read("repos/api.md")).toMatch(/^base_branch: main$/m);
    expect(project.read("repos/api.md")).toMatch(/^rev: 2$/m);
  });

  test.for([
    ["a folder that is no repository", ["repo", "add", ".."], 4, "not_a_repository"],
    ["a folder that is not there", ["repo", "add", "../nowhere"], 4, "not_a_repository"],
    ["itself", ["repo", "add", "."], 3, "own_repository"],
    ["a name that is no file's", ["repo", "add", "../the api", "--name", "a/b"], 3, "bad_name"],
    ["the name of the home", ["repo", "add", "../the api", "--name", "my project"], 5, "name_taken"],
  ] as const)("refuses %s", async ([, argv, exit, code], { project }) => {
    beside(project);
    await project.pawl("task", "new", "One");
    const { json, code: got } = await project.pawl(...argv, "--json");
    expect([got, json.error?.code]).toEqual([exit, code]);
  });

  test("refuses a repository that has tasks of its own, and one that is linked under another name", async ({
    project,
  }) => {
    const other = beside(project);
    await other.pawl("task", "new", "Its own");
    await project.pawl("task", "new", "One");
    expect((await project.pawl("repo", "add", "../the api", "--json")).json.error.code).toBe("has_own_state");
    beside(project, "web");
    await project.pawl("repo", "add", "../web");
    expect((await project.pawl("repo", "add", "../web", "--name", "w", "--json")).json.error.code).toBe(
      "already_linked",
    );
  });
});

describe("a line in .git/pawl/home", () => {
  const leadTo = (project: Project, state: string) =>
    writeFileSync(join(project.path, ".git/pawl/home"), `${state}\n`);

  test("leads nobody away from records of their own", async ({ project }) => {
    const other = beside(project);
    await other.pawl("task", "new", "Of another repository");
    await project.pawl("task", "new", "Mine");
    leadTo(project, stateOf(other));
    const { json } = await project.pawl("task", "list", "--json");
    expect(json.data.tasks.map((one: { title: string }) => one.title)).toEqual(["Mine"]);
    // Neither does the link between the records and their history.
    writeFileSync(join(stateOf(project), ".git"), `gitdir: ${join(other.path, ".git/pawl/state.git")}\n`);
    await project.pawl("task", "new", "Mine, too");
    expect(other.git("-C", join(other.path, ".git/pawl/state.git"), "log", "--format=%s")).not.toContain(
      "Mine",
    );
  });

  test("leads to no folder but a state: nothing is read from another, or written into it", async ({
    project,
  }) => {
    const thesis = join(dirname(project.path), "thesis");
    mkdirSync(join(thesis, "tasks"), { recursive: true });
    await project.pawl("task", "new", "Mine");
    const history = join(project.path, ".git/pawl/state.git");
    renameSync(history, join(dirname(project.path), "history"));
    rmSync(stateOf(project), { recursive: true });
    leadTo(project, thesis);
    for (const text of [undefined, `gitdir: ${join(dirname(project.path), "history")}\n`]) {
      if (text !== undefined) writeFileSync(join(thesis, ".git"), text);
      const { code, json } = await project.pawl("task", "new", "Another", "--json");
      expect([code, json.error.code]).toEqual([2, "not_a_state"]);
    }
    expect(readdirSync(thesis).sort()).toEqual([".git", "tasks"]);
  });
});

test("repo add leads a guarded repository to other records only when a human says so", async ({
  project,
}) => {
  const other = beside(project);
  await project.pawl("task", "new", "One");
  await ok(other.pawl("install", "--profile", "hooks", "--yes"));
  for (const gone of [".pawl/state", ".git/pawl/state.git", ".git/pawl/home"])
    rmSync(join(other.path, gone), { recursive: true });
  const piped = await project.pawl("repo", "add", "../the api", "--json");
  expect(piped.json.error.code).toBe("no_terminal");
  const agent = await project.pawlIn(
    project.path,
    { CLAUDECODE: "1" },
    "repo",
    "add",
    "../the api",
    "--json",
  );
  expect(agent.json.error.code).toBe("human_only");
  // Whoever links it by hand has records that know nothing of its guard, which an audit tells.
  writeFileSync(join(other.path, ".git/pawl/home"), `${stateOf(project)}\n`);
  const { code, json } = await other.pawl("audit", "--json");
  const found = (json.data.audit.findings as { code: string; repo: string }[]).map((one) => one.code);
  expect([code, found]).toEqual([1, ["installation_gone"]]);
});

describe("repo remove", () => {
  test("gives the repository its own state back, and deletes nothing", async ({ project }) => {
    const other = await linked(project);
    expect((await project.pawl("repo", "remove", "the api")).code).toBe(0);
    expect((await other.pawl("task", "list", "--json")).json.data.tasks).toEqual([]);
    expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(1);
    expect(existsSync(join(other.path, ".git", "pawl", "home"))).toBe(false);
    const listed = (await project.pawl("repo", "list", "--json")).json;
    expect(listed.data.repos[1]).toMatchObject({ name: "the api", path: null });
    expect(listed.next.command).toContain("repo add");
  });

  test.for([
    ["by its environment", { CLAUDECODE: "1" }, []],
    [
      "by its environment, whatever it claims",
      { CLAUDECODE: "1", PAWL_ACTOR: "human:Ada" },
      ["--actor", "human:Ada"],
    ],
    ["by its own word", {}, ["--actor", "agent:codex"]],
  ] as const)("is refused to an agent known %s", async ([, env, argv], { project }) => {
    await linked(project);
    const { code, json } = await project.pawlIn(
      project.path,
      env,
      "repo",
      "remove",
      "the api",
      ...argv,
      "--json",
    );
    expect([code, json.error.code]).toEqual([1, "human_only"]);
    expect((await project.pawl("repo", "list", "--json")).json.data.repos[1].path).not.toBe(null);
  });

  test("says what is linked when the name is wrong", async ({ project }) => {
    await linked(project);
    const { code, json } = await project.pawl("repo", "remove", "api", "--json");
    expect([code, json.error.hint]).toEqual([4, "Linked: the api."]);
  });
});

test("a linked repository that was moved away is reported, and found again by its new path", async ({
  project,
}) => {
  const other = await linked(project);
  const moved = join(dirname(project.path), "elsewhere", "the api");
  mkdirSync(dirname(moved));
  renameSync(other.path, moved);
  const lost = (await project.pawl("repo", "list", "--json")).json;
  expect(lost.data.repos[1].path).toBe(null);
  await project.pawl("repo", "add", "../elsewhere/the api");
  expect((await project.pawl("repo", "list", "--json")).json.data.repos[1].path).toBe(moved);
  const seen = await other.pawlIn(moved, {}, "task", "list", "--json");
  expect(seen.json.data.tasks).toHaveLength(1);
});

test("a finding may be about another repository of the task, and about no other", async ({ project }) => {
  const other = await linked(project);
  project.commit("a.txt", "here\n");
  other.commit("a.txt", "there\n");
  const made = await project.pawl(
    "task",
    "new",
    "Two",
    "--repo",
    "my project",
    "--repo",
    "the api",
    "--json",
  );
  const { id } = made.json.data.task;
  await project.pawl("start", id);
  const add = (repo: string) => {
    const words = [
      "finding",
      "add",
      "Look",
      "--severity",
      "low",
      "--task",
      id,
      "--file",
      "a.txt",
      "--line",
      "1",
    ];
    return project.pawl(...words, "--repo", repo, "--json");
  };
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  expect((await add("the api")).json.data.finding).toMatchObject({
    repo: "the api",
    commit: other.git("rev-parse", "main"),
    line_sha256: digest("there"),
  });
  // The same words at the same place of another repository are another finding.
  expect((await add("my project")).json.data.finding).toMatchObject({ line_sha256: digest("here") });
  expect((await add("my project")).json.error.code).toBe("finding_known");
  expect((await add("elsewhere")).json.error).toMatchObject({ code: "no_repository" });
});

test("the log shows events in order, of one task or of all, and knows a mistyped task", async ({
  project,
}) => {
  await project.pawl("task", "new", "One");
  await project.pawl("task", "new", "Two");
  await project.pawl("task", "update", "T1", "--status", "active");
  await project.pawl("decide", "Retry", "--why", "it helps", "--task", "T1");
  const all = (await project.pawl("log", "--json")).json.data.events as { event: string; record: string }[];
  expect(all.map((one) => `${one.event} ${one.record}`)).toEqual([
    "task.new T0001@1",
    "task.new T0002@1",
    "task.update T0001@2",
    "decide T0001/D1@1",
  ]);
  const some = (await project.pawl("log", "T1", "--limit", "2", "--json")).json.data.events;
  expect(some.map((one: { record: string }) => one.record)).toEqual(["T0001@2", "T0001/D1@1"]);
  expect((await project.pawl("log", "T9")).code).toBe(4);
  const text = await project.pawl("log", "T2");
  expect(text.out).toMatch(/task\.new\s+T0002@1\s+Two/);
});

test("a torn line in the log is passed over", async ({ project }) => {
  await project.pawl("task", "new", "One");
  const [clone] = readFileSync(join(project.path, ".git", "pawl", "clone"), "utf8").split(" ");
  const log = join(stateOf(project), "events", clone ?? "");
  const { appendFileSync, readdirSync } = await import("node:fs");
  appendFileSync(join(log, readdirSync(log)[0] ?? ""), '\n{"time":"2026');
  await project.pawl("task", "new", "Two");
  expect((await project.pawl("log", "--json")).json.data.events).toHaveLength(2);
  rmSync(log, { recursive: true });
  expect((await project.pawl("log", "--json")).json.data.events).toEqual([]);
});
