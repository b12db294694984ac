import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sweep } from "../../src/store/transaction.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let state: string;
beforeEach(() => {
  state = makeTemporaryFolder("sweep");
  for (const folder of [".local/tmp", ".local/journal"]) mkdirSync(join(state, folder), { recursive: true });
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

test("staged files go when they are old, but never while a journal may still name them", () => {
  const home = { state, shown: state, local: join(state, "local"), gitDir: join(state, "git"), clone: "c" };
  const [old, young, journal] = [".local/tmp/old", ".local/tmp/young", ".local/journal/aa.json"].map((path) =>
    join(state, path),
  ) as [string, string, string];
  for (const path of [old, young, journal]) writeFileSync(path, "");
  utimesSync(old, new Date(0), new Date(0));
  sweep(home, Date.now());
  expect([existsSync(old), existsSync(young)]).toEqual([true, true]);
  rmSync(journal);
  sweep(home, Date.now());
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});
