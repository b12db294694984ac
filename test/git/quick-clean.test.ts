import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { isSurelyClean } from "../../src/git/quick-clean.ts";
import { type Project, test } from "../helpers/command-line.ts";

/** A repository of a few kinds of files, whose index is old enough to be trusted. */
function settle(project: Project): void {
  project.write("src/a b.ts", "one\n");
  project.write("src/deep/c.ts", "two\n");
  project.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(project.path, "run.sh"), 0o755);
  symlinkSync("src/a b.ts", join(project.path, "link"));
  project.git("add", "-A");
  project.git("commit", "-q", "-m", "Files");
  age(project);
}

/** What time does by itself: the index gets older than a clock's tick than every file it knows. */
function age(project: Project): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
  project.git("update-index", "--force-write-index");
}

function look(project: Project, untracked = true): Promise<boolean> {
  const tree = project.git("rev-parse", "HEAD^{tree}");
  return isSurelyClean(project.path, join(project.path, ".git"), { tree }, { untracked });
}

test("a worktree that is its commit is clean without asking git", async ({ project }) => {
  settle(project);
  expect(await look(project)).toBe(true);
  expect(await look(project, false)).toBe(true);
});

const at = (project: Project, path: string) => join(project.path, path);

/** As if the file had been written in the very tick of the clock in which git looked at it and wrote its index. */
function makeYoung(project: Project, path: string): void {
  const index = readFileSync(at(project, ".git/index"));
  const stat = lstatSync(at(project, path), { bigint: true });
  const entry = index.indexOf(`${path}\0`) - 62;
  for (const [offset, ns] of [
    [0, stat.ctimeNs],
    [8, stat.mtimeNs],
  ] as const) {
    index.writeUInt32BE(Number(ns / 1_000_000_000n), entry + offset);
    index.writeUInt32BE(Number(ns % 1_000_000_000n), entry + offset + 4);
  }
  index.writeUInt32BE(Number(stat.ino & 0xffffffffn), entry + 20);
  writeFileSync(at(project, ".git/index"), index);
  utimesSync(at(project, ".git/index"), stat.mtime, stat.mtime);
}

const CHANGES: [string, (project: Project) => void][] = [
  ["other text", (project) => project.write("src/a b.ts", "other\n")],
  [
    "other text of the same length at the same time",
    (project) => {
      const { atime, mtime } = statSync(at(project, "src/a b.ts"));
      project.write("src/a b.ts", "eno\n");
      utimesSync(at(project, "src/a b.ts"), atime, mtime);
    },
  ],
  [
    "another file in its place",
    (project) => {
      writeFileSync(at(project, "new"), "one\n");
      renameSync(at(project, "new"), at(project, "src/a b.ts"));
    },
  ],
  ["a file that is gone", (project) => unlinkSync(at(project, "src/deep/c.ts"))],
  ["a folder that is gone", (project) => rmSync(at(project, "src/deep"), { recursive: true })],
  ["another mode", (project) => chmodSync(at(project, "run.sh"), 0o644)],
  [
    "a file where a link was",
    (project) => {
      unlinkSync(at(project, "link"));
      writeFileSync(at(project, "link"), "src/a b.ts");
    },
  ],
  [
    "a staged change",
    (project) => {
      project.write("src/a b.ts", "staged\n");
      project.git("add", "-A");
      age(project);
    },
  ],
  [
    "a staged change whose file is as before",
    (project) => {
      project.git("rm", "-q", "--cached", "run.sh");
      age(project);
    },
  ],
  [
    "an intent to add",
    (project) => {
      project.write("later", "");
      project.git("add", "-N", "later");
      age(project);
    },
  ],
  [
    "a file marked as unchanged",
    (project) => {
      project.git("update-index", "--assume-unchanged", "src/a b.ts");
      project.write("src/a b.ts", "hidden\n");
      age(project);
    },
  ],
  [
    "a file marked as not to be looked at",
    (project) => {
      project.git("update-index", "--skip-worktree", "src/a b.ts");
      age(project);
    },
  ],
  [
    "a conflict",
    (project) => {
      project.git("checkout", "-q", "-b", "side", "HEAD~1");
      project.write("src/a b.ts", "theirs\n");
      project.git("add", "-A");
      project.git("commit", "-q", "-m", "Theirs");
      try {
        project.git("merge", "-q", "main");
      } catch {
        age(project);
      }
    },
  ],
  ["an index of another form", (project) => project.git("update-index", "--index-version", "4")],
  ["a split index", (project) => project.git("update-index", "--split-index")],
  ["no index", (project) => unlinkSync(at(project, ".git/index"))],
  [
    "a file as young as the index, with other text of the same length",
    (project) => {
      project.write("src/a b.ts", "eno\n");
      makeYoung(project, "src/a b.ts");
    },
  ],
];

describe("is left to git:", () => {
  test.for(CHANGES)("%s", async ([, change], { project }) => {
    settle(project);
    change(project);
    expect(await look(project, false)).toBe(false);
  });

  test.for([
    ["a new file", (project) => project.write("src/new.ts", "")],
    ["a new file in a new folder", (project) => project.write("x/new.ts", "")],
    ["an empty folder", (project) => mkdirSync(at(project, "empty"))],
    [
      "an ignored file",
      (project) => {
        writeFileSync(at(project, ".git/info/exclude"), "*.log\n", { flag: "a" });
        project.write("x.log", "");
      },
    ],
  ] as [string, (project: Project) => void][])(
    "%s, where new files count",
    async ([, change], { project }) => {
      settle(project);
      mkdirSync(join(project.path, ".git/info"), { recursive: true });
      change(project);
      expect(await look(project)).toBe(false);
      expect(await look(project, false)).toBe(true);
    },
  );
});

test("a file as young as the index is read, and found to be the same", async ({ project }) => {
  settle(project);
  project.write("src/a b.ts", "one\n");
  makeYoung(project, "src/a b.ts");
  expect(await look(project)).toBe(true);
});

test("a link as young as the index is read as what it points to", async ({ project }) => {
  settle(project);
  makeYoung(project, "link");
  expect(await look(project)).toBe(true);
  unlinkSync(at(project, "link"));
  symlinkSync("src/b a.ts", at(project, "link"));
  makeYoung(project, "link");
  expect(await look(project)).toBe(false);
});

test("a large file as young as the index is read too", async ({ project }) => {
  project.write("large", "large file\n".repeat(100_000));
  settle(project);
  makeYoung(project, "large");
  expect(await look(project)).toBe(true);
  project.write("large", "other file\n".repeat(100_000));
  makeYoung(project, "large");
  expect(await look(project)).toBe(false);
});

test("another commit than the one that is checked out is not what the worktree is", async ({ project }) => {
  settle(project);
  const before = project.git("rev-parse", "HEAD~1^{tree}");
  expect(
    await isSurelyClean(project.path, join(project.path, ".git"), { tree: before }, { untracked: true }),
  ).toBe(false);
});

test("a linked worktree has an index of its own", async ({ project }) => {
  settle(project);
  const path = join(project.path, "..", "linked tree");
  project.git("worktree", "add", "-q", "-b", "side", path);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
  execFileSync("git", ["update-index", "--force-write-index"], { cwd: path, env: project.env });
  const gitDir = execFileSync("git", ["rev-parse", "--absolute-git-dir"], {
    cwd: path,
    env: project.env,
    encoding: "utf8",
  });
  const tree = project.git("rev-parse", "HEAD^{tree}");
  expect(await isSurelyClean(path, gitDir.trim(), { tree: tree }, { untracked: true })).toBe(true);
  writeFileSync(join(path, "run.sh"), "changed");
  expect(await isSurelyClean(path, gitDir.trim(), { tree: tree }, { untracked: true })).toBe(false);
});
