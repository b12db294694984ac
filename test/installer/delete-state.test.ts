import { execFileSync } from "node:child_process";
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
import { openProject, test } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { ok, typing } from "../helpers/ready-task.ts";
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
  test("asks for the project's name, says what will be deleted, and leaves nothing", async ({ project }) => {
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

  test("without it, uninstall names what stays, the command that removes it, and the commit to make", {
    tags: ["proof"],
  }, async ({ project }) => {
    const run = (line: string) =>
      execFileSync("sh", ["-c", line], { cwd: project.path, env: project.env, stdio: "pipe" });
    project.git("init", "-q", "--bare", join(project.path, "../remote.git"));
    project.git("remote", "add", "origin", "../remote.git");
    project.git("push", "-q", "-u", "origin", "main");
    project.commit(".pawl/approvers.yaml", "approvers: []\n");
    await ok(project.pawl("install", "--commit"));
    await ok(project.pawl("start", "Say hello"));
    project.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/pawl/state");
    const { json } = await project.pawl("uninstall", "--yes", "--json");
    const { stays } = json.data.uninstall as { stays: string[] };
    expect(stays).toEqual([
      expect.stringMatching(/^a worktree; to remove it: git worktree unlock .* && git worktree remove /),
      "1 task branch; to delete: git branch -D task/T0001-say-hello",
      "the approvers' keys; to remove them: git rm .pawl/approvers.yaml",
      "a branch on origin; to delete it: git push origin --delete pawl/state",
    ]);
    for (const line of stays) run(line.slice(line.indexOf(": ") + 2));
    run(json.next.command);
    expect(project.git("status", "--porcelain")).toBe("");
    expect(project.git("ls-files", ".pawl")).toBe("");
    expect(project.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(project.git("ls-remote", "origin", "refs/heads/pawl/state")).toBe("");
    expect(project.git("branch", "--list", "task/*")).toBe("");
  });

  test("a script has to pass --yes, and nobody is asked where nothing is installed", async ({ project }) => {
    expect((await project.pawl("uninstall")).out).toBe("There was nothing to remove.\n");
    await ok(project.pawl("install"));
    const refused = await project.pawl("uninstall");
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining("agree in advance: pawl uninstall --yes"),
    ]);
    expect(existsSync(join(project.path, ".pawl/lock.json"))).toBe(true);
    await ok(project.pawl("uninstall", "--yes"));
    const again = await onTerminal(program, project, ["uninstall"], "");
    expect([again.code, again.out]).toEqual([0, expect.stringContaining("There was nothing to remove.")]);
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

  test("deletes only this repository's own state, wherever links and files say the state is", {
    tags: ["proof"],
  }, async ({ project }) => {
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

  test("without it, the records stay and uninstall says so", async ({ project }) => {
    await project.pawl("install");
    await project.pawl("task", "new", "One");
    const { out } = await project.pawl("uninstall", "--yes");
    expect(out).toContain("1 task in .pawl/state; git does not see it (.git/info/exclude)");
    expect(out).toContain("to delete that, its history and all saved work: pawl uninstall --delete-state");
    expect((await project.pawl("task", "list")).out).toContain("One");
    // And they are found again by the next install.
    expect((await project.pawl("install")).code).toBe(0);
    expect((await project.pawl("task", "show", "T1")).code).toBe(0);
  });
});

describe("an install after an uninstall", () => {
  test("names the command that makes the audit pass; a first install and a colleague's have nothing to name", {
    tags: ["proof"],
  }, async ({ project }) => {
    const BEFORE = /pawl was on main before/;
    const human = { root: project.path, env: project.env, repos: [project] };
    project.git("init", "-q", "--bare", join(project.path, "../origin.git"));
    project.git("remote", "add", "origin", "../origin.git");
    project.git("push", "-q", "-u", "origin", "main");
    const install = ["install", "--agents", "claude", "--commit", "--yes"];
    expect((await ok(project.pawl(...install))).err).not.toMatch(BEFORE);
    project.git("push", "-q", "--no-verify", "origin", "main");
    const mate = openProject({ ...project, path: join(project.path, "../mate") });
    project.git("clone", "-q", "../origin.git", mate.path);
    expect((await ok(mate.pawl("install", "--yes"))).err).not.toMatch(BEFORE);
    await ok(project.pawl("uninstall", "--yes"));
    project.git("commit", "-qam", "Uninstall pawl");
    project.commit("plain.txt", "Work without pawl\n");
    expect((await ok(project.pawl(...install))).err).toContain(
      "pawl was on main before, and nothing explains 3 commits since; audits report that until a human accepts it: pawl unlock main --accept",
    );
    expect((await project.pawl("audit", "--offline")).code).toBe(1);
    await ok(typing(human, { typed: "main" }, "unlock", "main", "--accept"));
    expect((await project.pawl("audit", "--offline")).code).toBe(0);
  });
});
