// @module-tag proof
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { openProject, type Project, test } from "../helpers/command-line.ts";
import { gitIn, ok } from "../helpers/ready-task.ts";
import { makeRepository } from "../helpers/temporary-repository.ts";

const WORKTREE = ".worktrees/T0001-fix-it";

async function started(project: Project, config: string): Promise<string> {
  project.commit(".pawl/config.yaml", config);
  await ok(project.pawl("task", "new", "Fix it", "--profile", "light"));
  await ok(project.pawl("start", "T1"));
  return join(project.path, WORKTREE);
}

async function reasons(project: Project) {
  const { json } = await project.pawl("check", "T1", "--stage", "close", "--json");
  return json.data.check.reasons as { code: string; repo?: string; command: string }[];
}

describe("verify from the main checkout", () => {
  test("looks at the task's own tree, says so, and settles what it was printed for", async ({ project }) => {
    const at = await started(project, "profile: light\n");
    gitIn(project, at, "commit", "-q", "--allow-empty", "-m", "x");
    openProject({ ...project, path: at }).commit("only-there.txt", "new\n");
    const [missing] = (await reasons(project)).filter((one) => one.code === "check_missing");
    expect(missing?.command).toBe("pawl verify T0001 -- <test command>");
    const seen = await project.pawl("verify", "T1", "--", "test", "-f", "only-there.txt");
    expect([seen.code, seen.out]).toEqual([0, expect.stringContaining(`in ${at}`)]);
    expect((await reasons(project)).map((one) => one.code)).not.toContain("check_stale");
    openProject({ ...project, path: at }).commit("another.txt", "new\n");
    const [stale] = (await reasons(project)).filter((one) => one.code === "check_stale");
    // It knows which command was run before.
    expect(stale?.command).toBe("pawl verify T0001 -- test -f only-there.txt");
  });

  test("runs in every repository of the task, or in the one that is named", async ({ project }) => {
    const api = openProject(makeRepository(dirname(project.path), "api"));
    api.commit(".pawl/config.yaml", "checks:\n  unit: test -f api.txt\n");
    project.commit(".pawl/config.yaml", "checks:\n  test: test -f web.txt\n");
    await ok(project.pawl("repo", "add", "../api"));
    await ok(
      project.pawl("task", "new", "Fix it", "--profile", "light", "--repo", "my project", "--repo", "api"),
    );
    await ok(project.pawl("start", "T1"));
    openProject({ ...project, path: join(project.path, WORKTREE) }).commit("web.txt", "");
    openProject({ ...api, path: join(api.path, WORKTREE) }).commit("api.txt", "");
    const wanted = (await reasons(project)).filter((one) => one.code === "check_missing");
    expect(wanted.map((one) => one.command)).toEqual([
      "pawl verify T0001 --repo 'my project' --check test",
      "pawl verify T0001 --repo api --check unit",
    ]);
    const only = await ok(project.pawl("verify", "T1", "--repo", "api", "--check", "unit", "--json"));
    expect(only.json.data.evidence).toMatchObject([{ repo: "api", check: "unit", exit_code: 0 }]);
    const all = await ok(project.pawl("verify", "T1", "--json"));
    expect(
      all.json.data.evidence.map((one: { repo: string; check: string }) => [one.repo, one.check]),
    ).toEqual([
      ["my project", "test"],
      ["api", "unit"],
    ]);
    expect((await reasons(project)).map((one) => one.code)).not.toContain("check_missing");
    const elsewhere = await project.pawlIn(dirname(api.path), {}, "verify", "T1", "--", "test", "-d", ".");
    expect(elsewhere.code).not.toBe(0);
    expect(await project.pawl("verify", "T1", "--repo", "nowhere", "--json")).toMatchObject({
      code: 4,
      json: { error: { code: "no_worktree", hint: "It has one in my project, api." } },
    });
  });
});

describe("a command that is not there", () => {
  test("is not evidence; what did run is", async ({ project }) => {
    await started(project, "checks:\n  test: no-such-runner --all\n  lint: 'true'\n");
    const { code, json } = await project.pawl("verify", "T1", "--json");
    expect([code, json.ok]).toEqual([1, true]);
    expect(json.data.evidence.map((one: { check: string }) => one.check)).toEqual(["lint"]);
    expect(json.warnings[0]).toMatch(/"test" could not be run \(exit 127: .*not found\)/);
    expect(await project.pawl("verify", "T1", "--check", "test", "--json")).toMatchObject({
      code: 1,
      json: { error: { code: "check_not_run" } },
    });
    const shown = await project.pawl("task", "show", "T1", "--json");
    expect(shown.json.data.evidence.map((one: { check: string }) => one.check)).toEqual(["lint"]);
  });
});

describe("setup", () => {
  const told = (text: string) => text.replaceAll("\n", " ");

  /** Somebody has installed pawl here and was shown what the policy runs. */
  async function agreed(project: Project, config: string): Promise<void> {
    project.commit(".pawl/config.yaml", config);
    await ok(project.pawl("install", "--yes", "--profile", "hooks"));
  }

  test("is named and not run where nobody has installed pawl in the clone", async ({ project }) => {
    project.commit(".pawl/config.yaml", "setup: touch PWNED\n");
    project.commit(".pawl/lock.json", "{}\n");
    const begun = await ok(project.pawl("start", "Look at it", "--json"));
    const [{ path }] = begun.json.data.worktrees;
    expect(existsSync(join(path, ".git"))).toBe(true);
    expect(existsSync(join(path, "PWNED"))).toBe(false);
    expect(told(begun.json.warnings.join(" "))).toMatch(
      /setup was not run.*"touch PWNED".*`pawl install` shows/,
    );
    rmSync(path, { recursive: true });
    const again = await ok(project.pawl("start", "T1", "--claim", "--json"));
    expect([existsSync(path), existsSync(join(path, "PWNED"))]).toEqual([true, false]);
    expect(told(again.json.warnings.join(" "))).toContain("setup was not run");
  });

  test("runs in the new worktree, shows what it says, and leaves no evidence", async ({ project }) => {
    project.write(".gitignore", "installed\n");
    const setup = "setup: echo fetching && pwd > installed\nchecks:\n  test: test -f installed\n";
    await agreed(project, setup);
    const { json: begun } = await ok(project.pawl("start", "Fix it", "--json"));
    const at = begun.data.worktrees[0].path;
    expect(readFileSync(join(at, "installed"), "utf8").trim()).toBe(at);
    expect(existsSync(join(project.path, "installed"))).toBe(false);
    await ok(project.pawl("verify", "T1"));
    const { json } = await project.pawl("task", "show", "T1", "--json");
    expect(json.data.evidence).toHaveLength(1);
  });

  test("one that fails is reported with the command that repeats it, and the task has started all the same", async ({
    project,
  }) => {
    await agreed(project, "setup: echo no network >&2; exit 7\n");
    await ok(project.pawl("task", "new", "Fix it"));
    const begun = await project.pawl("start", "T1", "--json");
    expect([begun.code, begun.json.data.run.status]).toEqual([0, "running"]);
    expect(told(begun.json.warnings.join(" "))).toMatch(
      /setup failed .*exit 7: no network.*To run it again: cd /,
    );
    const { json } = await project.pawl("task", "show", "T1", "--json");
    expect(json.data.evidence).toEqual([]);
  });

  test("one that leaves files behind is reported, and --here sets nothing up", async ({ project }) => {
    await agreed(project, "setup: echo x > left-behind\n");
    await ok(project.pawl("task", "new", "Fix it"));
    const begun = await project.pawl("start", "T1", "--json");
    expect(begun.json.warnings.join(" ")).toContain("changed files");
    await ok(project.pawl("task", "new", "Other"));
    project.git("switch", "-q", "-c", "mine");
    await ok(project.pawl("start", "T2", "--here"));
    expect(existsSync(join(project.path, "left-behind"))).toBe(false);
  });

  test("one that installs its own hooks, as husky does, is repaired before a problem is reported", async ({
    project,
  }) => {
    project.commit(".own/pre-commit", "#!/bin/sh\necho own hook ran >&2\n");
    project.git("update-index", "--chmod=+x", ".own/pre-commit");
    project.git("commit", "-q", "-m", "Make the hook run");
    project.git("checkout", "-q", ".");
    await agreed(project, "setup: git config core.hooksPath .own\n");
    const begun = await ok(project.pawl("start", "Fix it now", "--json"));
    expect(begun.json.warnings.join("\n")).not.toContain("not guarded properly");
    expect(begun.json.warnings.filter((one: string) => one.includes("were rewritten"))).toHaveLength(1);
    await ok(project.pawl("doctor"));
  });
});
