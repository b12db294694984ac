import { addPart, change, madeNow } from "../../judge/change.ts";
import { findRun, startsOthers } from "../../judge/current-run.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import type { ChangesOf, Stored } from "../../model/record.ts";
import type { RunAttempt } from "../../model/records/attempt.ts";
import { BY_HAND, type Run, run } from "../../model/records/run.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

export type RunKind = Pick<
  Run,
  | "agent"
  | "role"
  | "mode"
  | "parent"
  | "limits"
  | "tasks"
  | "at_once"
  | "reviewer"
  | "rounds"
  | "basis"
  | "envelope"
>;

/** Writes down that an attempt is about to be made. */
export type AttemptRecorder = (
  reader: Reader,
  at: Situation,
  attempt: RunAttempt,
  holder: string,
) => Plan<Run>;

export const storedRun = (reader: Reader, id: string): Stored<typeof run> =>
  reader.part(run, taskOf(id), partOf(id));

/** An attempt that is about to be made: written down before any process is started. */
export function newAttempt(
  number: number,
  made: Pick<RunAttempt, "agent" | "model" | "version" | "session">,
  at: Situation,
): RunAttempt {
  // In the order of the record's own fields, as it is compared with what was written.
  return {
    number,
    agent: made.agent,
    session: made.session,
    model: made.model,
    version: made.version,
    status: "starting",
    reason: undefined,
    exit_code: undefined,
    begun: at.now,
    ended: undefined,
    seconds: undefined,
    turns: undefined,
    input_tokens: undefined,
    cached_tokens: undefined,
    output_tokens: undefined,
    cost: undefined,
    cost_from: undefined,
  };
}

/** A run that works in the worktrees of another, or that only conducts; its id was foreseen under the task's lock. */
export function recordNewRun(
  reader: Reader,
  at: Situation,
  id: string,
  kind: RunKind,
  attempt: RunAttempt,
  more: Pick<Run, "holder" | "repos" | "notes">,
): Plan<Run> {
  const task = taskOf(id);
  const place = startsOthers(kind) ? undefined : findRun(reader, task)?.value.id;
  const about = `${attempt.agent} as ${kind.role}${place === undefined ? "" : ` in ${place}`}`;
  const made = addPart(run, task, reader.partNames(run, task), (name) => newRun(name, at), about);
  function newRun(name: string, now: Situation): Run {
    return {
      ...BY_HAND,
      ...kind,
      id: name,
      status: "running",
      ended: undefined,
      reason: undefined,
      command: [],
      within: place,
      attempts: [attempt],
      pid: undefined,
      exit_code: undefined,
      log: undefined,
      clone: now.clone,
      snapshots: [],
      refreshed: [],
      landed: [],
      restored: undefined,
      ...madeNow(now),
      ...more,
    };
  }
  if (made.value.id !== id)
    throw new Failure("conflict", "run_open", `Another run of ${task} was started at the same moment.`, {
      hint: "Run this again.",
      details: { run: made.value.id },
    });
  return { data: made.value, effects: [made.effect] };
}

/** Another attempt of an existing run: its first one, or one that resumes it. */
export function recordAttempt(
  reader: Reader,
  at: Situation,
  id: string,
  attempt: RunAttempt,
  more: Partial<RunKind> & Pick<Run, "holder">,
): Plan<Run> {
  const stored = storedRun(reader, id);
  const changes: ChangesOf<typeof run> = {
    ...more,
    status: "running",
    attempts: [...stored.value.attempts, attempt],
  };
  if (stored.value.ended !== undefined) changes.ended = undefined;
  const about = `attempt ${attempt.number} with ${attempt.agent}`;
  const changed = change(run, stored, changes, at, about);
  return { data: changed.value, effects: [changed.effect] };
}

/** The agent's process runs, or more is known about it than at its start. */
export function recordProgress(
  reader: Reader,
  at: Situation,
  id: string,
  number: number,
  known: Partial<RunAttempt>,
  about: string,
): Plan<Run> {
  const stored = storedRun(reader, id);
  const attempts = stored.value.attempts.map((one) => (one.number === number ? { ...one, ...known } : one));
  const holder = withSession(stored.value.holder, attempts.at(-1)?.session);
  if (JSON.stringify(attempts) === JSON.stringify(stored.value.attempts)) return { data: stored.value };
  const changed = change(run, stored, { attempts, holder }, at, about);
  return { data: changed.value, effects: [changed.effect] };
}

/** Some programs tell their session only when they run. */
export function withSession(holder: string, session: string | undefined): string {
  const [kind, name] = holder.split(":");
  return session === undefined ? holder : `${kind}:${name}:${session}`;
}

/** Runs of the task that some agent may be working in now, whatever machine it is on. */
export const openRunsOf = (reader: Reader, task: string): Run[] =>
  reader
    .parts(run, task)
    .records.map((one) => one.value)
    .filter((one) => one.attempts.at(-1)?.ended === undefined && one.attempts.length > 0);
