import { expect, test } from "vitest";
import { mergeRecord } from "../../../src/judge/sync/merge-record.ts";
import { parseRecord, printRecord } from "../../../src/model/record.ts";
import { type RepositoryRecord, repository } from "../../../src/model/records/run.ts";

const record = (clone: string, created: string, change: Partial<RepositoryRecord> = {}) => {
  const value: RepositoryRecord = {
    ...{ id: "shop", home: true, base_branch: undefined, repo: "shop", branch: "main", commit: undefined },
    ...{ rev: 1, actor: "human:Ada", created, updated: created, notes: "" },
    baseline: [{ ref: "refs/heads/main", commit: clone.repeat(40), at: created, clone }],
    protects: [],
    guarded: [clone],
    begun: [{ clone, ref: "refs/heads/main", commit: clone.repeat(40), at: created }],
    trusted: [],
    ...change,
  };
  return parseRecord(repository, "repos/shop.md", printRecord(repository, value), undefined);
};

const [early, late] = ["2026-11-16T10:00:00.000Z", "2026-11-16T11:00:00.000Z"];

test("two clones that were guarded before they met have both begun where they did, and one baseline", () => {
  const [ours, theirs] = [record("a", early), record("b", late)];
  const both = mergeRecord(repository, { base: undefined, ours, theirs });
  if ("clashes" in both) throw new Error(JSON.stringify(both));
  const { value } = parseRecord(repository, "repos/shop.md", both.text, undefined);
  expect(value).toMatchObject({ rev: 2, guarded: ["a", "b"], created: early });
  expect(value.begun.map((one) => one.clone)).toEqual(["a", "b"]);
  // The one that was published first, whatever the clocks of the two said.
  expect(value.baseline.map((one) => one.clone)).toEqual(["b"]);
  const other = mergeRecord(repository, { base: undefined, ours: theirs, theirs: ours });
  if ("clashes" in other) throw new Error(JSON.stringify(other));
  const again = parseRecord(repository, "repos/shop.md", other.text, undefined).value;
  expect(again.baseline.map((one) => one.clone)).toEqual(["a"]);
});

test("what differs otherwise is left to a person", () => {
  const ways = {
    base: undefined,
    ours: record("a", early),
    theirs: record("b", late, { base_branch: "dev" }),
  };
  expect(mergeRecord(repository, ways)).toHaveProperty("clashes");
});

test("a clone brings no baseline for a branch that came into being while its name was protected", () => {
  const [main, release] = ["refs/heads/main", "refs/heads/release/1"].map((ref) => ({
    ref,
    commit: "b".repeat(40),
    at: late,
    clone: "b",
  }));
  if (!main || !release) throw new Error("unreachable");
  const ours = record("b", late, { baseline: [main, release], protects: ["main", "release/*"] });
  const merged = (theirs: ReturnType<typeof record>) => {
    const both = mergeRecord(repository, { base: undefined, ours, theirs });
    if ("clashes" in both) throw new Error(JSON.stringify(both));
    return parseRecord(repository, "repos/shop.md", both.text, undefined).value.baseline.map(
      (one) => one.ref,
    );
  };
  expect(merged(record("a", early, { protects: ["main", "release/*"] }))).toEqual([main.ref]);
  // The policy began to name it in this clone.
  expect(merged(record("a", early, { protects: ["main"] }))).toEqual([main.ref, release.ref]);
});
