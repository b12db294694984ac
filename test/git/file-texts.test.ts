import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openAudits } from "../../src/git/audit/open-audits.ts";
import { readBlobs } from "../../src/git/cat-file.ts";
import { Git } from "../../src/git/run-git.ts";
import type { Site } from "../../src/ports/sites.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let repository: TemporaryRepository;
let commonDir: string;

beforeEach(() => {
  const folder = makeTemporaryFolder("file texts");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  repository = makeRepository(folder);
  commonDir = join(repository.path, ".git");
});

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: repository.path, env: repository.env, encoding: "utf8" }).trim();

function commit(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository.path, name)), { recursive: true });
    writeFileSync(join(repository.path, name), text);
  }
  git("add", "-A");
  git("commit", "-q", "-m", "files");
}

/** What git keeps of a file is gone, as after a broken disk or by somebody's hand. */
function lose(file: string): void {
  const id = git("rev-parse", `HEAD:${file}`);
  rmSync(join(commonDir, "objects", id.slice(0, 2), id.slice(2)), { force: true });
}

function branching() {
  const { path, env } = repository;
  const site: Site = { name: "project", commonDir, mainRoot: path, home: true } as Site;
  const guard = { traces: () => [] } as never;
  const audits = openAudits({
    env,
    cloneOf: () => undefined,
    guard,
    progress() {},
    stateDir: () => commonDir,
  });
  return audits.branching(site, "own");
}

test("policy and ledger of the protected tip are read together, and either may be missing", async () => {
  expect(await branching()).toMatchObject({ committed: undefined, installed: undefined });
  commit({ ".pawl/lock.json": "{}\n" });
  expect(await branching()).toMatchObject({ committed: undefined, installed: "{}\n" });
  commit({ ".pawl/config.yaml": "level: présent\n" });
  expect(await branching()).toMatchObject({ committed: "level: présent\n", installed: "{}\n" });
});

test("a policy whose content is lost is an error, never a project without a policy", async () => {
  commit({ ".pawl/config.yaml": "approvals: signed\n", ".pawl/lock.json": "{}\n" });
  lose(".pawl/config.yaml");
  await expect(branching()).rejects.toMatchObject({ message: expect.stringContaining("could not be read") });
});

test("so is a folder in place of the policy", async () => {
  commit({ ".pawl/config.yaml/file": "", ".pawl/lock.json": "{}\n" });
  await expect(branching()).rejects.toMatchObject({ message: expect.stringContaining("could not be read") });
});

test("a lost object hides none of those that were asked for after it", async () => {
  commit({ a: "first\n", b: "second\n", c: "third\n" });
  const ids = ["a", "b", "c"].map((name) => git("rev-parse", `HEAD:${name}`));
  lose("b");
  const contents = await readBlobs(Git.of("history", repository.env, commonDir), "Blobs", ids);
  expect(ids.map((id) => contents.get(id)?.toString())).toEqual(["first\n", undefined, "third\n"]);
});
