import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect } from "vitest";
import { discover, type Place } from "../../src/git/discover.ts";
import {
  branchOf,
  fetchedTips,
  filesOf,
  hasRef,
  headFiles,
  headOf,
  isCheckedOut,
  lockOf,
  logOf,
  symbolicFileOf,
  targetOf,
  tipOf,
} from "../../src/git/refs.ts";
import { gitDirOf, worktreesOf } from "../../src/git/repository-files.ts";
import { type Project, test } from "../helpers/command-line.ts";

const commonDirOf = (project: Project) => join(project.path, ".git");

describe("refs, read without git, are what git says", () => {
  test("loose, packed, both, and absent", ({ project }) => {
    const commonDir = commonDirOf(project);
    project.git("branch", "task/T0001-a-b");
    project.git("tag", "-a", "-m", "words", "v1");
    project.git("pack-refs", "--all");
    project.commit("a.txt", "a\n");
    project.git("branch", "loose");
    const listed = project.git("for-each-ref", "--format=%(refname) %(objectname)").split("\n");
    expect(listed.length).toBeGreaterThan(3);
    for (const line of listed) {
      const [ref = "", id] = line.split(" ");
      expect([ref, tipOf(commonDir, ref)]).toEqual([ref, id]);
      expect(hasRef(commonDir, ref)).toBe(true);
    }
    // Another ref's name may end with, or go on after, the one that is asked for.
    for (const ref of [
      "refs/heads/absent",
      "refs/heads/mai",
      "heads/main",
      "refs/heads",
      "refs/heads/main/x",
    ])
      expect([ref, tipOf(commonDir, ref), hasRef(commonDir, ref)]).toEqual([ref, undefined, false]);
  });

  test("symbolic ones are followed as far as git follows them, and a circle ends", ({ project }) => {
    const commonDir = commonDirOf(project);
    project.git("symbolic-ref", "refs/heads/other-name", "refs/heads/main");
    expect(tipOf(commonDir, "refs/heads/other-name")).toBe(project.git("rev-parse", "main"));
    expect(targetOf(commonDir, "refs/heads/other-name")).toBe("refs/heads/main");
    expect(targetOf(commonDir, "refs/heads/main")).toBeUndefined();
    writeFileSync(join(commonDir, "refs/heads/round"), "ref: refs/heads/and-round\n");
    writeFileSync(join(commonDir, "refs/heads/and-round"), "ref: refs/heads/round\n");
    expect(tipOf(commonDir, "refs/heads/round")).toBeUndefined();
    const at = { gitDir: commonDir, commonDir };
    expect(isCheckedOut(at, "refs/heads/main")).toBe(true);
    project.git("symbolic-ref", "HEAD", "refs/heads/other-name");
    expect(isCheckedOut(at, "refs/heads/main")).toBe(true);
    expect(isCheckedOut(at, "refs/heads/mai")).toBe(false);
    project.git("symbolic-ref", "HEAD", "refs/heads/round");
    expect(isCheckedOut(at, "refs/heads/main")).toBe(false);
  });

  test("what is checked out: a branch, a branch without a commit, a commit", ({ project }) => {
    const at = { gitDir: commonDirOf(project), commonDir: commonDirOf(project) };
    const commit = project.git("rev-parse", "HEAD");
    expect(headOf(at)).toEqual({ branch: "main", commit });
    project.git("symbolic-ref", "HEAD", "refs/heads/new");
    expect(headOf(at)).toEqual({ branch: "new", commit: undefined });
    project.git("checkout", "-q", "--detach", "main");
    expect(headOf(at)).toEqual({ branch: undefined, commit });
    expect(branchOf(at.gitDir)).toBeUndefined();
  });

  test("where refs lie in tables, git is asked, and again when the tables are others", ({ project }) => {
    const commonDir = commonDirOf(project);
    mkdirSync(join(commonDir, "reftable"));
    const look = () => [headOf({ gitDir: commonDir, commonDir }), tipOf(commonDir, "refs/heads/main")];
    const first = project.git("rev-parse", "main");
    expect(look()).toEqual([{ branch: "main", commit: first }, first]);
    // The git of this machine may know no tables, so that it answers from files; what counts is when it is asked.
    project.git("commit", "-q", "--allow-empty", "-m", "x");
    expect(look()).toEqual([{ branch: "main", commit: first }, first]);
    writeFileSync(join(commonDir, "reftable/tables.list"), "one\n");
    const second = project.git("rev-parse", "main");
    expect(look()).toEqual([{ branch: "main", commit: second }, second]);
  });
});

test("refs in tables that git cannot read are not taken for absent", ({ project }) => {
  const commonDir = commonDirOf(project);
  mkdirSync(join(commonDir, "reftable"));
  project.git("config", "core.repositoryFormatVersion", "1");
  project.git("config", "extensions.ofTheFuture", "x");
  expect(() => tipOf(commonDir, "refs/heads/main")).toThrow(/ofthefuture/i);
  expect(() => headOf({ gitDir: commonDir, commonDir })).toThrow(/ofthefuture/i);
});

test("a worktree that git is still adding, or that is damaged, has nothing checked out, in tables as in files", ({
  project,
}) => {
  const gitDir = join(commonDirOf(project), "worktrees", "half made");
  mkdirSync(join(gitDir, "reftable"), { recursive: true });
  expect(targetOf(gitDir, "HEAD")).toBeUndefined();
  writeFileSync(join(gitDir, "HEAD"), "ref: refs/heads/.invalid\n");
  expect(targetOf(gitDir, "HEAD")).toBeUndefined();
  // Everything is there, and leads nowhere.
  writeFileSync(join(gitDir, "commondir"), "../nowhere\n");
  expect(targetOf(gitDir, "HEAD")).toBeUndefined();
  project.git("config", "core.repositoryFormatVersion", "1");
  project.git("config", "extensions.ofTheFuture", "x");
  mkdirSync(join(commonDirOf(project), "reftable"));
  writeFileSync(join(commonDirOf(project), "reftable", "tables.list"), "one\n");
  expect(() => targetOf(gitDir, "HEAD")).toThrow(/ofthefuture/i);
});

test("where the remotes have a branch: loose, packed, both, and in tables", ({ project }) => {
  const commonDir = commonDirOf(project);
  const [old, fresh] = [project.git("rev-parse", "main"), project.commit("a.txt", "a\n")];
  const fetched = (ref: string, tip: string) => project.git("update-ref", `refs/remotes/${ref}`, tip);
  for (const ref of ["one/main", "two/main", "two/old/main", "three/domain", "four/main/x"])
    fetched(ref, old);
  project.git("pack-refs", "--all");
  fetched("two/main", fresh);
  fetched("five/main", fresh);
  const look = (branch: string) => fetchedTips(commonDir, branch).sort();
  const expected = [[old, fresh, fresh].sort(), [old], []];
  expect(["main", "old/main", "absent"].map(look)).toEqual(expected);
  // The git of this machine may know no tables, so that it answers from files; what counts is that it is asked.
  mkdirSync(join(commonDir, "reftable"));
  project.git("pack-refs", "--all");
  expect(["main", "old/main", "absent"].map(look)).toEqual(expected);
});

describe("files that stand for a ref", () => {
  const stampOf = (files: readonly string[]) =>
    files.map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
      return stat && `${stat.ino} ${stat.ctimeNs} ${stat.size}`;
    });

  test.for(["loose", "packed"])("one of them changes when the branch moves: %s", (kind, { project }) => {
    if (kind === "packed") project.git("pack-refs", "--all");
    const files = filesOf(commonDirOf(project), "refs/heads/main");
    const before = stampOf(files);
    project.commit("a.txt", "a\n");
    expect(stampOf(files)).not.toEqual(before);
  });

  test("one changes when a packed branch is packed anew elsewhere", ({ project }) => {
    project.git("branch", "side");
    project.git("pack-refs", "--all");
    const files = filesOf(commonDirOf(project), "refs/heads/side");
    const before = stampOf(files);
    project.commit("a.txt", "a\n");
    project.git("branch", "-f", "side", "main");
    project.git("pack-refs", "--all");
    expect(stampOf(files)).not.toEqual(before);
  });

  test("a symbolic one's own file changes with its target", ({ project }) => {
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    const file = symbolicFileOf(commonDirOf(project), "refs/remotes/origin/HEAD");
    const before = stampOf([file]);
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/longer");
    expect(stampOf([file])).not.toEqual(before);
  });

  test("git itself takes the lock for one", ({ project }) => {
    writeFileSync(lockOf(commonDirOf(project), "refs/heads/side"), "");
    expect(() => project.git("branch", "side")).toThrow(/File exists/);
  });
});

test("a log has every entry, oldest first, and also what does not fit together", ({ project }) => {
  const gitDir = commonDirOf(project);
  const [first, second] = [project.git("rev-parse", "HEAD"), project.commit("a.txt", "a\n")];
  appendFileSync(
    join(gitDir, "logs/HEAD"),
    `${first} ${first} A 12 +0000 <a@b> 1700000000 +0200\tcommit: odd\nnonsense\n`,
  );
  const log = logOf(gitDir, "HEAD") ?? [];
  expect(log.at(-1)).toEqual({ old: first, new: first, time: 1_700_000_000, message: "commit: odd" });
  expect(log.at(-2)).toMatchObject({ old: first, new: second, message: expect.stringMatching(/^commit: /) });
  expect(log.at(-2)?.time).toBe(Number(project.git("log", "-1", "--format=%ct", second)));
  expect(logOf(gitDir, "refs/heads/absent")).toBeUndefined();
  expect(headFiles(gitDir).every((file) => existsSync(file))).toBe(true);
});

describe("worktrees", () => {
  test("of the main folder and linked ones, as git lists them", ({ project }) => {
    const { commonDir, mainRoot } = discover(project.path) as Place;
    project.git("worktree", "add", "-q", "-b", "one", "linked trees/one");
    project.git("worktree", "add", "-q", "--detach", "linked trees/two");
    const listed = project.git("worktree", "list", "--porcelain").matchAll(/^worktree (.*)$/gm);
    const found = worktreesOf({ commonDir, mainRoot });
    expect(found.map(({ root }) => root)).toEqual([...listed].map((match) => match[1]));
    expect(found.map(({ id }) => id)).toEqual([".", "worktrees/one", "worktrees/two"]);
    for (const { root = "", gitDir } of found) expect(gitDirOf(root)).toBe(gitDir);
    expect(found.map(({ gitDir }) => branchOf(gitDir))).toEqual(["main", "one", undefined]);
  });

  test("with relative links, as git can be told to write them", ({ project }) => {
    const { commonDir, mainRoot } = discover(project.path) as Place;
    project.git("worktree", "add", "-q", "-b", "one", "one");
    const [root, gitDir] = [join(project.path, "one"), join(commonDir, "worktrees/one")];
    writeFileSync(join(gitDir, "gitdir"), `${relative(gitDir, join(root, ".git"))}\n`);
    writeFileSync(join(root, ".git"), `gitdir: ${relative(root, gitDir)}\n`);
    expect(worktreesOf({ commonDir, mainRoot })[1]).toEqual({ id: "worktrees/one", gitDir, root });
    expect(gitDirOf(root)).toBe(gitDir);
    expect(discover(root)).toMatchObject({ root, gitDir, commonDir });
  });

  test("that git has only begun to make have no folder yet; a bare repository has no main one", ({
    project,
  }) => {
    const { commonDir } = discover(project.path) as Place;
    mkdirSync(join(commonDir, "worktrees/begun"), { recursive: true });
    expect(worktreesOf({ commonDir, mainRoot: undefined }).map(({ root }) => root)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("a folder whose .git is nothing of git's has no git directory", ({ project }) => {
    project.write("strange/.git", "hello\n");
    expect(gitDirOf(join(project.path, "strange"))).toBeUndefined();
    expect(gitDirOf(join(project.path, "strange/.git"))).toBeUndefined();
    expect(gitDirOf(join(project.path, "absent"))).toBeUndefined();
    expect(readFileSync(join(project.path, "strange/.git"), "utf8")).toBe("hello\n");
  });
});
