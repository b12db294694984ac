import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changedPaths } from "../../src/git/merging/changed-paths.ts";
import { openMerges } from "../../src/git/merging/open-merges.ts";
import { openTargets } from "../../src/git/merging/open-targets.ts";
import { repairFiles } from "../../src/git/merging/repair.ts";
import { dropStaleLocks } from "../../src/git/merging/stale-locks.ts";
import { Git } from "../../src/git/run-git.ts";
import type { Site } from "../../src/ports/sites.ts";
import { makeTemporaryFolder, scrubbedEnvironment } from "../helpers/temporary-repository.ts";

let root: string;
let env: Record<string, string>;
let number = 0;

beforeAll(() => {
  root = makeTemporaryFolder("merging");
  env = scrubbedEnvironment(root);
  writeFileSync(join(root, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

interface Repo extends Site {
  mainRoot: string;
  git(...args: string[]): string;
  put(path: string, text: string): void;
  /** Commits all there is, on a branch that is made for it if need be. */
  save(message: string): string;
}

function makeRepo(...options: string[]): Repo {
  const mainRoot = join(root, `repo ${++number}`);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: mainRoot, env, encoding: "utf8", stdio: "pipe" }).trim();
  mkdirSync(mainRoot);
  git("init", "-q", "--template=", "-b", "main", ...options);
  return {
    ...{ name: "one", home: true, commonDir: join(mainRoot, ".git"), mainRoot, git },
    put(path, text) {
      mkdirSync(dirname(join(mainRoot, path)), { recursive: true });
      writeFileSync(join(mainRoot, path), text);
    },
    save(message) {
      git("add", "-A");
      git("commit", "-q", "-m", message);
      return git("rev-parse", "HEAD");
    },
  };
}

const merges = () =>
  openMerges({
    env,
    sites: undefined as never,
    folder: join(root, "merging"),
    settleRecords: async () => {},
    runCheck: async () => {
      throw new Error("no check here");
    },
  });

describe("looking", () => {
  test("a repository with its files elsewhere is refused clearly, one with longer ids is not", async () => {
    const targets = openTargets(env);
    const long = makeRepo("--object-format=sha256");
    long.put("a", "a\n");
    long.save("a");
    expect(await targets.unsupported(long, "main")).toBeUndefined();
    const away = makeRepo();
    away.git("config", "core.worktree", root);
    expect(await targets.unsupported(away, "main")).toMatchObject({
      message: expect.stringContaining("elsewhere"),
    });
    expect(await targets.unsupported(makeRepo(), "main")).toBeUndefined();
  });

  test("a name that is no UTF-8 cannot be looked for, so it is refused", async () => {
    const repo = makeRepo();
    repo.put("a", "a\n");
    const from = repo.save("a");
    const blob = repo.git("hash-object", "-w", "a");
    const tree = execFileSync("git", ["mktree", "-z"], {
      ...{ cwd: repo.mainRoot, env, encoding: "utf8" },
      input: Buffer.concat([Buffer.from(`100644 blob ${blob}\tb`), Buffer.from([0xff, 0])]),
    }).trim();
    await expect(openTargets(env).obstacles(repo, { branch: "main", from, to: tree })).rejects.toMatchObject({
      code: "unsupported_path",
    });
  });

  test("at most ten files are listed, and the rest are counted", async () => {
    const repo = makeRepo();
    repo.put("a", "a\n");
    const from = repo.save("a");
    repo.git("switch", "-q", "-c", "task");
    for (let index = 0; index < 12; index++) repo.put(`new/${index}`, "x\n");
    const to = repo.save("new");
    repo.git("switch", "-q", "main");
    for (let index = 0; index < 12; index++) repo.put(`new/${index}`, "mine\n");
    const [only, ...more] = await openTargets(env).obstacles(repo, { branch: "main", from, to });
    expect(more).toEqual([]);
    expect(only).toMatchObject({ code: "files_in_the_way", message: expect.stringContaining("and 2 more") });
    expect(only?.details.files).toHaveLength(10);
  });

  test("a branch that is checked out under another name of it counts as checked out", async () => {
    const repo = makeRepo();
    repo.put("a", "a\n");
    repo.save("a");
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    repo.git("symbolic-ref", "HEAD", "refs/heads/alias");
    expect(await openTargets(env).checkouts(repo, "main")).toEqual([repo.mainRoot]);
  });

  test("a submodule that stands elsewhere than recorded is left alone; a staged one is an edit", async () => {
    const [repo, inner] = [makeRepo(), makeRepo()];
    inner.put("a", "a\n");
    inner.save("a");
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", inner.mainRoot, "sub");
    const from = repo.save("a submodule");
    const sub = (...args: string[]) => repo.git("-C", "sub", ...args);
    sub("commit", "-q", "--allow-empty", "-m", "further");
    const look = () => openTargets(env).obstacles(repo, { branch: "main", from, to: from });
    expect(await look()).toEqual([]);
    repo.git("add", "sub");
    expect((await look()).map((one) => one.code)).toEqual(["target_dirty"]);
  });
});

describe("objects", () => {
  test("the digest of a difference does not depend on anybody's settings", async () => {
    const repo = makeRepo();
    repo.put("a", "one\ntwo\nthree\n");
    const from = repo.save("a");
    repo.git("mv", "a", "b");
    repo.put("c", "c\n");
    const to = repo.save("b");
    const plain = await merges().diffDigest(repo, from, to);
    for (const setting of ["diff.noprefix=true", "diff.renames=copies", "color.diff=always", "core.abbrev=4"])
      repo.git("config", ...(setting.split("=") as [string, string]));
    expect(await merges().diffDigest(repo, from, to)).toBe(plain);
    expect(await merges().diffDigest(repo, to, from)).not.toBe(plain);
  });

  test("histories without anything in common do not merge, and nothing is said to conflict", async () => {
    const repo = makeRepo();
    repo.put("a", "a\n");
    const ours = repo.save("a");
    const theirs = repo.git("commit-tree", "-m", "other", `${ours}^{tree}`);
    expect(await merges().merge(repo, ours, theirs)).toMatchObject({
      conflicts: [],
      said: expect.stringMatching(/unrelated/),
    });
  });
});

describe("repairing what a killed git left", () => {
  /** Two commits that differ in every way, with the first one checked out. */
  async function torn() {
    const repo = makeRepo();
    repo.put("changed", "before\n".repeat(50));
    repo.put("goes", "goes\n");
    repo.put("folder/inside", "inside\n");
    repo.put("file", "file\n");
    repo.put("exact", "exact\n");
    const old = repo.save("old");
    repo.git("switch", "-q", "-c", "task");
    repo.put("changed", "after\n".repeat(50));
    rmSync(join(repo.mainRoot, "goes"));
    rmSync(join(repo.mainRoot, "folder"), { recursive: true });
    repo.put("folder", "now a file\n");
    rmSync(join(repo.mainRoot, "file"));
    repo.put("file/inside", "now a folder\n");
    repo.put("deep/er/new", "new\n");
    const fresh = repo.save("new");
    repo.git("switch", "-q", "main");
    const checkout = { root: repo.mainRoot, gitDir: repo.commonDir };
    const changed = await changedPaths(Git.of("quiet", env, repo.commonDir), old, fresh);
    const repair = (side: "old" | "new") =>
      repairFiles(env, {
        ...{ checkout, changed, side, commit: side === "old" ? old : fresh },
        ...{ scratchIndex: join(repo.commonDir, "scratch"), rescueFolder: join(root, `rescued ${number}`) },
      });
    const differs = (commit: string) => {
      repo.git("read-tree", commit);
      return repo.git("status", "--porcelain", "-uall");
    };
    return { repo, old, fresh, repair, differs };
  }

  test("there and back, from either side and from half-written files", async () => {
    const { repo, old, fresh, repair, differs } = await torn();
    expect(await repair("new")).toEqual([]);
    expect(differs(fresh)).not.toMatch(/^.[MD?]/m);
    writeFileSync(join(repo.mainRoot, "changed"), "after\nafter\naf");
    writeFileSync(join(repo.mainRoot, "deep/er/new"), "");
    rmSync(join(repo.mainRoot, "file"), { recursive: true });
    expect(await repair("old")).toEqual([]);
    expect(differs(old)).toBe("");
    expect(existsSync(join(repo.mainRoot, "deep"))).toBe(false);
  });

  test("what is neither side's stays, and a copy is kept", async () => {
    const { repo, repair } = await torn();
    repo.put("changed", "my own words\n");
    repo.put("deep/er/new", "mine, not theirs\n");
    rmSync(join(repo.mainRoot, "goes"));
    symlinkSync("exact", join(repo.mainRoot, "goes"));
    expect(await repair("new")).toEqual(["changed", "deep/er/new", "goes"]);
    expect(readFileSync(join(repo.mainRoot, "changed"), "utf8")).toBe("my own words\n");
    expect(readFileSync(join(root, `rescued ${number}`, "deep/er/new"), "utf8")).toBe("mine, not theirs\n");
  });

  test("a folder with files of the user's in it is not emptied to make room", async () => {
    const { repo, repair } = await torn();
    repo.put("folder/mine.txt", "mine\n");
    expect(await repair("new")).toEqual(["folder"]);
    expect(readFileSync(join(repo.mainRoot, "folder/mine.txt"), "utf8")).toBe("mine\n");
  });

  test("nothing outside is written through a link that stands where a folder was", async () => {
    const { repo, repair } = await torn();
    const outside = join(root, `outside ${number}`);
    mkdirSync(outside);
    writeFileSync(join(outside, "inside"), "outside\n");
    rmSync(join(repo.mainRoot, "folder"), { recursive: true });
    symlinkSync(outside, join(repo.mainRoot, "folder"));
    expect(await repair("old")).toContain("folder/inside");
    expect(readFileSync(join(outside, "inside"), "utf8")).toBe("outside\n");
  });
});

describe("locks that a killed git left", () => {
  const commit = "2".repeat(40);
  const repo = { branch: "main", new: commit, head: "." };
  const locksIn = (at: Repo) =>
    ["refs/heads/main.lock", "HEAD.lock"].map((name) => existsSync(join(at.commonDir, name)));
  const lock = (at: Repo, name: string, text: string) => {
    mkdirSync(dirname(join(at.commonDir, name)), { recursive: true });
    writeFileSync(join(at.commonDir, name), text);
  };

  test("ours go, both of them", { tags: ["proof"] }, async () => {
    const at = makeRepo();
    const started = Date.now();
    lock(at, "refs/heads/main.lock", `${commit}\n`);
    lock(at, "HEAD.lock", "");
    await dropStaleLocks({ children: ["x"], started }, repo, at.commonDir);
    expect(locksIn(at)).toEqual([false, false]);
  });

  test("another git's stay: other content, from before us, or let go and taken again meanwhile", {
    tags: ["proof"],
  }, async () => {
    const at = makeRepo();
    lock(at, "refs/heads/main.lock", `${"3".repeat(40)}\n`);
    lock(at, "HEAD.lock", "");
    const old = new Date(Date.now() - 60_000);
    utimesSync(join(at.commonDir, "HEAD.lock"), old, old);
    await dropStaleLocks({ children: ["x"], started: Date.now() }, repo, at.commonDir);
    expect(locksIn(at)).toEqual([true, true]);

    const busy = makeRepo();
    const started = Date.now();
    lock(busy, "HEAD.lock", "");
    const dropping = dropStaleLocks({ children: ["x"], started }, repo, busy.commonDir);
    setTimeout(() => {
      rmSync(join(busy.commonDir, "HEAD.lock"));
      lock(busy, "HEAD.lock", "");
    }, 300);
    await dropping;
    expect(locksIn(busy)).toEqual([false, true]);
  });
});
