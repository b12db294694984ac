// @module-tag proof
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, vi } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { askStateGit, stateOf } from "../helpers/temporary-repository.ts";

const AUTHOR = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
const record = (project: Project, path: string) => join(stateOf(project), path);

function edit(project: Project, path: string, from: string | RegExp, to: string) {
  const text = readFileSync(record(project, path), "utf8");
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  writeFileSync(record(project, path), edited);
}

describe("the rules hold against", () => {
  test("an author who damages the evidence that makes them one", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawlIn(project.path, AUTHOR, "verify", "T1", "--", "test", "-d", ".");
    await project.pawl("finding", "add", "Bad", "--severity", "low", "--task", "T1");
    edit(project, "tasks/T0001/evidence/E1.md", "exit_code: 0", "exit_code: zero");
    for (const argv of [
      ["finding", "wontfix", "T1/F1", "--note", "no"],
      ["review", "record", "T1", "--kind", "branch", "--verdict", "fail"],
    ]) {
      const { code, json } = await project.pawlIn(project.path, AUTHOR, ...argv, "--json");
      expect({ code, error: json.error.code }).toEqual({ code: 2, error: "authors_unknown" });
    }
  });

  test("an author who only closed a slice", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("slice", "open", "Step", "--task", "T1");
    await project.pawlIn(project.path, AUTHOR, "slice", "close", "S1", "--task", "T1", "--decision", "so");
    await project.pawl("finding", "add", "Bad", "--severity", "low", "--task", "T1");
    const { json } = await project.pawlIn(
      project.path,
      AUTHOR,
      "finding",
      "wontfix",
      "T1/F1",
      "--note",
      "no",
      "--json",
    );
    expect(json.error.code).toBe("author_may_not");
  });

  test("an empty actor, key or check", async ({ project }) => {
    await project.pawl("task", "new", "One");
    project.write(".pawl/config.yaml", "checks:\n  test: false\n");
    for (const argv of [
      ["task", "list", "--actor", ""],
      ["task", "list", "--key="],
      ["verify", "T1", "--check", ""],
      ["finding", "list", "T1", "--status", ""],
    ])
      expect(await project.pawl(...argv, "--json"), argv.join(" ")).toMatchObject({
        code: 3,
        json: { ok: false },
      });
  });

  test("a fix that is older than the reopening", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("finding", "add", "Bad", "--severity", "low", "--task", "T1");
    const first = project.commit("a.txt", "1\n");
    await project.pawl("finding", "resolve", "T1/F1");
    project.commit("a.txt", "2\n");
    await project.pawl("finding", "reopen", "T1/F1", "--note", "still there");
    const old = await project.pawl("finding", "resolve", "T1/F1", "--commit", first, "--json");
    expect(old.json.error.code).toBe("not_a_descendant");
    project.commit("a.txt", "3\n");
    expect((await project.pawl("finding", "resolve", "T1/F1")).code).toBe(0);
  });

  test("a review of a plan that was edited by hand", async ({ project }) => {
    await project.pawl("task", "new", "One", "--acceptance", "x");
    project.write("plan.md", "old plan");
    await project.pawl("task", "update", "T1", "--plan-file", "plan.md");
    const before = (await project.pawl("task", "show", "T1", "--json")).json.data.task.plan_digest;
    edit(project, "tasks/T0001/task.md", "old plan", "new plan");
    const { json } = await project.pawl(
      "review",
      "record",
      "T1",
      "--kind",
      "plan",
      "--verdict",
      "pass",
      "--json",
    );
    expect(json.data.review.plan_digest).toMatch(/^[0-9a-f]{64}$/);
    expect(json.data.review.plan_digest).not.toBe(before);
  });

  test("a red that was killed, and two tasks named at once", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("task", "new", "Two");
    const red = await project.pawl("verify", "T1", "--red", "--json", "--", "sh", "-c", "kill -9 $$");
    expect(red.json.error.code).toBe("red_killed");
    const both = await project.pawl("finding", "resolve", "T1/F1", "--task", "T2", "--json");
    expect(both).toMatchObject({ code: 3, json: { error: { code: "two_tasks" } } });
  });

  test("an editor that sets the rev back, declares a merge, or saves another encoding", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("task", "update", "T1", "--status", "active");
    const editor = (script: string) =>
      project.pawlIn(project.path, { EDITOR: script }, "task", "edit", "T1", "--json");
    expect((await editor("sed -i 's/^rev: .*/rev: 1/'")).json.data.task.rev).toBe(3);
    expect((await editor("sed -i 's/^status: .*/status: merged/'")).json.error.code).toBe("bad_transition");
    const before = project.read("tasks/T0001/task.md");
    expect((await editor(`printf 'caf\\351' >>`)).json.error).toMatchObject({ code: "broken_edit" });
    expect((await editor("rm")).json.error.code).toBe("editor_failed");
    expect(project.read("tasks/T0001/task.md")).toBe(before);
  });
});

describe("the tree of the evidence is what ran, or is said not to be", () => {
  const treeOf = async (project: Project) =>
    (await project.pawl("verify", "T1", "--json", "--", "test", "-d", ".")).json.data.evidence;

  test("also for files that git was told not to look at", async ({ project }) => {
    await project.pawl("task", "new", "One");
    project.commit("a.txt", "1\n");
    project.commit("b.txt", "1\n");
    const head = project.git("rev-parse", "HEAD^{tree}");
    expect(await treeOf(project)).toMatchObject({ tree: head, unstable: false });
    project.git("update-index", "--assume-unchanged", "a.txt");
    project.write("a.txt", "2\n");
    const assumed = await treeOf(project);
    expect(assumed.tree).not.toBe(head);
    project.git("update-index", "--skip-worktree", "b.txt");
    project.write("b.txt", "2\n");
    const skipped = await treeOf(project);
    expect([head, assumed.tree]).not.toContain(skipped.tree);
    expect(project.git("ls-files", "-v")).toContain("S b.txt");
  });

  test("changes inside a submodule or a nested repository belong to no tree", async ({ project }) => {
    await project.pawl("task", "new", "One");
    const inner = join(dirname(project.path), "inner");
    cpSync(project.path, inner, { recursive: true });
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub");
    project.git("commit", "-qm", "Add a submodule");
    expect((await treeOf(project)).unstable).toBe(false);
    writeFileSync(join(project.path, "sub", "README.md"), "changed\n");
    expect((await treeOf(project)).unstable).toBe(true);
    project.git("-C", "sub", "checkout", "-q", "README.md");
    mkdirSync(join(project.path, "nested"));
    execFileSync("git", ["init", "-q"], { cwd: join(project.path, "nested"), env: project.env });
    expect(await treeOf(project)).toMatchObject({ unstable: true, exit_code: 0 });
  });

  test("a background process does not hold a check up, and odd commands are only not found", async ({
    project,
  }) => {
    await project.pawl("task", "new", "One");
    const started = Date.now();
    const { code } = await project.pawl("verify", "T1", "--", "sh", "-c", "sleep 20 & exit 0");
    expect(code).toBe(0);
    expect(Date.now() - started).toBeLessThan(15_000);
    for (const command of [[""], ["./README.md/x"]]) {
      const result = await project.pawl("verify", "T1", "--json", "--", ...command);
      expect(result.json.error.code, JSON.stringify(command)).toBe("check_not_run");
    }
    expect((await project.pawl("verify", "T1", "--", "printf", "")).code).toBe(0);
    const shown = await project.pawl("task", "show", "T1", "--json");
    expect(shown.json.warnings).toEqual([]);
    expect(shown.json.data.evidence.map((one: { exit_code: number }) => one.exit_code)).toEqual([0, 0]);
  });

  test("a temporary folder that is gone is told as that, whoever needs one", async ({ project }) => {
    await project.pawl("task", "new", "One");
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("TMPDIR", join(project.path, "nowhere"));
    const wanted = [
      ["verify", "T1", "--json", "--", "true"],
      ["task", "edit", "T1", "--json"],
    ];
    for (const argv of wanted) {
      const { code, json } = await project.pawlIn(project.path, { EDITOR: "true" }, ...argv);
      expect([code, json.error.code], argv.join(" ")).toEqual([2, "no_temporary_folder"]);
    }
  });
});

describe("a state that somebody has been in", () => {
  test("a copied or renamed record does not count as a record, and is reported", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("finding", "add", "Bad", "--severity", "low", "--task", "T1");
    cpSync(record(project, "tasks/T0001"), record(project, "tasks/T0003"), { recursive: true });
    cpSync(record(project, "tasks/T0001/findings/F1.md"), record(project, "tasks/T0001/findings/F7.md"));
    const list = await project.pawl("task", "list", "--json");
    expect(list.json.data.tasks.map((one: { id: string }) => one.id)).toEqual(["T0001"]);
    expect(list.json.warnings[0]).toContain("T0003");
    expect(await project.pawl("decide", "x", "--why", "y", "--task", "T3", "--json")).toMatchObject({
      code: 2,
    });
    expect(await project.pawl("finding", "wontfix", "T1/F7", "--note", "x", "--json")).toMatchObject({
      code: 2,
    });
    expect((await project.pawl("finding", "list", "T1", "--json")).json.data.findings[0].status).toBe("open");
  });

  test("files and loops of links where tasks belong hide nothing", async ({ project }) => {
    await project.pawl("task", "new", "One");
    writeFileSync(record(project, "tasks/T0009"), "");
    mkdirSync(record(project, "tasks/T0010"));
    symlinkSync("task.md", record(project, "tasks/T0010/task.md"));
    for (const argv of [["task", "list"], ["status"], ["session", "T1"]])
      expect((await project.pawl(...argv)).code, argv.join(" ")).toBe(0);
    const { json } = await project.pawl("task", "list", "--json");
    expect(json.data.tasks).toHaveLength(1);
    expect(json.warnings).toHaveLength(2);
  });

  test("an emptied folder comes back, and no id is given again", async ({ project }) => {
    await project.pawl("task", "new", "One");
    for (const name of ["tasks", "events"]) rmSync(record(project, name), { recursive: true });
    const made = await project.pawl("task", "new", "Two", "--json");
    expect(made.json.data.task.id).toBe("T0002");
    expect((await project.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(2);
  });

  test("git's other hash as a default changes nothing", async ({ project }) => {
    const made = await project.pawlIn(
      project.path,
      { GIT_DEFAULT_HASH: "sha256" },
      "task",
      "new",
      "One",
      "--json",
    );
    expect(made.json.warnings.filter((one: string) => one.includes("not yet"))).toEqual([]);
    expect(askStateGit(project, "rev-list", "--count", "HEAD")).toBe("1");
  });
});

test("the command line forgives the order, and nothing else", async ({ project }) => {
  await project.pawl("task", "new", "One");
  expect((await project.pawl("--json", "task", "list")).json.data.tasks).toHaveLength(1);
  expect((await project.pawl("task", "--bogus")).code).toBe(3);
  await project.pawl("task", "update", "T1", "--status", "active");
  await project.pawl("slice", "open", "Step");
  await project.pawl("verify", "--slice", "S1", "--red", "--", "false");
  expect((await project.pawl("session", "--json")).json.next.command).not.toContain("--red");
  project.write("plan.md", "    make\n    make install\n");
  await project.pawl("task", "update", "T1", "--plan-file", "plan.md");
  expect((await project.pawl("task", "show", "T1", "--json")).json.data.task.plan).toBe(
    "    make\n    make install",
  );
});

describe("policy is not for agents to loosen", () => {
  const agent = { CODEX_SESSION_ID: "one" };

  test("an agent may raise a task's profile and not lower it; a human may do both", async ({ project }) => {
    await project.pawl("task", "new", "One", "--profile", "standard");
    const lower = await project.pawlIn(
      project.path,
      agent,
      "task",
      "update",
      "T1",
      "--profile",
      "light",
      "--json",
    );
    expect([lower.code, lower.json.error.code]).toEqual([1, "human_only"]);
    const raise = await project.pawlIn(project.path, agent, "task", "update", "T1", "--profile", "strict");
    expect(raise.code).toBe(0);
    expect((await project.pawl("task", "update", "T1", "--profile", "light")).code).toBe(0);
  });
});
