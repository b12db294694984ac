import { type FieldValues, group, integer, list, matching, oneOf, optional, text, time } from "../fields.ts";

const ATTEMPT_STATUSES = ["starting", "running", "succeeded", "failed", "interrupted"] as const;

/** `kept`: worked on by hand and put aside with its worktrees; it waits to be merged or gone on with. */
export const RUN_STATUSES = [...ATTEMPT_STATUSES, "kept"] as const;

export const RUN_MODES = ["single", "parallel", "pipeline", "manager"] as const;

/** What an agent is there for, which decides what it may touch; a conductor is pawl itself, starting others. */
export const ROLES = ["author", "reviewer", "fixer", "manager", "conductor"] as const;

/** Why an attempt ended as it did; absent where it simply succeeded. */
export const RUN_REASONS = [
  "exit",
  "model_auth",
  "model_rate",
  "model_error",
  "limit_time",
  "limit_idle",
  "limit_cost",
  "limit_turns",
  "limit_log",
  "stopped",
  "never_started",
  "guard_lost",
  "rebooted",
  "no_result",
  "denied_tools",
  "rounds_exhausted",
  "no_progress",
  "unsettled",
] as const;

export const SETTLEMENTS = ["accept", "retry", "abandon"] as const;

const decimal = matching(/^\d+(?:\.\d{1,6})?$/, "an amount such as 2.50", "2.50");

/** One life of an agent. Resuming a run adds another; all that is known of it is in its own folder. */
const attemptFields = {
  number: integer,
  agent: text("codex"),
  /** Its conversation, by which the program itself can go on. */
  session: optional(text("1a2b3c4d")),
  model: optional(text("opus")),
  version: optional(text("2.1.197")),
  status: oneOf(ATTEMPT_STATUSES),
  reason: optional(oneOf(RUN_REASONS)),
  exit_code: optional(integer),
  begun: time,
  ended: optional(time),
  seconds: optional(integer),
  turns: optional(integer),
  input_tokens: optional(integer),
  cached_tokens: optional(integer),
  output_tokens: optional(integer),
  /** In US dollars: as the program reported it, or computed from its tokens and the project's own prices. */
  cost: optional(decimal),
  cost_from: optional(oneOf(["reported", "computed"])),
} as const;

export const attempt = group(attemptFields);

/** Seconds, dollars, turns of the model, bytes of its stream. */
const limitFields = {
  time: integer,
  idle: optional(integer),
  cost: optional(decimal),
  turns: optional(integer),
  log: integer,
} as const;

export const limits = group(limitFields);

/** What a human lets a manager do, together with its own limit on time: nothing that it says itself changes this. */
const envelopeFields = {
  /** Whom it may start. */
  agents: list(text("codex")),
  at_once: integer,
  /** How often in all, resumptions included. */
  in_all: integer,
  /** US dollars for everything that it starts. */
  cost: optional(decimal),
} as const;

export const envelope = group(envelopeFields);

/** What the manager, or a human, says of an attempt that has ended; append-only. */
const settlementFields = {
  attempt: integer,
  outcome: oneOf(SETTLEMENTS),
  by: text("agent:claude-code"),
  at: time,
  why: text("the tests cover it"),
} as const;

export const settlement = group(settlementFields);

export type Envelope = FieldValues<typeof envelopeFields>;
export type Settlement = FieldValues<typeof settlementFields>;
export type RunAttempt = FieldValues<typeof attemptFields>;
export type RunLimits = FieldValues<typeof limitFields>;
export type RunReason = (typeof RUN_REASONS)[number];
export type RunStatus = (typeof RUN_STATUSES)[number];
export type Role = (typeof ROLES)[number];
