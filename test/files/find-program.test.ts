import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "../../src/files/find-program.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
const here = process.cwd();
beforeAll(() => {
  root = makeTemporaryFolder("programs");
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin", "tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(root, "bin", "plain"), "text\n");
  writeFileSync(join(root, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  process.chdir(root);
});
afterAll(() => {
  process.chdir(here);
  rmSync(root, { recursive: true, force: true });
});

test("a program is the first of the path that can be run, and never one from where we happen to stand", () => {
  const bin = join(root, "bin");
  expect(findProgram("tool", root, `/nowhere:${bin}`)).toBe(join(bin, "tool"));
  expect(findProgram("tool", root, `::${bin}:`)).toBe(join(bin, "tool"));
  for (const path of ["", ":", undefined]) expect(findProgram("tool", root, path)).toBeUndefined();
  for (const name of ["plain", "missing", ""]) expect(findProgram(name, root, bin)).toBeUndefined();
});

test("a name with a slash is a path from where the project is", () => {
  expect(findProgram("./tool", join(root, "bin"), "")).toBe(join(root, "bin", "tool"));
  expect(findProgram("bin/plain", root, "")).toBeUndefined();
});
