import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  grantFile,
  hasUnlocks,
  lastPassed,
  readGrants,
  readGuardedTips,
  readPassed,
  readTripped,
  tipFile,
  trippedFolder,
  unlockIn,
} from "../../src/git/guard-files.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const [OLD, NEW] = ["a".repeat(40), "b".repeat(40)];
let common: string;

beforeEach(() => {
  common = makeTemporaryFolder("guard files");
});
afterEach(() => rmSync(common, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

test("a tip says where the branch was and where the guard let it go; what says less is no tip", () => {
  write(tipFile(common, "refs/heads/release/1"), `${OLD} refs/heads/release/1 ${NEW}\n`);
  write(tipFile(common, "refs/heads/main"), `${OLD} refs/heads/main\n`);
  write(tipFile(common, "refs/heads/cut-off"), OLD);
  expect(readGuardedTips(common)).toEqual([
    { ref: "refs/heads/main", was: OLD, allowed: OLD },
    { ref: "refs/heads/release/1", was: OLD, allowed: NEW },
  ]);
});

test("moves are read whole, or only the latest of each branch; half a line is none", () => {
  const moves = join(common, "pawl/moves");
  for (const ref of ["refs/heads/main", "refs/heads/release/1", "refs/heads/release/2"])
    write(tipFile(common, ref), `${OLD} ${ref} ${NEW}\n`);
  expect([readPassed(common), lastPassed(common)]).toEqual([[], []]);
  const [first, release, last] = [
    { old: OLD, new: NEW, ref: "refs/heads/main", why: "approved" },
    { old: OLD, new: NEW, ref: "refs/heads/release/1", why: "approved" },
    { old: NEW, new: OLD, ref: "refs/heads/main", why: "unlocked" },
  ] as const;
  const lines = [first, release, last].map((one) => `${one.old} ${one.new} ${one.ref} ${one.why}`);
  write(moves, `${lines.join("\n")}\n`);
  expect(readPassed(common)).toEqual([first, release, last]);
  expect(lastPassed(common)).toEqual([last, release]);
  writeFileSync(moves, `${lines.slice(0, 2).join("\n")}\n${NEW} ${OLD} refs/he`);
  expect(readPassed(common)).toEqual([first, release]);
  expect(lastPassed(common)).toEqual([first, release]);
});

test("a loop of links among the unlocks is no unlock, and stops nobody", () => {
  const folder = dirname(grantFile(common, "unlock", "refs"));
  write(grantFile(common, "unlock", "refs/heads/main"), "1700000000 U0001\n");
  symlinkSync("loop", join(folder, "loop"));
  expect(hasUnlocks(common)).toBe(true);
  expect(readGrants(common, "unlock").map((one) => one.ref)).toEqual(["refs/heads/main"]);
  rmSync(folder, { recursive: true });
  symlinkSync("unlock", folder);
  expect(hasUnlocks(common)).toBe(false);
});

test("grants are found by their refs at any depth, and one that cannot be read grants nothing", () => {
  write(grantFile(common, "unlock", "refs/heads/main"), "1700000000 U0001\n");
  write(grantFile(common, "unlock", "refs/heads/release/1"), "\n");
  expect(readGrants(common, "unlock").sort((a, b) => a.ref.localeCompare(b.ref))).toEqual([
    { ref: "refs/heads/main", said: "1700000000 U0001" },
    { ref: "refs/heads/release/1", said: "" },
  ]);
  expect(readGrants(common, "update")).toEqual([]);
  expect(unlockIn("1700000000 U0001")).toEqual({ until: 1_700_000_000_000, record: "U0001" });
  expect(unlockIn("").until > Date.now()).toBe(false);
});

test("a tripped branch says where it was found and where it was known to be", () => {
  write(join(trippedFolder(common), "main"), `${NEW} ${OLD} refs/heads/main\n`);
  write(join(trippedFolder(common), "half"), `${NEW}\n`);
  expect(readTripped(common)).toEqual([{ ref: "refs/heads/main", found: NEW, known: OLD }]);
});
