import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hookLauncher, packageGetter, programLauncher } from "../../src/installer/runtime/launchers.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let root: string;
beforeEach(() => {
  root = makeTemporaryFolder("launchers");
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const git = (at: TemporaryRepository, ...args: string[]) =>
  execFileSync("git", args, { cwd: at.path, env: at.env, stdio: "pipe", encoding: "utf8" }).trim();

/** The launchers in a worktree, and a program in the git directory that says how it was started. */
function place(worktree: string, commonDir: string): void {
  mkdirSync(join(worktree, ".pawl"), { recursive: true });
  writeFileSync(join(worktree, ".pawl/pawl.cjs"), programLauncher("1.2.3").text);
  writeFileSync(join(worktree, ".pawl/hook.cjs"), hookLauncher("1.2.3").text);
  mkdirSync(join(commonDir, "pawl/runtime"), { recursive: true });
  const says = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
  writeFileSync(join(commonDir, "pawl/runtime/pawl.cjs"), says);
  writeFileSync(join(commonDir, "pawl/runtime/hook.cjs"), says);
}

function run(
  at: TemporaryRepository,
  cwd: string,
  args: string[],
  input = "",
  env: Record<string, string> = {},
) {
  const done = spawnSync(process.execPath, args, {
    cwd,
    env: { ...at.env, ...env },
    input,
    encoding: "utf8",
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

const PLACES: Record<string, () => { at: TemporaryRepository; worktree: string; commonDir: string }> = {
  "an ordinary repository": () => {
    const at = makeRepository(root);
    return { at, worktree: at.path, commonDir: join(at.path, ".git") };
  },
  "a linked worktree": () => {
    const at = makeRepository(root);
    git(at, "worktree", "add", "-q", "-b", "linked", join(root, "linked tree"));
    return { at, worktree: join(root, "linked tree"), commonDir: join(at.path, ".git") };
  },
  "a submodule": () => {
    const inner = makeRepository(join(root, "inner"), "lib");
    const at = makeRepository(root, "outer");
    git(at, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "lib");
    return { at, worktree: join(at.path, "lib"), commonDir: join(at.path, ".git/modules/lib") };
  },
  "a separate git directory": () => {
    const at = makeRepository(root);
    git(at, "init", "-q", "--separate-git-dir", join(root, "elsewhere.git"));
    return { at, worktree: at.path, commonDir: join(root, "elsewhere.git") };
  },
};

describe.each(Object.keys(PLACES))("in %s", (name) => {
  test("both find the clone's own copy from any folder, even after it was moved", () => {
    const { at, worktree, commonDir } = (PLACES[name] ?? PLACES["an ordinary repository"])?.() ?? never();
    place(worktree, commonDir);
    mkdirSync(join(worktree, "deep/er"), { recursive: true });
    const program = join(commonDir, "pawl/runtime/pawl.cjs");
    for (const [cwd, path] of [
      [worktree, ".pawl/pawl.cjs"],
      [join(worktree, "deep/er"), "../../.pawl/pawl.cjs"],
      [root, join(worktree, ".pawl/pawl.cjs")],
    ] as const)
      expect(run(at, cwd, [path, "a b", "--c"])).toEqual({
        ...{ code: 0, err: "" },
        out: JSON.stringify([program, "a b", "--c"]),
      });
    expect(run(at, root, [join(worktree, ".pawl/hook.cjs"), "claude"])).toMatchObject({ code: 0, err: "" });
    // As an MCP registration starts it: without a file of its own on the command line.
    const finder = `require(${JSON.stringify(join(worktree, ".pawl/pawl.cjs"))})`;
    expect(JSON.parse(run(at, worktree, ["-e", finder, "mcp", "--agent", "x"]).out)).toEqual([
      program,
      ...["mcp", "--agent", "x"],
    ]);
  });

  test("without a copy, the launcher names the one command to run and the hook does nothing", () => {
    const { at, worktree, commonDir } = PLACES[name]?.() ?? never();
    place(worktree, commonDir);
    rmSync(join(commonDir, "pawl"), { recursive: true });
    expect(run(at, worktree, [".pawl/pawl.cjs", "status"])).toEqual({
      ...{ code: 2, out: "" },
      err: expect.stringContaining("node .pawl/get.cjs"),
    });
    const hook = (event: unknown, env = {}) =>
      run(
        at,
        worktree,
        [".pawl/hook.cjs", "claude"],
        typeof event === "string" ? event : JSON.stringify(event),
        env,
      );
    expect(hook({ hook_event_name: "PreToolUse" })).toEqual({ code: 0, out: "", err: "" });
    expect(hook("no JSON")).toEqual({ code: 0, out: "", err: "" });
    const told = hook({ hook_event_name: "SessionStart" });
    expect(JSON.parse(told.out).hookSpecificOutput).toMatchObject({
      hookEventName: "SessionStart",
      additionalContext: expect.stringContaining("node .pawl/pawl.cjs says how"),
    });
    const copilot = hook({ hook_event_name: "SessionStart" }, { COPILOT_CLI: "1" });
    expect(Object.keys(JSON.parse(copilot.out))).toEqual(["additionalContext"]);
  });
});

function never(): never {
  throw new Error("There is no such place");
}

test("a moved repository keeps its copy", () => {
  const at = makeRepository(root);
  place(at.path, join(at.path, ".git"));
  const moved = join(root, "möved ☕ [x]");
  renameSync(at.path, moved);
  const { out } = run(at, moved, [".pawl/pawl.cjs", "x"]);
  expect(JSON.parse(out)).toEqual([join(moved, ".git/pawl/runtime/pawl.cjs"), "x"]);
});

test("their text depends only on the version, and a formatter leaves it alone", async () => {
  expect(programLauncher("1.2.3")).toEqual(programLauncher("1.2.3"));
  for (const { text } of [programLauncher("1.2.3"), hookLauncher("1.2.3"), packageGetter("1.2.3")]) {
    expect(text).not.toContain("@VERSION@");
    expect(await format(text, { parser: "babel" })).toBe(text);
  }
});
