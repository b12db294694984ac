import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { branchTips, type GuardedSite, readPolicyInForce } from "../../src/guard/policy.ts";
import { readConfigText } from "../../src/model/config.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let root: string;
let repository: TemporaryRepository;
beforeAll(() => {
  root = makeTemporaryFolder("policy environment");
  repository = makeRepository(root);
  const { path, env } = repository;
  mkdirSync(join(path, ".pawl"));
  writeFileSync(join(path, ".pawl/config.yaml"), "protected: [release]\nformat: npm run format\n");
  for (const args of [
    ["add", "."],
    ["commit", "-q", "-m", "Policy"],
  ])
    execFileSync("git", args, { cwd: path, env, stdio: "pipe" });
  // What is committed has to be read from git: no copy in the worktree stands in for it.
  rmSync(join(path, ".pawl"), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const policyWith = (more: Record<string, string>) => {
  const { path, env } = repository;
  const site: GuardedSite = {
    commonDir: join(path, ".git"),
    mainRoot: path,
    env: { ...env, ...more },
    readConfig: (where, text) => readConfigText(where, text, undefined),
  };
  const { policy, committedFormat } = readPolicyInForce(site, branchTips(site));
  return { protected: policy.protected, committedFormat };
};

/** Each of these makes git fail, so that a policy which is asked for with it seems not to be there. */
const OVERRIDES: Record<string, Record<string, string>> = {
  "numbered settings": {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.bare",
    GIT_CONFIG_VALUE_0: "nonsense",
  },
  "settings in one variable": { GIT_CONFIG_PARAMETERS: "'core.bare'='nonsense'" },
};

test.each(Object.entries(OVERRIDES))("%s do not change which policy is in force", (_, override) => {
  const plain = policyWith({});
  expect(plain.protected).toContain("release");
  expect(plain.committedFormat).toEqual([{ files: "", command: "npm run format" }]);
  expect(policyWith(override)).toEqual(plain);
});
