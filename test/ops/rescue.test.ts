import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { noteStrays } from "../../src/git/strays.ts";
import { type Project, test } from "../helpers/command-line.ts";

const AGENT = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "one" };
const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}`);
const TEXT = `${LINES.join("\n")}\n`;

const worktreeOf = (project: Project) => join(project.path, ".worktrees", "T0001-retry-uploads");
const inWorktree = (project: Project, ...args: string[]) =>
  execFileSync("git", args, { cwd: worktreeOf(project), env: project.env, encoding: "utf8", stdio: "pipe" });
const textIn = (folder: string, path: string) => readFileSync(join(folder, path), "utf8");
const statusOf = (project: Project) => project.git("status", "--porcelain");

/** A started task, and files in the main checkout to go astray with. */
async function begin(project: Project, env: Record<string, string> = {}): Promise<void> {
  project.write("big.txt", TEXT);
  project.write("gone.txt", "will go\n");
  project.write("run.sh", "#!/bin/sh\n");
  project.write("dir/sub/deep.txt", "deep\n");
  project.git("add", "-A");
  project.git("commit", "-q", "-m", "Files");
  await project.pawl("task", "new", "Retry uploads");
  expect((await project.pawlIn(project.path, env, "start", "T1")).code).toBe(0);
}

describe("a rescue", () => {
  test("moves every kind of change beside what is uncommitted in the worktree, and keeps a copy", async ({
    project,
  }) => {
    await begin(project);
    const [main, worktree] = [project.path, worktreeOf(project)];
    // The worktree has work of its own, in the same file and beside it.
    writeFileSync(join(worktree, "big.txt"), TEXT.replace("line 28", "line 28, theirs"));
    writeFileSync(join(worktree, "own.txt"), "own\n");
    project.write("big.txt", TEXT.replace("line 2\n", "line 2, astray\n"));
    project.write('odd "name" ä.txt', "new\n");
    project.write("new/folder/x.txt", "new\n");
    rmSync(join(main, "gone.txt"));
    chmodSync(join(main, "run.sh"), 0o755);
    rmSync(join(main, "dir/sub/deep.txt"));
    symlinkSync("../big.txt", join(main, "dir/link"));
    project.git("add", "new");

    const { code, json } = await project.pawl("rescue", "--json");
    expect(code).toBe(0);
    expect(json.data.rescued.files.toSorted()).toEqual(
      [
        "big.txt",
        "dir/link",
        "dir/sub/deep.txt",
        "gone.txt",
        "new/folder/x.txt",
        'odd "name" ä.txt',
        "run.sh",
      ].toSorted(),
    );
    expect(statusOf(project)).toBe("");
    expect(textIn(main, "big.txt")).toBe(TEXT);
    expect(existsSync(join(main, "new"))).toBe(false);
    expect(statSync(join(main, "run.sh")).mode & 0o111).toBe(0);
    expect(textIn(worktree, "big.txt")).toBe(
      TEXT.replace("line 28", "line 28, theirs").replace("line 2\n", "line 2, astray\n"),
    );
    expect(textIn(worktree, "own.txt")).toBe("own\n");
    expect(textIn(worktree, 'odd "name" ä.txt')).toBe("new\n");
    expect(textIn(worktree, "new/folder/x.txt")).toBe("new\n");
    expect(existsSync(join(worktree, "gone.txt"))).toBe(false);
    expect(existsSync(join(worktree, "dir/sub"))).toBe(false);
    expect(readlinkSync(join(worktree, "dir/link"))).toBe("../big.txt");
    expect(statSync(join(worktree, "run.sh")).mode & 0o111).not.toBe(0);
    // Nothing was staged or committed there, and a copy of everything is kept.
    expect(inWorktree(project, "diff", "--cached", "--name-only")).toBe("");
    const { ref } = json.data.rescued;
    expect(project.git("show", `${ref}:big.txt`)).toContain("line 2, astray");
    expect(project.git("rev-parse", `${ref}^`)).toBe(project.git("rev-parse", "main"));
    expect(project.read("tasks/T0001/decisions/D1.md")).toContain(ref);
    expect((await project.pawl("rescue")).out).toContain("nothing to move");
  });

  test("is refused while the worktree is gone, with the command that brings it back", async ({ project }) => {
    await begin(project);
    rmSync(worktreeOf(project), { recursive: true });
    project.write("new.txt", "new\n");
    const { code, json } = await project.pawl("rescue", "T1", "--json");
    expect([code, json.error.code, json.error.hint]).toEqual([
      1,
      "worktree_missing",
      "pawl start T0001 --claim",
    ]);
    expect((await project.pawl("start", "T1", "--claim")).code).toBe(0);
    expect((await project.pawl("rescue", "T1")).code).toBe(0);
    expect(textIn(worktreeOf(project), "new.txt")).toBe("new\n");
  });

  test("that does not fit moves nothing, and says where the changes are kept", async ({ project }) => {
    await begin(project);
    const worktree = worktreeOf(project);
    writeFileSync(join(worktree, "big.txt"), TEXT.replace("line 2\n", "line 2, theirs\n"));
    project.write("big.txt", TEXT.replace("line 2\n", "line 2, astray\n"));
    project.write("new.txt", "new\n");
    const before = [statusOf(project), inWorktree(project, "status", "--porcelain")];
    const { code, json } = await project.pawl("rescue", "--json");
    expect(code).toBe(1);
    expect(json.error).toMatchObject({ code: "does_not_fit", details: { files: ["big.txt"] } });
    expect([statusOf(project), inWorktree(project, "status", "--porcelain")]).toEqual(before);
    expect(textIn(project.path, "big.txt")).toContain("line 2, astray");
    expect(textIn(worktree, "big.txt")).toContain("line 2, theirs");
    expect(project.git("show", `${json.error.details.ref}:new.txt`)).toBe("new");
    // What fits can still be moved on its own.
    expect((await project.pawl("rescue", "--file", "new.txt")).code).toBe(0);
    expect(textIn(worktree, "new.txt")).toBe("new\n");
    expect(statusOf(project)).toBe("M big.txt");
  });

  test("keeps what was staged and is in no file any more", async ({ project }) => {
    await begin(project);
    project.write("big.txt", "staged\n");
    project.git("add", "big.txt");
    project.write("big.txt", TEXT);
    const { code, json } = await project.pawl("rescue", "--json");
    expect(code).toBe(0);
    expect(statusOf(project)).toBe("");
    expect(json.warnings.join()).toContain("was not moved; it is kept");
    expect(project.git("show", `${json.data.rescued.ref}^2:big.txt`)).toBe("staged");
  });

  test("is rehearsed without a trace", async ({ project }) => {
    await begin(project);
    project.write("new.txt", "new\n");
    const refs = project.git("for-each-ref");
    const { json } = await project.pawl("rescue", "--dry-run", "--json");
    expect(json.data.planned ?? json.planned).toEqual([
      expect.objectContaining({ do: "move", path: expect.stringContaining("new.txt to ") }),
    ]);
    expect(project.git("for-each-ref")).toBe(refs);
    expect(statusOf(project)).toBe("?? new.txt");
  });

  test("is refused while a merge is under way, and from a file that is not changed", async ({ project }) => {
    await begin(project);
    project.write("new.txt", "new\n");
    expect((await project.pawl("rescue", "--file", "big.txt", "--json")).json.error.code).toBe("not_changed");
    writeFileSync(join(project.path, ".git/MERGE_HEAD"), `${project.git("rev-parse", "HEAD")}\n`);
    expect((await project.pawl("rescue", "--json")).json.error.code).toBe("operation_in_progress");
    expect(lstatSync(join(project.path, "new.txt")).isFile()).toBe(true);
  });
});

describe("whose changes move", () => {
  test("an agent moves only what an agent's session was seen to change", async ({ project }) => {
    await begin(project, AGENT);
    project.write("mine.txt", "a human's\n");
    const rescue = async (...argv: string[]) =>
      (await project.pawlIn(project.path, AGENT, "rescue", ...argv, "--json")).json;
    expect((await rescue()).error.code).toBe("maybe_a_humans");
    project.write("stray.txt", "an agent's\n");
    noteStrays(join(project.path, ".git"), "one", ["stray.txt"]);
    expect((await rescue("--file", "mine.txt")).error.code).toBe("maybe_a_humans");
    expect((await rescue()).data.rescued).toMatchObject({ files: ["stray.txt"], left: ["mine.txt"] });
    expect(statusOf(project)).toBe("?? mine.txt");
  });

  test("a human's own work stays unless it is named, or is all there is", async ({ project }) => {
    await begin(project);
    project.write("mine.txt", "a human's\n");
    project.write("stray.txt", "an agent's\n");
    noteStrays(join(project.path, ".git"), "one", ["stray.txt"]);
    expect((await project.pawl("rescue", "--json")).json.data.rescued.files).toEqual(["stray.txt"]);
    expect((await project.pawl("rescue", "--json")).json.data.rescued.files).toEqual(["mine.txt"]);
    expect(statusOf(project)).toBe("");
  });

  test("session, check and audit tell what went astray, and the command", { tags: ["proof"] }, async ({
    project,
  }) => {
    await begin(project);
    await project.pawl("install", "--profile", "hooks");
    project.write("big.txt", "astray\n");
    noteStrays(join(project.path, ".git"), "one", ["big.txt", "long gone.txt"]);
    expect((await project.pawl("session")).err).toMatch(
      /note: .*main checkout: big\.txt\. .*pawl rescue T0001/,
    );
    const { json } = await project.pawl("check", "--stage", "close", "--json");
    expect(
      json.data.check.reasons.find((one: { code: string }) => one.code === "target_dirty"),
    ).toMatchObject({
      message: expect.stringContaining("an agent's session made: big.txt"),
      command: "pawl rescue T0001",
    });
    expect((await project.pawl("audit")).err).toMatch(/note: 1 file of main changed .*big\.txt.*pawl rescue/);
    expect((await project.pawl("rescue", "T1")).code).toBe(0);
    expect((await project.pawl("session")).err).not.toContain("main checkout");
    expect((await project.pawl("audit")).err).not.toContain("rescue");
  });
});
