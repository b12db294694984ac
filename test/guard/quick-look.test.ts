import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { mayBeOutdated, stampOf, suspect } from "../../src/guard/quick-look.ts";
import { isKnownTip } from "../../src/guard/tips.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const [A, B, C] = ["a", "b", "c"].map((one) => one.repeat(40)) as [string, string, string];

/** What the guard left behind in a git directory, as it was written. */
function leave(change: { moves?: string; remote?: string } = {}): string {
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
  if (change.moves) writeFileSync(join(commonDir, "pawl/moves"), change.moves);
  if (change.remote) writeFileSync(join(commonDir, "refs/remotes/origin/main"), `${change.remote}\n`);
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

const move = (tip: string, why: string) => `${A} ${tip} refs/heads/main ${why}\n`;

test.each([
  ["an approved merge that the remote lacks", move(B, "approved"), C, true],
  ["an approved merge that the remote has", move(B, "approved"), B, false],
  ["a move that no approval made", move(B, "fetched"), C, false],
])("%s", (_name, moves, remote, apart) => {
  expect(look(leave({ moves, remote }))?.apart ?? false).toBe(apart);
});

test("a tip is known where it was last seen, and where it was allowed to go", () => {
  const commonDir = leave();
  writeFileSync(join(commonDir, "pawl/tips/release~1"), `${A} refs/heads/release/1 ${B}\n`);
  const known = [A, B, C, "", undefined].map((tip) => isKnownTip(commonDir, "refs/heads/release/1", tip));
  expect(known).toEqual([true, true, false, false, false]);
});
