import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readExit } from "../../src/agents/attempt/folder.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

test("an exit whose time was never written has the time of its file", () => {
  const folder = makeTemporaryFolder("exit");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  expect(readExit(folder)).toBeUndefined();
  const file = join(folder, "exit.json");
  writeFileSync(file, '{"code":137,"by":"guard","at":""}');
  utimesSync(file, 1_800_000_000, 1_800_000_000);
  expect(readExit(folder)).toEqual({ code: 137, by: "guard", at: "2027-01-15T08:00:00.000Z" });
});
