import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readTablesWith } from "../../src/git/ref-tables.ts";
import { isApart, mayBeOutdated, stampOf, suspect } from "../../src/guard/quick-look.ts";
import { isKnownTip } from "../../src/guard/tips.ts";
import { newerGit, notRun } from "../helpers/optional-program.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const [A, B, C] = ["a", "b", "c"].map((one) => one.repeat(40)) as [string, string, string];

/** What the guard left behind in a git directory, as it was written. */
function leave(change: { moves?: string; files?: Record<string, string> } = {}): string {
  const folder = makeTemporaryFolder("quick look");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const commonDir = join(folder, ".git");
  for (const name of ["pawl/tips", "refs/remotes/origin"])
    mkdirSync(join(commonDir, name), { recursive: true });
  for (const name of ["config", "pawl/before", "pawl/hook"]) writeFileSync(join(commonDir, name), name);
  const stamp = (name: string) => ({ [name]: stampOf(join(commonDir, name)) });
  const stamps = {
    at: commonDir,
    config: stamp("config"),
    per_worktree: false,
    hooks: stamp("pawl/hook"),
    inputs: {},
  };
  writeFileSync(join(commonDir, "pawl/stamps"), JSON.stringify(stamps));
  for (const name of ["main", "release~1"]) writeFileSync(join(commonDir, "pawl/tips", name), "");
  if (change.moves) writeFileSync(join(commonDir, "pawl/moves"), change.moves);
  for (const [name, text] of Object.entries(change.files ?? {})) writeFileSync(join(commonDir, name), text);
  return commonDir;
}

const look = (commonDir: string, env = {}) => suspect({ commonDir, gitDir: commonDir }, env);

test("nothing is suspected of a guard that is as it was left", () => {
  const commonDir = leave();
  expect([look(commonDir), mayBeOutdated(commonDir)]).toEqual([undefined, false]);
});

test("a repository that was moved is looked at closely", () => {
  const commonDir = leave();
  const moved = join(commonDir, "..", "moved");
  renameSync(commonDir, moved);
  expect([look(moved)?.config, mayBeOutdated(moved)]).toEqual([true, true]);
});

test.each<[string, Record<string, string>]>([
  ["GIT_CONFIG_PARAMETERS", { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='/dev/null'" }],
  [
    "GIT_CONFIG_COUNT",
    { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.HooksPath", GIT_CONFIG_VALUE_0: "/x" },
  ],
])("hooks that %s names are told", (name, env) => {
  expect(look(leave(), env)?.override).toBe(name);
});

test.each([
  "[core]\n\thooksPath = /x\n",
  "[core] hooksPath = /x\n",
  "[core]\n# a comment \\\nhooksPath = /x\n",
])("hooks that a worktree's own settings name are told: %j", (text) => {
  const commonDir = leave({ files: { "config.worktree": text } });
  expect(look(commonDir)?.override).toBe(join(commonDir, "config.worktree"));
});

const move = (tip: string, why: string) => `${A} ${tip} refs/heads/main ${why}\n`;

const loose = (tip: string) => ({ "refs/remotes/origin/main": `${tip}\n` });
const packed = (tip: string, ref = "refs/remotes/origin/main") => ({
  "packed-refs": `# pack-refs with: peeled fully-peeled sorted \n${C} refs/heads/main\n${tip} ${ref}\n${C} refs/tags/v1\n^${C}\n`,
});

test.each<[string, string, Record<string, string>, boolean]>([
  ["an approved merge that the remote lacks", move(B, "approved"), loose(C), true],
  ["an approved merge that the remote has", move(B, "approved"), loose(B), false],
  ["a move that no approval made", move(B, "fetched"), loose(C), false],
  [
    "an approved merge that the remote lacks, and a later one of another branch",
    `${move(B, "approved")}${A} ${C} refs/heads/release/1 approved\n`,
    loose(C),
    true,
  ],
  [
    "an approved merge that was pulled over since",
    `${move(B, "approved")}${A} ${C} refs/heads/release/1 approved\n${move(C, "fetched")}`,
    loose(A),
    false,
  ],
  ["an approved merge that the packed remote has", move(B, "approved"), packed(B), false],
  [
    "a remote's branch of a longer name",
    move(B, "approved"),
    packed(C, "refs/remotes/origin/old/main"),
    false,
  ],
])("%s", (_name, moves, files, apart) => {
  expect(look(leave({ moves, files }))?.apart ?? false).toBe(apart);
});

test("an approved merge that only a packed remote without a folder lacks", () => {
  const commonDir = leave({ moves: move(B, "approved"), files: packed(C) });
  rmSync(join(commonDir, "refs"), { recursive: true });
  expect(look(commonDir)?.apart).toBe(true);
});

const git = newerGit();
const skipped = notRun(git !== undefined, "git 2.54 or newer");

test.skipIf(!git)(
  `an approved merge that the remote lacks or has, where refs lie in tables${skipped}`,
  { tags: ["proof"] },
  () => {
    const folder = makeTemporaryFolder("quick look");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { path, env } = makeRepository(folder);
    env.PATH = [git?.folder, env.PATH].filter((one) => one !== undefined).join(":");
    readTablesWith(env);
    onTestFinished(() => readTablesWith({}));
    const run = (...args: string[]) =>
      execFileSync("git", args, { cwd: path, env, encoding: "utf8", stdio: "pipe" }).trim();
    const theirs = run("rev-parse", "HEAD");
    run("commit", "-q", "--allow-empty", "-m", "ours");
    const ours = run("rev-parse", "HEAD");
    run("refs", "migrate", "--ref-format=reftable");
    const commonDir = join(path, ".git");
    mkdirSync(join(commonDir, "pawl/tips"), { recursive: true });
    writeFileSync(join(commonDir, "pawl/tips/main"), "");
    writeFileSync(join(commonDir, "pawl/moves"), move(ours, "approved"));
    const apart = [theirs, ours].map((tip) => {
      run("update-ref", "refs/remotes/origin/main", tip);
      return isApart(commonDir);
    });
    expect(apart).toEqual([true, false]);
  },
);

test("a tip is known where it was last seen, and where it was allowed to go", () => {
  const commonDir = leave();
  writeFileSync(join(commonDir, "pawl/tips/release~1"), `${A} refs/heads/release/1 ${B}\n`);
  const known = [A, B, C, "", undefined].map((tip) => isKnownTip(commonDir, "refs/heads/release/1", tip));
  expect(known).toEqual([true, true, false, false, false]);
  writeFileSync(join(commonDir, "pawl/tips/release~1"), `${A}\n`);
  expect(isKnownTip(commonDir, "refs/heads/release/1", A)).toBe(false);
});
