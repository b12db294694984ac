// @module-tag proof
import { copyFileSync, cpSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProject } from "../helpers/command-line.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
let project: ReturnType<typeof openProject>;
const ref = () => join(project.path, ".git/refs/heads/main");

beforeAll(async () => {
  root = makeTemporaryFolder("away and back");
  project = openProject(makeRepository(root));
  await project.pawl("install", "--profile", "hooks", "--yes");
  // Longer than a file system's clock could be wrong by.
  await new Promise((resume) => setTimeout(resume, 2_200));
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function found(at = project): Promise<string[]> {
  const { json } = await at.pawl("audit", "--offline", "--json");
  return (json.data ?? json.error.details).audit.findings.map((one: { code: string }) => one.code);
}

test("a branch whose file was written again is told, also with its old time, until a human settles it", async () => {
  expect(await found()).toEqual([]);
  const { atime, mtime } = statSync(ref());
  writeFileSync(ref(), readFileSync(ref()));
  utimesSync(ref(), atime, mtime);
  expect(await found()).toEqual(["ref_rewritten"]);
  await project.pawl("install", "--profile", "hooks", "--yes");
  expect(await found()).toEqual([]);
});

test("neither a copy of a repository nor other rights on its files are taken for that", async () => {
  const path = join(root, "copy");
  cpSync(project.path, path, { recursive: true });
  const copy = openProject({ ...project, path });
  expect(await found(copy)).toEqual(expect.not.arrayContaining(["ref_rewritten"]));
  copyFileSync(join(path, ".git/refs/heads/main"), join(path, "kept"));
  // As `chmod -R` leaves it: every file was changed, and none was written.
  for (const name of ["refs/heads/main", "pawl/tips/main"]) {
    const { atime, mtime } = statSync(join(project.path, ".git", name));
    utimesSync(join(project.path, ".git", name), atime, mtime);
    await new Promise((resume) => setTimeout(resume, name.startsWith("pawl") ? 0 : 10));
  }
  expect(await found()).toEqual([]);
});
