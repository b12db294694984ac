// @module-tag proof
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { fillRealisticStore, type RealisticStore } from "../helpers/realistic-store.ts";
import { makeRepository, makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

/** What somebody who works on the task would want to be told, and what only sounds as if. Chosen by reading. */
const QUERIES: { task: string; wanted: string[]; unwanted: string[] }[] = [
  {
    task: "upl-resume",
    wanted: ["upl-chunk", "upl-retry", "cli-upload", "N-storage-limits"],
    unwanted: ["syn-journal", "bil-webhook/F2", "chore-uploads"],
  },
  {
    task: "upl-changed-source",
    wanted: ["upl-resume/F1", "syn-watcher/D2", "upl-resume/H2"],
    unwanted: ["cli-args", "bil-webhook", "doc-upgrade"],
  },
  {
    task: "upl-progress",
    wanted: ["upl-retry", "cli-progress/D2", "cli-progress"],
    unwanted: ["bil-proration", "chore-uploads"],
  },
  {
    task: "auth-reset",
    wanted: ["auth-lockout", "auth-lockout/D1", "auth-lockout/H2"],
    unwanted: ["upl-quota", "N-storage-limits", "chore-auth"],
  },
  {
    task: "auth-logout-all",
    wanted: ["auth-refresh", "auth-refresh/D1", "auth-session/D1", "N-redis"],
    unwanted: ["auth-oauth", "cli-upload"],
  },
  {
    task: "bil-credit",
    wanted: ["bil-proration", "bil-proration/F1", "bil-tax/F1"],
    unwanted: ["doc-upgrade", "chore-billing"],
  },
  {
    task: "bil-dunning",
    wanted: ["bil-webhook", "N-provider-sandbox"],
    unwanted: ["upl-retry", "upl-retry/D1", "N-retry-policy"],
  },
  {
    task: "sea-cjk",
    wanted: ["sea-tokenizer/F1", "N-tokenizer-scripts", "sea-tokenizer/H2"],
    unwanted: ["doc-translate", "doc-site-search"],
  },
  {
    task: "sea-merge-crash",
    wanted: ["sea-index/F1", "N-segments", "sea-index/D1", "sea-index/D2"],
    unwanted: ["syn-journal", "doc-site-search", "cli-completions"],
  },
  {
    task: "cli-keychain",
    wanted: ["auth-device", "N-keychains", "auth-device/D2", "auth-device/H2"],
    unwanted: ["cli-config/D2", "bld-ci"],
  },
  {
    task: "cli-quiet",
    wanted: ["cli-json/D2", "N-stdout"],
    unwanted: ["upl-progress", "bld-release"],
  },
  {
    task: "doc-lazy-index",
    wanted: ["doc-site-search/F1", "N-site-budget", "doc-site-search/H2", "doc-site-search"],
    unwanted: ["sea-index", "sea-index/D1", "bld-docker"],
  },
  {
    task: "syn-compaction",
    wanted: ["syn-journal/F1", "syn-journal/D1", "N-fsync", "syn-journal/H2"],
    unwanted: ["sea-index", "cli-config"],
  },
  {
    task: "syn-clock",
    wanted: ["syn-conflict/D2", "N-version-vectors", "auth-totp/D1"],
    unwanted: ["bil-proration", "bld-docker"],
  },
  {
    task: "syn-bandwidth",
    wanted: ["upl-chunk/D1", "upl-chunk"],
    unwanted: ["sea-suggest", "chore-sync"],
  },
  {
    task: "bld-size",
    wanted: ["bld-bundle", "bld-bundle/F1", "N-bundle", "bld-bundle/D1"],
    unwanted: ["chore-build", "upl-quota"],
  },
  {
    task: "upl-retry",
    wanted: ["upl-chunk", "upl-progress", "upl-resume", "N-retry-policy"],
    unwanted: ["bil-dunning", "doc-errors/D2"],
  },
  {
    task: "bld-flaky",
    wanted: ["N-flaky", "bld-ci/D2"],
    unwanted: ["cli-progress", "chore-build"],
  },
  {
    task: "cli-upload",
    wanted: ["upl-resume", "upl-resume/F1", "upl-resume/D1"],
    unwanted: ["cli-json", "chore-cli"],
  },
  {
    task: "sea-highlight",
    wanted: ["sea-tokenizer", "sea-tokenizer/D1", "sea-cjk"],
    unwanted: ["cli-progress", "chore-search"],
  },
  {
    task: "bil-seats",
    wanted: ["bil-proration", "bil-proration/D1"],
    unwanted: ["sea-permissions", "chore-billing"],
  },
  {
    task: "doc-translate",
    wanted: ["doc-errors", "doc-quickstart"],
    unwanted: ["sea-cjk", "N-tokenizer-scripts"],
  },
  {
    task: "syn-rename",
    wanted: ["syn-journal", "N-inodes", "syn-conflict/F1", "syn-compaction"],
    unwanted: ["sea-index"],
  },
  { task: "auth-totp", wanted: ["auth-session"], unwanted: ["bil-currency", "chore-auth"] },
  { task: "doc-api", wanted: ["upl-retry/F1", "N-retry-policy"], unwanted: ["cli-args", "chore-docs"] },
  { task: "bld-docker", wanted: ["bld-node22", "bld-ci/D1"], unwanted: ["upl-quota", "chore-build"] },
  { task: "upl-quota", wanted: ["bil-currency/D1", "bil-currency"], unwanted: ["chore-uploads"] },
  {
    task: "auth-oauth",
    wanted: ["doc-quickstart", "doc-quickstart/F1"],
    unwanted: ["cli-args", "chore-auth"],
  },
];

/** Written down before the ranking was adjusted to the ones above, and measured only afterwards. */
const HELD_OUT: typeof QUERIES = [
  {
    task: "auth-device",
    wanted: ["cli-keychain", "N-keychains", "cli-config"],
    unwanted: ["bil-seats", "chore-auth"],
  },
  {
    task: "upl-checksum",
    wanted: ["upl-dedupe", "upl-chunk/D1"],
    unwanted: ["sea-tokenizer", "chore-uploads"],
  },
  {
    task: "bil-currency",
    wanted: ["N-money", "upl-quota", "bil-proration/D2"],
    unwanted: ["doc-translate", "chore-billing"],
  },
  {
    task: "sea-suggest",
    wanted: ["sea-ranking", "sea-permissions"],
    unwanted: ["doc-site-search", "chore-search"],
  },
  {
    task: "cli-config",
    wanted: ["auth-device/D2", "cli-keychain", "N-keychains"],
    unwanted: ["chore-cli", "bld-bundle"],
  },
  { task: "bld-release", wanted: ["N-release-days", "doc-upgrade"], unwanted: ["auth-session"] },
  {
    task: "doc-errors",
    wanted: ["doc-translate", "upl-retry/D2"],
    unwanted: ["sea-highlight", "chore-docs"],
  },
  {
    task: "syn-watcher",
    wanted: ["N-fs-events", "syn-ignore", "bld-flaky/H2"],
    unwanted: ["chore-sync", "auth-session"],
  },
  { task: "syn-conflict", wanted: ["N-version-vectors", "syn-clock"], unwanted: ["cli-args", "chore-sync"] },
  {
    task: "sea-permissions",
    wanted: ["sea-ranking", "sea-suggest"],
    unwanted: ["auth-oauth", "chore-search"],
  },
];

const TOP = 5;
/** Measured when this was written: 0.863 and 0.817. The ranking may become better, never worse. */
const LEAST_RECALL = 0.86;
const LEAST_RECALL_HELD_OUT = 0.81;
/** Measured: none of the 20. One more record somewhere may bring one in where there is nothing better. */
const MOST_DISTRACTORS_HELD_OUT = 1;

let root: string;
let project: Project;
let store: RealisticStore;

beforeAll(async () => {
  root = makeTemporaryFolder("context ranking");
  project = openProject(makeRepository(root));
  // The first real command makes the state folder; its task is replaced by the first of the stories.
  expect((await project.pawl("task", "new", "Make the state folder")).code).toBe(0);
  store = fillRealisticStore(stateOf(project));
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function relatedTo(task: string): Promise<string[]> {
  const { json } = await project.pawl("context", store.idOf(task), "--json");
  return json.data.context.related.map((one: { id: string }) => one.id);
}

describe("related records in a store of a real project's size", () => {
  test("the store is as large as it has to be", () => {
    expect(store.records).toBeGreaterThanOrEqual(500);
    expect(store.tasks).toBeGreaterThanOrEqual(60);
  });

  test.each(QUERIES)("$task keeps distractors out of the first five", async ({ task, unwanted }) => {
    const top = (await relatedTo(task)).slice(0, TOP);
    expect(top).toHaveLength(TOP);
    expect(top.filter((id) => unwanted.map(store.idOf).includes(id))).toEqual([]);
  });

  test("hardly a distractor is among the first five of the held-out queries", async () => {
    const found: string[] = [];
    for (const { task, unwanted } of HELD_OUT) {
      const top = (await relatedTo(task)).slice(0, TOP);
      found.push(...unwanted.filter((key) => top.includes(store.idOf(key))).map((key) => `${task}: ${key}`));
    }
    expect(found.length, found.join()).toBeLessThanOrEqual(MOST_DISTRACTORS_HELD_OUT);
  });

  test.each([
    { name: "queries the ranking was adjusted to", queries: QUERIES, least: LEAST_RECALL },
    { name: "queries it was not adjusted to", queries: HELD_OUT, least: LEAST_RECALL_HELD_OUT },
  ])("the mean recall among the first five does not fall: $name", async ({ queries, least }) => {
    const rows = [];
    for (const { task, wanted } of queries) {
      const top = (await relatedTo(task)).slice(0, TOP);
      const missed = wanted.filter((key) => !top.includes(store.idOf(key)));
      rows.push({ task, recall: 1 - missed.length / wanted.length, missed });
    }
    const mean = rows.reduce((sum, row) => sum + row.recall, 0) / rows.length;
    expect(mean, JSON.stringify(rows)).toBeGreaterThanOrEqual(least);
  });
});
