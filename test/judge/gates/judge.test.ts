import { describe, expect, test } from "vitest";
import type { RecordFacts, RepoFacts } from "../../../src/judge/gates/facts.ts";
import { STAGES, type Stage } from "../../../src/judge/gates/gate.ts";
import { breachOf, doubtsAbout } from "../../../src/judge/gates/integrity.ts";
import { judgeRecords } from "../../../src/judge/gates/judge-records.ts";
import { judgeRepos, stillHolds } from "../../../src/judge/gates/judge-repos.ts";
import { isProtected, requiredChecks } from "../../../src/judge/gates/policy.ts";
import { type ReasonCode, RULES, reasonsOf } from "../../../src/judge/gates/rules.ts";
import { parseConfig } from "../../../src/model/config.ts";
import type { Review } from "../../../src/model/records/parts.ts";
import { BY_HAND, type Run } from "../../../src/model/records/run.ts";
import { PROFILES, type Task } from "../../../src/model/records/task.ts";
import { aFinding, aHandoff, anEvidence, aReview, aTask } from "../../helpers/context-facts.ts";

const [HEAD, BASE, TREE] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];
const CHECK = { name: "test", argv: ["npm", "test"] };

function aRun(more: Partial<Run> = {}): Run {
  const repo = { name: "harbor", worktree: ".worktrees/T0001", branch: "task/T0001", base_branch: "main" };
  return {
    ...{
      id: "T0001/R1",
      status: "running",
      ended: undefined,
      reason: undefined,
      command: [],
    },
    ...BY_HAND,
    ...{
      pid: undefined,
      exit_code: undefined,
      log: undefined,
      clone: "1",
      holder: "agent:codex",
    },
    repos: [
      {
        ...repo,
        base_was: undefined,
        base_since: undefined,
        base_head: BASE,
        head: undefined,
        dirty: false,
        adopted: false,
      },
    ],
    snapshots: [
      {
        ...{
          repo: "harbor",
          commit: HEAD,
          head: HEAD,
          tree: TREE,
          base_head: BASE,
          patch_sha256: "0".repeat(64),
        },
        ...{ files: 1, insertions: 1, deletions: 0, whole: true },
      },
    ],
    refreshed: [],
    landed: [],
    restored: undefined,
    ...{
      rev: 1,
      actor: "agent:codex",
      created: "2026-01-01T00:00:00.000Z",
      updated: "2026-01-01T00:00:00.000Z",
    },
    ...{ repo: "harbor", branch: "main", commit: undefined, notes: "" },
    ...more,
  };
}

/** A task that lacks nothing, at the highest ceremony. */
function complete(more: Partial<RecordFacts> = {}): RecordFacts {
  const slice: Task["slices"][number] = {
    id: "S1",
    title: "Retry",
    status: "closed",
    decision: "T0001/D1",
    red: "T0001/E1",
    green: "T0001/E2",
    commit: HEAD,
    by: "agent:codex",
  };
  return {
    task: aTask({ profile: "strict", plan: "First this, then that.", slices: [slice] }),
    run: aRun(),
    findings: [aFinding(1, { status: "fixed" })],
    evidence: [
      anEvidence(2, {
        repo: "harbor",
        check: "test",
        argv: CHECK.argv,
        tree: TREE,
        head: HEAD,
        exit_code: 0,
      }),
    ],
    reviews: [
      aReview(1, { kind: "plan", plan_digest: "digest" }),
      aReview(2, { kind: "branch", heads: [{ repo: "harbor", head: HEAD }] }),
    ],
    authors: [],
    handoffs: [aHandoff(1, { created: "2026-01-02T00:00:00.000Z" })],
    waitingFor: [],
    ...more,
  };
}

function inGit(more: Partial<RepoFacts> = {}): RepoFacts {
  const [repo] = aRun().repos;
  if (!repo) throw new Error("no repository");
  return {
    ...{
      repo,
      path: "/x/.worktrees/T0001",
      head: HEAD,
      base: BASE,
      tree: TREE,
      guarded: true,
      contained: true,
      changed: true,
    },
    ...{
      conflicts: [],
      dirty: [],
      targetDirty: [],
      isProtected: false,
      lostFixes: [],
      snapshotKept: true,
      surfacesMissing: false,
      checks: [CHECK],
    },
    ...more,
  };
}

function codes(
  facts: RecordFacts,
  repos: RepoFacts[] = [inGit()],
  stage: Stage = "close",
  profile: Task["profile"] = facts.task.profile,
): string[] {
  const breaches = judgeRecords(facts, stage, "digest");
  if (stage !== "plan") breaches.push(...judgeRepos(facts, repos));
  return reasonsOf(breaches, stage, profile).map((one) => one.code);
}

const strict = (more: Partial<Task>) => complete({ task: { ...complete().task, ...more } });
const [slice] = complete().task.slices;

/** These are told from the log of events, below. */
type FromHistory = "records_taken_back" | "record_missing" | "record_altered" | "record_unexplained";

/** One way to break each rule, and nothing else. */
const BROKEN: Record<Exclude<ReasonCode, FromHistory>, [RecordFacts, RepoFacts[]?]> = {
  nobody_could_sign: [complete(), [inGit({ unsignable: "The policy demands what no key has." })]],
  dependency_open: [complete({ waitingFor: ["T0002"] })],
  plan_missing: [strict({ plan: "" })],
  plan_not_reviewed: [complete({ reviews: complete().reviews.slice(1) })],
  plan_changed_since_review: [
    complete({
      reviews: [aReview(1, { kind: "plan", plan_digest: "other" }), ...complete().reviews.slice(1)],
    }),
  ],
  open_finding: [complete({ findings: [aFinding(1, { status: "open", kind: "plan" })] })],
  fix_not_in_branch: [complete(), [inGit({ lostFixes: ["T0001/F1"] })]],
  not_started: [complete({ run: undefined }), []],
  on_protected_branch: [complete(), [inGit({ isProtected: true })]],
  worktree_missing: [complete(), [inGit({ dirty: undefined })]],
  branch_missing: [complete(), [inGit({ head: undefined })]],
  base_changed: [strict({ base_branch: "release/1" })],
  base_missing: [complete(), [inGit({ base: undefined })]],
  surfaces_not_in_base: [complete(), [inGit({ surfacesMissing: true })]],
  no_changes: [complete(), [inGit({ changed: false })]],
  dirty_worktree: [complete(), [inGit({ dirty: ["src/a.ts"] })]],
  slice_missing: [strict({ slices: [] })],
  slice_open: [strict({ slices: slice ? [{ ...slice, status: "open" }] : [] })],
  slice_without_decision: [strict({ slices: slice ? [{ ...slice, decision: undefined }] : [] })],
  slice_without_red: [strict({ slices: slice ? [{ ...slice, red: undefined }] : [] })],
  unmergeable: [complete(), [inGit({ contained: false, conflicts: ["a.ts"] })]],
  base_moved: [complete(), [inGit({ contained: false })]],
  check_missing: [complete({ evidence: [] })],
  check_failed: [
    complete({
      evidence: [
        anEvidence(2, { repo: "harbor", check: "test", argv: CHECK.argv, tree: TREE, exit_code: 1 }),
      ],
    }),
  ],
  check_stale: [
    complete({
      evidence: [
        anEvidence(2, { repo: "harbor", check: "test", argv: CHECK.argv, tree: BASE, exit_code: 0 }),
      ],
    }),
  ],
  review_missing: [complete({ reviews: complete().reviews.slice(0, 1) })],
  review_stale: [
    complete({
      reviews: [...complete().reviews.slice(0, 1), aReview(2, { heads: [{ repo: "harbor", head: BASE }] })],
    }),
  ],
  no_handoff: [complete({ handoffs: [] })],
  snapshot_missing: [complete({ run: aRun({ snapshots: [] }) })],
  target_dirty: [complete(), [inGit({ targetDirty: [{ worktree: "/x", files: ["a"], strays: [] }] })]],
};

const ALSO: Partial<Record<ReasonCode, string[]>> = { unmergeable: ["base_moved"] };

test("work that is only not committed yet is one reason, not two", () => {
  expect(codes(complete(), [inGit({ changed: false, dirty: ["src/a.ts"] })])).toEqual(["dirty_worktree"]);
});

test("every rule is broken once", () => {
  const told: FromHistory[] = [
    "records_taken_back",
    "record_missing",
    "record_altered",
    "record_unexplained",
  ];
  expect([...Object.keys(BROKEN), ...told].sort()).toEqual(Object.keys(RULES).sort());
});

describe("the log of events", () => {
  const event = (
    path: string,
    more: { text?: string; before?: string; rev?: number; event?: string; actor?: string },
  ) => ({
    event: more.event ?? "verify",
    record: `T0001/X1@${more.rev ?? 1}`,
    actor: more.actor ?? "agent:codex",
    path: `tasks/T0001/${path}`,
    ...(more.text === undefined ? {} : { text: more.text }),
    ...(more.before === undefined ? {} : { before: more.before }),
  });
  const record = (path: string, text: string) => ({ path: `tasks/T0001/${path}`, text });
  const found = (events: ReturnType<typeof event>[], records: ReturnType<typeof record>[]) =>
    doubtsAbout(events, records).map((one) => breachOf(one).code);

  test.each([
    "task.md",
    "evidence/E1.md",
    "reviews/V1.md",
    "findings/F1.md",
    "handoffs/H1.md",
    "runs/R1/run.md",
  ])("bears out %s, or does not, in both directions", (path) => {
    const told = [event(path, { text: "abc" })];
    expect(found(told, [record(path, "abcdef")])).toEqual([]);
    expect(found(told, [record(path, "xyz")])).toEqual(["record_altered"]);
    expect(found(told, [])).toEqual(["record_missing"]);
    expect(found([], [record(path, "abcdef")])).toEqual(["record_unexplained"]);
  });

  test("goes by the highest rev, of which two clones may each have one", () => {
    const two = [
      event("findings/F1.md", { text: "old", rev: 1 }),
      event("findings/F1.md", { text: "new", rev: 2 }),
    ];
    expect(found(two, [record("findings/F1.md", "new")])).toEqual([]);
    expect(found(two, [record("findings/F1.md", "old")]), "an older text was put back").toEqual([
      "record_altered",
    ]);
    const together = [
      event("findings/F1.md", { text: "old", rev: 1 }),
      event("findings/F1.md", { text: "ours", before: "old", rev: 2 }),
      event("findings/F1.md", { text: "theirs", before: "old", rev: 2 }),
      { ...event("findings/F1.md", { text: "ours", before: "theirs", rev: 2 }), event: "sync" },
    ];
    expect(found(together, [record("findings/F1.md", "ours")]), "both changed it alike").toEqual([]);
    const twins = [event("findings/F1.md", { text: "one" }), event("findings/F1.md", { text: "other" })];
    expect(found(twins, [record("findings/F1.md", "one")])).toEqual([]);
    expect(
      found([event("evidence/E1.md", {})], [record("evidence/E1.md", "before digests were kept")]),
    ).toEqual([]);
  });

  test("remembers an edit by hand, however often the record is written after it, until a human adopts it", () => {
    const written = [
      event("task.md", { text: "one", rev: 1 }),
      event("task.md", { text: "three", before: "two", rev: 2 }),
      event("task.md", { text: "four", before: "three", rev: 3 }),
    ];
    const now = [record("task.md", "four")];
    expect(found(written, now)).toEqual(["record_altered"]);
    const edit = (actor: string) =>
      event("task.md", { text: "five", before: "four", rev: 4, event: "task.edit", actor });
    expect(found([...written, edit("agent:codex")], [record("task.md", "five")])).toEqual(["record_altered"]);
    expect(found([...written, edit("human:Ada")], [record("task.md", "five")])).toEqual([]);
  });
});

test("a task that lacks nothing may be closed", () => {
  expect(codes(complete())).toEqual([]);
});

describe.each(Object.keys(BROKEN) as (keyof typeof BROKEN)[])("%s", (code) => {
  const [facts, repos] = BROKEN[code];

  test("is the only reason when only this is missing", () => {
    expect(codes(facts, repos)).toEqual([code, ...(ALSO[code] ?? [])]);
  });

  test.each(STAGES)("counts at %s exactly where the table says, for every profile", (stage) => {
    const rule: { stages: readonly string[]; from: string } = RULES[code];
    for (const profile of PROFILES) {
      const expected =
        rule.stages.includes(stage) &&
        PROFILES.indexOf(profile) >= PROFILES.indexOf(rule.from as Task["profile"]);
      expect(codes(facts, repos, stage, profile).includes(code), `${profile} at ${stage}`).toBe(expected);
    }
  });

  test("says who settles it and with which command", () => {
    const breaches = [...judgeRecords(facts, "close", "digest"), ...judgeRepos(facts, repos ?? [inGit()])];
    const [reason] = reasonsOf(breaches, "close", "strict").filter((one) => one.code === code);
    expect(reason?.owner).toMatch(/^(author|reviewer|human)$/);
    expect(reason?.command).toMatch(/^(pawl|git) /);
    expect(reason?.message).toMatch(/\S/);
  });
});

describe("evidence", () => {
  const withEvidence = (...all: Parameters<typeof anEvidence>[1][]) =>
    complete({
      evidence: all.map((one, index) => anEvidence(index + 1, { repo: "harbor", tree: TREE, ...one })),
    });
  const good = { check: "test", argv: CHECK.argv, exit_code: 0 };

  test.each([
    ["another command under the same name", { ...good, argv: ["true"] }, ["check_missing"]],
    ["the beginning of the command", { ...good, argv: CHECK.argv.slice(0, 1) }, ["check_missing"]],
    ["the right command without the name", { ...good, check: undefined }, ["check_missing"]],
    ["a result that belongs to no tree", { ...good, unstable: true }, ["check_stale"]],
    ["a result of another repository", { ...good, repo: "dock" }, ["check_missing"]],
    ["a red", { ...good, kind: "red" as const }, ["check_missing"]],
  ])("%s does not count", (_name, one, expected) => {
    expect(codes(withEvidence(one))).toEqual(expected);
  });

  test("the last result on a tree is the one that counts", () => {
    expect(codes(withEvidence(good, { ...good, exit_code: 1 }))).toEqual(["check_failed"]);
    expect(codes(withEvidence({ ...good, exit_code: 1 }, good))).toEqual([]);
  });

  test("a high finding that was settled is in nobody's way", () => {
    const settled = { status: "fixed", severity: "high", kind: "branch" } as const;
    expect(codes(complete({ findings: [aFinding(1, settled)] }))).toEqual([]);
  });

  test("without a policy some check has to have passed on the tree", () => {
    const anything = { check: undefined, argv: ["make"], exit_code: 0 };
    expect(codes(withEvidence(anything), [inGit({ checks: [] })])).toEqual([]);
    expect(codes(withEvidence(), [inGit({ checks: [] })])).toEqual(["check_missing"]);
    const told = (checks: (typeof CHECK)[]) => judgeRepos(withEvidence(), [inGit({ checks })])[0]?.message;
    expect(told([])).toContain("`checks: none`");
    expect(told([CHECK]), "one that names its checks has tests").not.toContain("none");
  });
});

describe("reviews", () => {
  const branch = (more: Parameters<typeof aReview>[1]) =>
    aReview(3, { heads: [{ repo: "harbor", head: HEAD }], ...more });
  const plan = complete().reviews.slice(0, 1);

  test.each([
    ["a later fail outweighs an earlier pass", [branch({}), branch({ verdict: "fail" })], ["review_missing"]],
    ["a review by the author counts for nothing", [branch({ counts: false })], ["review_missing"]],
    [
      "one that does not count does not hide one that does",
      [branch({}), branch({ counts: false, verdict: "fail" })],
      [],
    ],
    ["one of two repositories is not all of it", [branch({ heads: [] })], ["review_stale"]],
  ] as [string, Review[], string[], string[]?][])("%s", (_name, reviews, expected, authors = []) => {
    expect(codes(complete({ authors, reviews: [...plan, ...reviews] }))).toEqual(expected);
  });

  const other = "d".repeat(40);
  const step = (from: string, to: string, overlap = false) => ({
    repo: "harbor",
    from,
    to,
    base: BASE,
    overlap,
  });

  test("outlive a refresh without overlap, also two in a row, and no other change", () => {
    const holds = (refreshed: Run["refreshed"], seen: string) =>
      stillHolds({ refreshed }, "harbor", seen, HEAD);
    expect(holds([], HEAD)).toBe(true);
    expect(holds([], other)).toBe(false);
    expect(holds([step(other, HEAD)], other)).toBe(true);
    expect(holds([step(other, TREE), step(TREE, HEAD)], other)).toBe(true);
    expect(holds([step(other, HEAD, true)], other)).toBe(false);
    expect(holds([step(other, TREE), step(TREE, HEAD, true)], other)).toBe(false);
    expect(holds([{ ...step(other, HEAD), repo: "dock" }], other)).toBe(false);
    expect(holds([step(other, other)], other)).toBe(false);
  });
});

test("a handoff from before the run says nothing about it", () => {
  const old = aHandoff(1, { created: "2025-12-31T00:00:00.000Z" });
  expect(codes(complete({ handoffs: [old] }))).toEqual(["no_handoff"]);
});

test("a repository without changes asks for nothing", () => {
  const both = [
    inGit(),
    inGit({ repo: { ...inGit().repo, name: "dock" }, changed: false, contained: false }),
  ];
  expect(codes(complete(), both)).toEqual([]);
});

const config = (more: object) => ({ ...parseConfig(".pawl/config.yaml", new Map()), ...more });

test("a copy of the policy can add checks and change none", () => {
  const base = config({ checks: [CHECK] });
  const copy = config({
    checks: [
      { name: "test", argv: ["true"] },
      { name: "lint", argv: ["lint"] },
    ],
  });
  expect(requiredChecks(base, [copy])).toEqual([CHECK, { name: "lint", argv: ["lint"] }]);
  expect(requiredChecks(base, [config({})])).toEqual([CHECK]);
});

test.each([
  ["main", [], undefined, true],
  ["master", [], undefined, true],
  ["trunk", [], "trunk", true],
  ["main", [], "trunk", false],
  ["release/1", ["release/*"], undefined, true],
  ["release/1/x", ["release/*"], undefined, false],
  ["release/1/x", ["release/**"], undefined, true],
  ["main", ["release/*"], undefined, false],
  ["mainx", ["main"], undefined, false],
  ["a.b", ["a?b"], undefined, true],
  ["axb", ["a.b"], undefined, false],
])("%s with patterns %j and the remote's default %s: protected %s", (branch, patterns, remote, expected) => {
  expect(isProtected(branch, config({ protected: patterns }), [], remote)).toBe(expected);
});

test.each<[branch: string, committed: object | undefined, remote: string | undefined, expected: boolean]>([
  ["main", undefined, undefined, true],
  ["trunk", undefined, "trunk", true],
  ["main", {}, undefined, true],
  ["release/1", {}, undefined, true],
  ["main", { protected: ["stable"] }, undefined, false],
  ["stable", { protected: ["stable"] }, undefined, true],
  ["release/1", { protected: ["stable"] }, undefined, true],
])(
  "a copy that names release/* only adds to the policy: %s, %j, %s: %s",
  (branch, committed, remote, expected) => {
    const copy = config({ protected: ["release/*"] });
    expect(isProtected(branch, committed && config(committed), [copy], remote)).toBe(expected);
  },
);

describe("a record that got another id", () => {
  const path = "tasks/T0002/task.md";
  const wrote = (text: string, rev = 1, more: object = {}) =>
    ({ event: "task.new", path, text, record: `T0002@${rev}`, actor: "human:Ada", ...more }) as never;
  const gave = (to: string, ...voided: string[]) =>
    wrote(to, 1, { event: "sync", path: `tasks/${to}/task.md`, record: `${to}@1`, was: path, voided });
  const doubts = (events: never[], text: string) =>
    doubtsAbout(events, [{ path, text }]).flatMap((one) => (one.path === path ? one.why : []));

  test("is not doubted while it waits for the other clone's in its old place, and counts no more after that", () => {
    const events = [wrote("ours"), gave("T0003", "ours")];
    expect(doubts(events, "ours")).toEqual([]);
    expect(doubts(events, "forged")).toEqual(["unexplained"]);
    expect(doubts([...events, wrote("theirs")], "theirs")).toEqual([]);
    expect(doubts([...events, wrote("theirs")], "ours")).toEqual(["altered"]);
  });

  test("and another one of a third clone leave nothing behind that speaks of the one that stays", () => {
    const changed = [wrote("ours"), wrote("ours, changed", 2, { before: "ours" })];
    const events = [
      ...changed,
      gave("T0003", "ours", "ours, changed"),
      wrote("a third"),
      gave("T0004", "a third"),
    ];
    expect(doubts([...events, wrote("theirs")], "theirs")).toEqual([]);
  });
});
