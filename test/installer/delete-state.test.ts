import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { test } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { gitBytes, treeBytes } from "../helpers/tree-bytes.ts";

let root: string;
let program: string;
beforeAll(async () => {
  root = makeTemporaryFolder("delete state");
  program = await bundlePawl(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

describe("pawl uninstall --delete-state", () => {
  test("asks for the project's name, says how much goes, and leaves nothing", async ({ project }) => {
    const before = { tree: treeBytes(project.path), git: gitBytes(join(project.path, ".git")) };
    await project.pawl("install");
    await project.pawl("task", "new", "One");
    await project.pawl("note", "add", "Remember this");
    // As a snapshot leaves it.
    project.git("update-ref", "refs/pawl/snapshots/T0001/R1", "HEAD");
    const piped = await project.pawl("uninstall", "--delete-state", "--yes", "--json");
    expect(piped.json.error.code).toBe("no_terminal");
    const wrong = await onTerminal(program, project, ["uninstall", "--delete-state", "--yes"], "yes");
    expect([wrong.code, wrong.out]).toEqual([
      1,
      expect.stringContaining("1 task and 1 other record in .pawl/state"),
    ]);
    expect(existsSync(join(project.path, ".pawl/lock.json"))).toBe(true);
    const typed = await onTerminal(program, project, ["uninstall", "--delete-state"], "my project");
    expect([typed.code, typed.out]).toEqual([0, expect.stringContaining("no longer installed here")]);
    expect({ tree: treeBytes(project.path), git: gitBytes(join(project.path, ".git")) }).toEqual(before);
    expect(project.git("for-each-ref", "refs/pawl")).toBe("");
    expect(existsSync(join(project.path, ".git/refs/pawl"))).toBe(false);
  });

  test("is refused while a task has a worktree, and to agents", async ({ project }) => {
    await project.pawl("task", "new", "One");
    await project.pawl("start", "T1");
    const { code, out } = await onTerminal(program, project, ["uninstall", "--delete-state"], "my project");
    expect([code, out]).toEqual([1, expect.stringContaining("T0001 has a worktree")]);
    const agent = await project.pawlIn(
      project.path,
      { CLAUDECODE: "1" },
      "uninstall",
      "--delete-state",
      "--json",
    );
    expect(agent.json.error.code).toBe("human_only");
    expect(existsSync(join(project.path, ".pawl/state/tasks/T0001"))).toBe(true);
  });

  test("deletes nothing that is not this repository's own state, wherever the state is said to be", async ({
    project,
  }) => {
    const thesis = join(project.path, "../thesis");
    mkdirSync(join(thesis, "tasks"), { recursive: true });
    writeFileSync(join(thesis, "chapter 1.txt"), "precious\n");
    const removing = () => onTerminal(program, project, ["uninstall", "--delete-state"], "my project");
    await project.pawl("install");
    await project.pawl("task", "new", "One");
    // A folder of somebody's in place of the records, and a file of somebody's among them.
    writeFileSync(join(project.path, ".pawl/state/mine.txt"), "precious\n");
    const among = await removing();
    expect([among.code, among.out]).toEqual([1, expect.stringContaining("mine.txt was not written by pawl")]);
    rmSync(join(project.path, ".pawl/state/mine.txt"));
    renameSync(join(project.path, ".pawl/state"), join(project.path, "kept"));
    symlinkSync(thesis, join(project.path, ".pawl/state"));
    expect((await removing()).code).toBe(2);
    rmSync(join(project.path, ".pawl/state"));
    // A line that leads to it, with records of our own and without.
    const line = join(project.path, ".git/pawl/home");
    writeFileSync(line, `${thesis}\n`);
    writeFileSync(join(thesis, ".git"), `gitdir: ${join(project.path, ".git/pawl/state.git")}\n`);
    renameSync(join(project.path, ".git/pawl/state.git/refs"), join(project.path, "refs"));
    expect((await removing()).out).toContain("is not the state of any repository");
    renameSync(join(project.path, "refs"), join(project.path, ".git/pawl/state.git/refs"));
    expect((await removing()).code).toBe(0);
    expect(readFileSync(join(thesis, "chapter 1.txt"), "utf8")).toBe("precious\n");
    expect(readdirSync(thesis).sort()).toEqual([".git", "chapter 1.txt", "tasks"]);
  });

  test("without it records stay, and are told", async ({ project }) => {
    await project.pawl("install");
    await project.pawl("task", "new", "One");
    const { out } = await project.pawl("uninstall");
    expect(out).toContain("1 task kept in the state");
    expect((await project.pawl("task", "list")).out).toContain("One");
    // And they are found again by the next install.
    expect((await project.pawl("install")).code).toBe(0);
    expect((await project.pawl("task", "show", "T1")).code).toBe(0);
  });
});
