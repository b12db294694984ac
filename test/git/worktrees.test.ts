import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { discover, type Place } from "../../src/git/discover.ts";
import { openWorktrees } from "../../src/git/worktrees/open.ts";
import type { Workplace, Worktrees } from "../../src/ports/worktrees.ts";
import { type Project, test } from "../helpers/command-line.ts";

interface Ground {
  worktrees: Worktrees;
  place: Workplace;
  tip: string;
  make(): Promise<string[]>;
}

function groundOf(project: Project, path = ".worktrees/T0001-x"): Ground {
  const place = discover(project.path) as Place;
  const worktrees = openWorktrees({
    cwd: project.path,
    env: project.env,
    place,
    held: join(project.path, ".git/held"),
    recover: () => {},
    clones: () => [],
  });
  const site = { name: "my project", home: true, commonDir: place.commonDir, mainRoot: place.mainRoot };
  const workplace = { site, task: "T0001", branch: "task/T0001-x", path: join(project.path, path) };
  const tip = project.git("rev-parse", "main");
  const make = async () => {
    await worktrees.makeBranch(workplace, tip);
    const warnings = await worktrees.build(workplace);
    await worktrees.bind(workplace);
    return warnings;
  };
  return { worktrees, place: workplace, tip, make };
}

test("a branch that is there at another commit is left alone", async ({ project }) => {
  const { worktrees, place } = groundOf(project);
  const other = project.commit("a.txt", "a\n");
  project.git("branch", place.branch, "HEAD~1");
  await expect(worktrees.makeBranch(place, other)).rejects.toMatchObject({ code: "branch_exists" });
  expect(await worktrees.deleteBranch(place, other)).toBe(false);
  expect(project.git("rev-parse", place.branch)).toBe(project.git("rev-parse", "HEAD~1"));
});

test("a lock that a killed git left on the task's branch is outlived", { tags: ["proof"] }, async ({
  project,
}) => {
  const { worktrees, place, tip } = groundOf(project);
  mkdirSync(join(project.path, ".git/refs/heads/task"), { recursive: true });
  writeFileSync(join(project.path, `.git/refs/heads/${place.branch}.lock`), "");
  await worktrees.makeBranch(place, tip);
  expect(project.git("rev-parse", place.branch)).toBe(tip);
});

test("an entry that git began and never gave a place does not keep its name", async ({ project }) => {
  const ground = groundOf(project);
  mkdirSync(join(project.path, ".git/worktrees/T0001-x"), { recursive: true });
  writeFileSync(join(project.path, ".git/worktrees/T0001-x/locked"), "initializing\n");
  await ground.make();
  expect(ground.worktrees.whereabouts(ground.place)).toMatchObject({
    state: "in place",
    worktree: { gitDir: "worktrees/T0001-x", task: "T0001", lock: "pawl T0001" },
  });
});

test("what somebody put at the final place meanwhile is not touched", async ({ project }) => {
  const ground = groundOf(project);
  await ground.worktrees.makeBranch(ground.place, ground.tip);
  mkdirSync(join(project.path, ".worktrees"));
  symlinkSync("nowhere", ground.place.path);
  await expect(ground.worktrees.build(ground.place)).rejects.toMatchObject({ code: "path_exists" });
  expect(await ground.worktrees.undo(ground.place, ground.tip)).toBe("undone");
  expect(project.git("branch", "--list", "task/*")).toBe("");
  expect(readlinkSync(ground.place.path)).toBe("nowhere");
});

for (const [what, use] of [
  ["a new file", (path: string) => writeFileSync(join(path, "new.txt"), "new\n")],
  ["a changed file", (path: string) => writeFileSync(join(path, "README.md"), "changed\n")],
] as const)
  test(`what was made is taken back, but not with ${what} in it`, async ({ project }) => {
    const ground = groundOf(project);
    await ground.make();
    use(ground.place.path);
    expect(await ground.worktrees.undo(ground.place, ground.tip)).toBe("used");
    expect(ground.worktrees.whereabouts(ground.place).state).toBe("in place");
    expect(project.git("rev-parse", ground.place.branch)).toBe(ground.tip);
    expect(project.git("worktree", "list")).toContain(ground.place.path);
  });

test("a commit in it keeps it as well", async ({ project }) => {
  const ground = groundOf(project);
  await ground.make();
  project.git("-C", ground.place.path, "commit", "-q", "--allow-empty", "-m", "Mine");
  expect(await ground.worktrees.undo(ground.place, ground.tip)).toBe("used");
  expect(project.git("rev-parse", `${ground.place.branch}~1`)).toBe(ground.tip);
});

test("a worktree that was set aside comes back as it was", async ({ project }) => {
  const { worktrees, place, make } = groundOf(project);
  await make();
  writeFileSync(join(place.path, "new.txt"), "new\n");
  await worktrees.setAside(place);
  expect(worktrees.whereabouts(place).state).toBe("aside");
  expect(existsSync(place.path)).toBe(false);
  // Without the mark nothing is removed.
  await worktrees.discard(place);
  await worktrees.bringBack(place);
  expect(readFileSync(join(place.path, "new.txt"), "utf8")).toBe("new\n");
  expect(project.git("status", "--porcelain")).toBe("");
});

test("half a move is repaired: git finds the worktree where it is", async ({ project }) => {
  const { worktrees, place, make } = groundOf(project);
  await make();
  writeFileSync(join(project.path, ".git/worktrees/T0001-x/gitdir"), "");
  await worktrees.build(place);
  expect(project.git("worktree", "list")).toContain(place.path);
});

test("names with signs of a pattern are hidden as names", async ({ project }) => {
  const ground = groundOf(project, "[w]ork*/T0001-x");
  project.write("work/mine.txt", "to be seen\n");
  await ground.make();
  expect(project.git("status", "--porcelain", "-uall")).toBe("?? work/mine.txt");
});

test("the content of a worktree is told to the byte", async ({ project }) => {
  const { worktrees, place, make, tip } = groundOf(project);
  await make();
  expect(await worktrees.content(place.path)).toMatchObject({ head: tip, committed: true, whole: true });
  const file = join(place.path, "README.md");
  const { length } = readFileSync(file, "utf8");
  writeFileSync(file, "x".repeat(length));
  utimesSync(file, new Date(0), new Date(0));
  expect(await worktrees.content(place.path)).toMatchObject({ head: tip, committed: false });
});

test("a task is held by one at a time", ({ project }) => {
  const { worktrees } = groundOf(project);
  const release = worktrees.hold("T0001");
  expect(release).toBeTypeOf("function");
  expect(worktrees.hold("T0001")).toBeUndefined();
  worktrees.hold("T0002")?.();
  release?.();
  const again = worktrees.hold("T0001");
  expect(again).toBeTypeOf("function");
  again?.();
});

test("worktrees are made and removed while others remove every empty folder around them", async ({
  project,
}) => {
  const folders = [".worktrees/.new", ".worktrees/.removing", ".worktrees", ".git/worktrees"];
  const swept = folders.map((one) => `'${join(project.path, one)}'`).join(" ");
  const mark = join(project.path, ".git/swept");
  // Before every second worktree command somebody else takes the empty folders away, as a start that ends just then does.
  const sweep = `if rm "$mark" 2>/dev/null; then :; else rmdir ${swept} 2>/dev/null; : >"$mark"; fi`;
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\nmark='${mark}'\ncase " $* " in *" worktree "*) ${sweep};; esac\nexec ${git} "$@"\n`;
  mkdirSync(join(project.path, ".git/bin"));
  writeFileSync(join(project.path, ".git/bin/git"), script, { mode: 0o755 });
  project.env.PATH = `${join(project.path, ".git/bin")}:${project.env.PATH}`;

  const { worktrees, place, make } = groundOf(project);
  for (let round = 0; round < 3; round++) {
    await make();
    expect(existsSync(join(place.path, ".git"))).toBe(true);
    await worktrees.setAside(place);
    await worktrees.bringBack(place);
    await worktrees.setAside(place);
    worktrees.doom(place);
    await worktrees.discard(place);
    expect(existsSync(place.path)).toBe(false);
  }
});
