import * as fc from "fast-check";
import type { Facts } from "../../src/judge/context/gather.ts";
import { NO_LOOK } from "../../src/judge/context/look.ts";
import type { Own } from "../../src/judge/context/own.ts";
import type { Related } from "../../src/judge/context/relate.ts";
import type { Decision, Evidence, Finding, Handoff, Review } from "../../src/model/records/parts.ts";
import type { Task } from "../../src/model/records/task.ts";
import type { Situation } from "../../src/ports/operation.ts";

const TIME = "2026-11-16T08:00:00.000Z";
const made = {
  rev: 1,
  actor: "human:Ada",
  created: TIME,
  updated: TIME,
  repo: "harbor",
  branch: "main",
  commit: undefined,
};

export const situation: Situation = {
  ...{
    now: TIME,
    actor: "",
    repo: "harbor",
    branch: "main",
    commit: "a".repeat(40),
    bound: undefined,
    run: undefined,
    how: undefined,
    minds: [],
    clone: "0a1b2c3d",
  },
  sha256: (text) => text,
};

export function aTask(more: Partial<Task> = {}): Task {
  return {
    ...{
      id: "T0001",
      title: "Retry failed uploads",
      status: "active",
      profile: "standard",
      base_branch: "main",
    },
    ...{
      repos: ["harbor"],
      labels: [],
      depends_on: [],
      parent: undefined,
      blocker: undefined,
      next: [],
      archived: false,
    },
    ...{ plan_digest: undefined, plan_by: undefined, slices: [], ...made, branch: undefined },
    ...{ objective: "", plan: "", acceptance: "", notes: "" },
    ...more,
  };
}

export function aFinding(number: number, more: Partial<Finding> = {}): Finding {
  return {
    ...{ id: `T0001/F${number}`, severity: "medium", kind: "branch", status: "open", file: undefined },
    ...{
      line: undefined,
      line_sha256: undefined,
      plan_digest: undefined,
      resolved_commit: undefined,
      resolved_by: undefined,
      integrated_commit: undefined,
    },
    ...{
      reopened: 0,
      reopened_at: undefined,
      ...made,
      text: "The loop never ends",
      fix: "",
      resolution: "",
      reopen_reasons: "",
    },
    ...more,
  };
}

export function aHandoff(number: number, more: Partial<Handoff> = {}): Handoff {
  return {
    ...{
      id: `T0001/H${number}`,
      run: undefined,
      automatic: false,
      from_commits: false,
      changed: [],
      validation: [],
      children: [],
      ...made,
    },
    ...{ what: "Retries work", blocker: "", next: "Make the backoff test pass" },
    ...more,
  };
}

export function aDecision(number: number, more: Partial<Decision> = {}): Decision {
  return {
    ...{ id: `T0001/D${number}`, slice: undefined, changed: [], ...made },
    ...{ what: "Backoff doubles", why: "The server bans faster clients" },
    ...more,
  };
}

export function anEvidence(number: number, more: Partial<Evidence> = {}): Evidence {
  return {
    ...{ id: `T0001/E${number}`, kind: "check", check: "test", run: undefined, slice: undefined },
    ...{
      argv: ["npm", "test"],
      exit_code: 0,
      duration_ms: 900,
      tests_nothing: false,
      programs: [],
      environment: undefined,
      output_sha256: "0".repeat(64),
      output_bytes: 2,
      head: undefined,
    },
    ...{ tree: undefined, dirty: false, unstable: false, ...made, output: "ok" },
    ...more,
  };
}

export function aReview(number: number, more: Partial<Review> = {}): Review {
  return {
    ...{ id: `T0001/V${number}`, kind: "branch", verdict: "pass", subject: "T0001", head: undefined },
    ...{ heads: [], plan_digest: undefined, looked_at: [], findings: [], counts: true, ...made, summary: "" },
    ...more,
  };
}

export function aRelated(number: number, more: Partial<Related> = {}): Related {
  const id = `T${String(number + 1).padStart(4, "0")}/D1`;
  return {
    ...{
      id,
      kind: "decision",
      task: id.slice(0, 5),
      title: "Chunks of 8 MiB",
      detail: "",
      status: undefined,
    },
    ...{ why: "same file src/upload.ts", score: 30 - number },
    ...more,
  };
}

export function facts(own: Partial<Own> = {}, more: Partial<Omit<Facts, "own">> = {}): Facts {
  return {
    own: {
      ...{ task: aTask(), decisions: [], evidence: [], findings: [], reviews: [], handoffs: [] },
      ...{ touched: [], problems: [] },
      ...own,
    },
    ...{ files: [], related: [], dependencies: [], look: { ...NO_LOOK, isDirty: false }, problems: [] },
    ...more,
  };
}

/** Text as hands write it: from nothing to 10 kB, with line breaks, Markdown, quotes, emoji and other scripts. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 200 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("word ", "🦜", "日本語", "```\ncode\n", "# heading\n", "a\r\nb "),
        fc.integer({ min: 1, max: 2_500 }),
      )
      .map(([piece, times]) => piece.repeat(times)),
  },
);
const id = (letter: string) =>
  fc.integer({ min: 1, max: 99_999 }).map((number) => `T0001/${letter}${number}`);
const several = <T>(arbitrary: fc.Arbitrary<T>, most = 12) => fc.array(arbitrary, { maxLength: most });

const task = fc.record({
  title: text.map((title) => title || "untitled"),
  status: fc.constantFrom("open", "active", "blocked", "review", "done"),
  profile: fc.constantFrom("light", "standard", "strict"),
  base_branch: fc.option(text, { nil: undefined }),
  branch: fc.option(text, { nil: undefined }),
  blocker: fc.option(text, { nil: undefined }),
  ...{ labels: several(text, 4), repos: several(text, 3), next: several(text, 4) },
  ...{ objective: text, plan: text, acceptance: text, notes: text },
  slices: several(
    fc.record({
      ...{ id: fc.integer({ min: 1, max: 99 }).map((number) => `S${number}`), title: text },
      status: fc.constantFrom("open", "closed"),
    }),
  ),
}) as fc.Arbitrary<Partial<Task>>;

const own = fc.record({
  task: task.map((more) => aTask(more)),
  decisions: several(fc.record({ id: id("D"), what: text, why: text }).map((more) => aDecision(1, more))),
  evidence: several(
    fc
      .record({
        id: id("E"),
        check: fc.option(text, { nil: undefined }),
        argv: several(text, 3),
        exit_code: fc.nat(2),
        output: text,
      })
      .map((more) => anEvidence(1, more)),
  ),
  findings: several(
    fc
      .record({
        ...{ id: id("F"), text, fix: text, file: fc.option(text, { nil: undefined }) },
        severity: fc.constantFrom("high", "medium", "low") as fc.Arbitrary<Finding["severity"]>,
        status: fc.constantFrom("open", "open", "fixed") as fc.Arbitrary<Finding["status"]>,
      })
      .map((more) => aFinding(1, more)),
  ),
  handoffs: several(
    fc
      .record({
        id: id("H"),
        what: text,
        next: text.map((next) => `step ${next}`),
        blocker: text,
        validation: several(text, 3),
        changed: several(text, 3),
      })
      .map((more) => aHandoff(1, more)),
    4,
  ),
  reviews: several(
    fc.record({ id: id("V"), summary: text }).map((more) => aReview(1, more)),
    3,
  ),
}) as fc.Arbitrary<Partial<Own>>;

/** Everything that could be known about a task, in all sizes. */
export const anyFacts: fc.Arbitrary<Facts> = fc
  .tuple(
    own,
    several(text, 30),
    several(fc.record({ title: text, detail: text, why: text }), 20),
    fc.option(fc.boolean(), { nil: undefined }),
  )
  .map(([ownFacts, files, related, isDirty]) =>
    facts(ownFacts, {
      files,
      related: related.map((more, index) => aRelated(index + 1, more)),
      look: { ...NO_LOOK, isDirty },
    }),
  );
