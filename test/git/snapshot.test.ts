import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { RunSnapshot } from "../../src/model/records/run.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { type HandMadeRun, makeRun } from "../helpers/hand-made-run.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const REF = "refs/pawl/snapshots/T0001/R1";
const PATCH = "tasks/T0001/runs/R1/my project.patch";

async function take(project: Project): Promise<RunSnapshot & { warnings: string[]; changed: boolean }> {
  const { json, err } = await project.pawl("snapshot", "T1", "--json");
  expect(json.ok, JSON.stringify(json) + err).toBe(true);
  return { ...json.data.snapshots[0], warnings: json.warnings, changed: json.data.changed };
}

const bytesOf = (work: HandMadeRun, ...args: string[]) =>
  execFileSync("git", args, { cwd: work.worktree, maxBuffer: 2 ** 28 });

/** Everything of the user's that a snapshot could change: files, index, HEAD, branches, stash, configuration. */
function everythingOf(project: Project, work: HandMadeRun) {
  const gitDir = work.git("rev-parse", "--absolute-git-dir");
  const index = join(gitDir, "index");
  const files = filesBelow(Buffer.from(work.worktree)).map((path) => {
    const stat = lstatSync(path);
    return [path.toString("latin1"), stat.mtimeMs, stat.mode, stat.isFile() ? readFileSync(path, "hex") : ""];
  });
  return {
    files,
    index: [readFileSync(index, "hex"), statSync(index).mtimeMs],
    gitDir: readdirSync(gitDir).sort(),
    head: readFileSync(join(gitDir, "HEAD"), "utf8"),
    refs: project
      .git("for-each-ref")
      .split("\n")
      .filter((line) => !line.includes("refs/pawl/")),
    config: readFileSync(join(project.path, ".git", "config"), "utf8"),
  };
}

/** Names need not be text, so they are bytes here. */
function filesBelow(folder: Buffer): Buffer[] {
  return readdirSync(folder, { encoding: "buffer" }).flatMap((name) => {
    const path = Buffer.concat([folder, Buffer.from("/"), name]);
    return lstatSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** The patch, applied to where the run began, gives exactly the tree that was saved; also where nothing else is known. */
function expectPatchGivesTree(project: Project, saved: RunSnapshot): void {
  const path = join(project.path, "../only the base.git");
  const env = { ...project.env, GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
  git(project.path, "init", "-q", "--bare", "--template=", path);
  git(project.path, "-c", "push.gpgSign=false", "push", "-q", path, `${saved.base_head}:refs/heads/base`);
  git(path, "read-tree", "base");
  const patch = join(stateOf(project), PATCH);
  if (statSync(patch).size > 0) git(path, "apply", "--cached", "--binary", "--whitespace=nowarn", patch);
  expect(git(path, "write-tree")).toBe(saved.tree);
}

interface Case {
  before?(work: HandMadeRun, project: Project): void;
  change(work: HandMadeRun, project: Project): void;
  files: number;
  whole?: false;
}

const NUL = Buffer.from([0, 1, 2, 255, 254, 0, 10, 13, 10]);
const LATIN1 = Buffer.from("stra\xdfe\nna\xefve\n", "latin1");
const badName = (work: HandMadeRun) => Buffer.from(`${work.worktree}/b\xe4d \t"name"\n`, "latin1");
const commitAll = (work: HandMadeRun, message: string) => {
  work.git("add", "-A");
  work.git("commit", "-q", "-m", message);
};

const CASES: Record<string, Case> = {
  nothing: { change() {}, files: 0 },
  "a binary file": {
    before: (work) => work.write("old.bin", NUL),
    change(work) {
      work.write("new.bin", Buffer.concat([NUL, NUL]));
      work.write("old.bin", Buffer.concat([Buffer.from("x"), NUL]));
    },
    files: 2,
  },
  "a rename with and without a change": {
    before(work) {
      work.write("long name.txt", "one\ntwo\nthree\nfour\nfive\nsix\n");
      work.write("other.txt", "a\nb\nc\nd\ne\n");
    },
    change(work) {
      renameSync(join(work.worktree, "long name.txt"), join(work.worktree, "moved.txt"));
      work.git("mv", "other.txt", "another.txt");
      work.write("moved.txt", "one\ntwo\nthree\nfour\nfive\nseven\n");
    },
    files: 2,
  },
  "mode changes, symbolic links, a file that becomes a link": {
    before(work) {
      work.write("run.sh", "#!/bin/sh\n");
      work.write("file", "file\n");
    },
    change(work) {
      chmodSync(join(work.worktree, "run.sh"), 0o755);
      symlinkSync("run.sh", join(work.worktree, "link"));
      symlinkSync("nowhere", join(work.worktree, "dangling"));
      rmSync(join(work.worktree, "file"));
      symlinkSync("run.sh", join(work.worktree, "file"));
    },
    files: 4,
  },
  "empty and deleted files, files without a last newline": {
    before(work) {
      work.write("gone.txt", "gone\n");
      work.write("gone.empty", "");
      work.write("end.txt", "no newline");
    },
    change(work) {
      rmSync(join(work.worktree, "gone.txt"));
      rmSync(join(work.worktree, "gone.empty"));
      work.write("new.empty", "");
      work.write("end.txt", "still no newline");
    },
    // Of two empty files, one gone and one new, git says that it was renamed.
    files: 3,
  },
  "content and names that are not UTF-8": {
    before: (work) => work.write("latin1.txt", LATIN1),
    change(work) {
      work.write("latin1.txt", Buffer.concat([LATIN1, LATIN1]));
      writeFileSync(badName(work), LATIN1);
    },
    files: 2,
  },
  "line ends with core.autocrlf and with attributes": {
    before(work) {
      work.write(".gitattributes", "*.crlf text eol=crlf\n*.raw -text\n");
      work.write("a.crlf", "one\r\ntwo\r\n");
      work.write("a.raw", "one\r\ntwo\n");
    },
    change(work) {
      work.git("config", "core.autocrlf", "true");
      work.git("config", "core.safecrlf", "true");
      work.write("a.crlf", "one\r\ntwo\r\nthree\r\n");
      work.write("a.raw", "one\r\ntwo\nthree\r");
      work.write("mixed.txt", "one\r\ntwo\n");
    },
    files: 3,
  },
  "files that git was told not to look at": {
    before(work) {
      work.write("assumed.txt", "1\n");
      work.write("skipped.txt", "1\n");
    },
    change(work) {
      work.git("update-index", "--assume-unchanged", "assumed.txt");
      work.git("update-index", "--skip-worktree", "skipped.txt");
      work.write("assumed.txt", "2\n");
      work.write("skipped.txt", "2\n");
    },
    files: 2,
  },
  "a merge with conflicts": {
    before: (work) => work.write("both.txt", "base\n"),
    change(work) {
      work.git("switch", "-q", "-c", "side");
      work.write("both.txt", "side\n");
      commitAll(work, "Side");
      work.git("switch", "-q", "task/T0001");
      work.write("both.txt", "task\n");
      commitAll(work, "Task");
      expect(() => work.git("merge", "side")).toThrow();
    },
    files: 1,
  },
  "a detached HEAD beside the branch": {
    change(work) {
      work.write("on the branch.txt", "1\n");
      commitAll(work, "On the branch");
      work.git("switch", "-q", "--detach", "HEAD~1");
      work.write("detached.txt", "1\n");
      commitAll(work, "Detached");
    },
    files: 1,
  },
  "staged, then changed again; added with intent; ignored": {
    change(work) {
      work.write(".gitignore", "ignored.txt\n");
      work.write("ignored.txt", "not saved\n");
      work.write("staged.txt", "staged\n");
      work.git("add", "staged.txt");
      work.write("staged.txt", "staged\nand more\n");
      work.write("intended.txt", "intended\n");
      work.git("add", "-N", "intended.txt");
    },
    files: 3,
  },
  "a repository inside the worktree": {
    change(work) {
      mkdirSync(join(work.worktree, "inner"));
      execFileSync("git", ["init", "-q"], { cwd: join(work.worktree, "inner") });
      writeFileSync(join(work.worktree, "inner", "secret.txt"), "only here\n");
      const author = ["-c", "user.name=A", "-c", "user.email=a@b"];
      execFileSync("git", ["add", "-A"], { cwd: join(work.worktree, "inner") });
      execFileSync("git", [...author, "commit", "-q", "-m", "Inner"], { cwd: join(work.worktree, "inner") });
      work.write("outer.txt", "saved\n");
    },
    files: 2,
    whole: false,
  },
  "settings and drivers that change how a diff looks": {
    before(work) {
      work.write("a.txt", "one\n\ntwo\n");
      work.write("c.dat", "1\n");
    },
    change(work, project) {
      const wanted = join(project.path, "..", "ran");
      writeFileSync(join(project.path, "..", "order"), "n.bin\n*.txt\n");
      for (const [name, value] of Object.entries({
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.external": `touch '${wanted}'; false`,
        "diff.bad.command": `touch '${wanted}'; false`,
        "diff.bad.textconv": `touch '${wanted}'; false`,
        "diff.renames": "copies",
        "diff.context": "0",
        "diff.interHunkContext": "9",
        "diff.suppressBlankEmpty": "true",
        "diff.submodule": "log",
        "diff.relative": "true",
        "diff.algorithm": "histogram",
        "diff.orderFile": join(project.path, "..", "order"),
        "color.ui": "always",
        "color.diff": "always",
        "core.quotePath": "false",
        "core.pager": "false",
        "commit.gpgSign": "true",
        "gpg.program": "false",
        "log.showSignature": "true",
      }))
        work.git("config", name, value);
      work.write(".gitattributes", "*.txt diff=bad\n*.dat diff=bad\n*.bin diff\n");
      work.write("a.txt", "one\n\nthree\n");
      work.write("c.dat", "2\n");
      work.write("naïve ü.txt", "text\n");
      work.write("n.bin", NUL);
    },
    files: 5,
  },
};

describe("the patch gives the saved tree, and nothing of the user's changes", () => {
  for (const [name, { before, change, files, whole }] of Object.entries(CASES))
    test(name, async ({ project }) => {
      const work = await makeRun(project, undefined, (fresh) => {
        before?.(fresh, project);
        if (before) commitAll(fresh, "Before");
      });
      change(work, project);
      const all = everythingOf(project, work);
      const saved = await take(project);
      expect(everythingOf(project, work)).toEqual(all);
      expect(readdirSync(join(project.path, "..")).includes("ran")).toBe(false);
      expect(saved).toMatchObject({ files, whole: whole ?? true });
      expect(saved.warnings.length > 0).toBe(whole === false);
      expectPatchGivesTree(project, saved);
      expect(project.git("rev-parse", REF)).toBe(saved.commit);
      expect(project.git("rev-parse", `${saved.commit}^{tree}`)).toBe(saved.tree);
      for (const kept of ["HEAD", "task/T0001"]) work.git("merge-base", "--is-ancestor", kept, saved.commit);
      // What was saved can be had back, byte for byte, without the worktree.
      const present = bytesOf(work, "ls-files", "-z", "--cached", "--others", "--exclude-standard");
      const names = new Set(present.toString("latin1").split("\0").filter(Boolean));
      const listed = bytesOf(work, "ls-tree", "-r", "-z", "--name-only", saved.commit).toString("latin1");
      const there = [...names].filter((one) => exists(Buffer.from(`${work.worktree}/${one}`, "latin1")));
      expect(new Set(listed.split("\0").filter(Boolean).map(folded))).toEqual(new Set(there.map(folded)));

      const again = await take(project);
      expect({ ...again, warnings: [] }).toEqual({ ...saved, warnings: [], changed: false });
    });
});

/** A nested repository is listed as a folder by one command and as an entry by the other. */
const folded = (name: string) => name.replace(/\/$/, "");

const exists = (path: Buffer) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
