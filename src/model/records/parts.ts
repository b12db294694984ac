import {
  flag,
  group,
  integer,
  list,
  matching,
  oneOf,
  optional,
  sha,
  text,
  withDefault,
  word,
} from "../fields.ts";
import { kind, type ValueOf } from "../record.ts";
import { digest, partId, provenance, sliceId, taskId } from "./shared.ts";

/** What was decided and why; append-only. */
export const decision = kind({
  name: "decision",
  plural: "decisions",
  letter: "D",
  fields: { id: partId("D"), slice: optional(sliceId), changed: list(text("src/a.ts")), ...provenance },
  sections: { what: "What", why: "Why" },
});

/** A check that pawl ran itself, bound to the exact tree it ran on; append-only. */
export const evidence = kind({
  name: "evidence",
  plural: "evidence",
  letter: "E",
  fields: {
    id: partId("E"),
    kind: oneOf(["red", "green", "check"]),
    check: optional(text("test")),
    /** The run in whose worktree it was gathered. */
    run: optional(partId("R")),
    slice: optional(sliceId),
    argv: list(word),
    /** What it obviously is: a command that cannot fail proves nothing. */
    tests_nothing: withDefault(flag, false),
    /** The files that ran: the program, and what a shell's line begins with. */
    programs: list(group({ path: text("/usr/bin/npm"), sha256: digest })),
    /** The variables were those that a human's shell had at install, or whatever the caller had. */
    environment: optional(oneOf(["kept", "caller"])),
    exit_code: integer,
    duration_ms: integer,
    output_sha256: digest,
    output_bytes: integer,
    head: optional(sha),
    tree: optional(sha),
    dirty: withDefault(flag, false),
    /** The check changed files, or saw some that are in no tree of ours: its result belongs to no single tree. */
    unstable: withDefault(flag, false),
    ...provenance,
  },
  sections: { output: "Output" },
});

export const SEVERITIES = ["high", "medium", "low"] as const;
export const FINDING_STATUSES = ["open", "fixed", "integrated", "deferred", "wontfix"] as const;
export const REVIEW_KINDS = ["plan", "branch"] as const;

export const finding = kind({
  name: "finding",
  plural: "findings",
  letter: "F",
  fields: {
    id: partId("F"),
    severity: oneOf(SEVERITIES),
    kind: oneOf(REVIEW_KINDS),
    status: oneOf(FINDING_STATUSES),
    file: optional(text("src/a.ts")),
    line: optional(integer),
    /** The sha256 of that line's text, so that it is found again where it has moved to. */
    line_sha256: optional(digest),
    /** A finding about a plan: the plan that it is about. */
    plan_digest: optional(digest),
    resolved_commit: optional(sha),
    resolved_by: optional(text("agent:codex")),
    integrated_commit: optional(sha),
    reopened: withDefault(integer, 0),
    /** Where it was found to be there still: a later fix has to come after this as well. */
    reopened_at: optional(sha),
    ...provenance,
  },
  sections: {
    text: "Finding",
    fix: "Fix hint",
    resolution: "Resolution",
    reopen_reasons: "Reopened because",
  },
});

export const VERDICTS = ["pass", "pass_with_findings", "fail"] as const;

/** One look at a plan or a branch by one reviewer, with what was looked at; append-only. */
export const review = kind({
  name: "review",
  plural: "reviews",
  letter: "V",
  fields: {
    id: partId("V"),
    kind: oneOf(REVIEW_KINDS),
    verdict: oneOf(VERDICTS),
    subject: text("plan"),
    head: optional(sha),
    /** The tips of the task's branches, in every repository of its run. */
    heads: list(group({ repo: text("my-project"), head: sha })),
    plan_digest: optional(text("sha256 of the plan")),
    looked_at: list(text("src/a.ts")),
    findings: list(partId("F")),
    /** False when the reviewer wrote the work under review: recorded, but no gate counts it. */
    counts: flag,
    ...provenance,
  },
  sections: { summary: "Summary" },
});

export const handoff = kind({
  name: "handoff",
  plural: "handoffs",
  letter: "H",
  fields: {
    id: partId("H"),
    /** The run that it is about. */
    run: optional(partId("R")),
    /** Written by pawl at the end of a run that left none: only what was seen, so no gate counts it. */
    automatic: withDefault(flag, false),
    /** Nobody wrote one, and the commits were taken for it when the task was to be approved. */
    from_commits: withDefault(flag, false),
    changed: list(text("src/a.ts")),
    validation: list(text("npm test: 12 passed")),
    /** A manager's: of each run that it started, how it stands and the one next command; from the records. */
    children: list(text("T0002/R1 claude succeeded, accepted: pawl approve T0002")),
    ...provenance,
  },
  sections: { what: "What", blocker: "Blocker", next: "Next" },
});

const LANE_STATUSES = ["open", "closed"] as const;

/** Who may touch what: the paths that a task's work stays within, and the tasks that it waits for because of them. */
export const lane = kind({
  name: "lane",
  plural: "lanes",
  letter: "L",
  fields: {
    id: partId("L"),
    status: oneOf(LANE_STATUSES),
    owner: text("agent:codex"),
    paths: list(text("src/api/**")),
    after: list(taskId),
    ...provenance,
  },
  sections: { why: "Why" },
});

export const MAIL_STATUSES = ["open", "acknowledged", "closed"] as const;

/** Words for somebody who is not there now; whoever they are for reads them when they come. It lies with the addressee's task. */
export const message = kind({
  name: "message",
  plural: "mail",
  letter: "M",
  fields: {
    id: partId("M"),
    status: oneOf(MAIL_STATUSES),
    /** Whoever works on the task, whoever works in the lane, this run and no other, or the human. */
    to: matching(
      /^(?:human|T\d{4,}(?:\/[LR]\d+)?)$/,
      "human, or an id such as T0001 or T0001/R1",
      "T0001/R1",
    ),
    /** The run that sent it. */
    from_run: optional(partId("R")),
    /** The run that it is about, and never the one that comes after. */
    run: optional(partId("R")),
    /** Written by pawl at the end of a run: what was seen, and the worker's own handoff. */
    report: withDefault(flag, false),
    acknowledged_by: optional(text("agent:codex")),
    ...provenance,
  },
  sections: { text: "Text" },
});

const noteId = matching(/^N\d{4,}$/, "a note id", "N0001");

/** Knowledge that belongs to no single task, and decisions that do not. */
export const note = kind({
  name: "note",
  plural: "notes",
  letter: "N",
  fields: {
    id: noteId,
    title: text("How releases are made"),
    kind: withDefault(oneOf(["note", "decision"]), "note" as const),
    labels: list(text("release")),
    files: list(text("src/a.ts")),
    archived: withDefault(flag, false),
    /** What is to be read in its place. */
    superseded_by: optional(noteId),
    ...provenance,
  },
  sections: { text: "Note", why: "Why" },
});

/** Files that one clone saw change for a task; one record per clone, so that two machines never write the same one. */
export const touched = kind({
  name: "touched",
  plural: "touched",
  letter: "X",
  fields: { id: text("T0001/touched/1a2b3c4d"), files: list(text("src/a.ts")), ...provenance },
  sections: {},
});

export type Decision = ValueOf<typeof decision>;
export type Evidence = ValueOf<typeof evidence>;
export type Finding = ValueOf<typeof finding>;
export type Review = ValueOf<typeof review>;
export type Handoff = ValueOf<typeof handoff>;
export type Lane = ValueOf<typeof lane>;
export type Message = ValueOf<typeof message>;
export type Note = ValueOf<typeof note>;
export type Touched = ValueOf<typeof touched>;

/** The kinds that live inside a task's folder under `<plural>/<letter><number>.md`. */
export const TASK_PARTS = [decision, evidence, finding, review, handoff, lane, message] as const;
