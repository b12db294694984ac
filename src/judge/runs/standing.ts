import { taskOf } from "../../model/ids.ts";
import type { RunAttempt, RunReason } from "../../model/records/attempt.ts";
import type { Evidence } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import type { AttemptView } from "../../ports/agents.ts";
import type { Next } from "../../ports/operation.ts";
import { nextAfter } from "./outcome.ts";
import { usageOf } from "./usage.ts";

/** How a run stands, from its record and, if it runs on this machine, from its processes. */
export interface RunStanding {
  id: string;
  task: string;
  agent: string | undefined;
  role: Run["role"];
  mode: Run["mode"];
  parent: string | undefined;
  holder: string;
  /**
   * `kept`: set aside with its worktrees, neither merged nor given up. `removed`: set aside, its work saved.
   * `held`: somebody works there by hand. `orphaned`: its supervisor is gone, but the agent continues.
   * `ending`: the agent has ended, but the records do not say so yet.
   */
  state:
    | "held"
    | "starting"
    | "running"
    | "orphaned"
    | "ending"
    | "succeeded"
    | "failed"
    | "interrupted"
    | "kept"
    | "removed";
  reason: RunReason | undefined;
  attempts: number;
  since: string;
  ended: string | undefined;
  /** Seconds of the latest attempt, and seconds since its last output. */
  elapsed: number | undefined;
  silent: number | undefined;
  /** What it last did, in its own words. */
  last: string;
  waiting: string | undefined;
  files: number;
  usage: {
    input: number;
    cached: number;
    output: number;
    turns: number;
    cost: number | undefined;
    source: string;
  };
  /** Repositories that had uncommitted changes when it began; nobody knows whose. */
  dirty: string[];
  /** What was checked in it, if the caller asked. */
  evidence: { id: string; passed: boolean }[];
  warnings: string[];
  next: Next | undefined;
}

/** The attempt that may still be running, according to the records. */
export function openAttempt({ attempts }: Pick<Run, "attempts">): RunAttempt | undefined {
  const last = attempts.at(-1);
  return last && last.ended === undefined ? last : undefined;
}

export function standingOf(
  value: Run,
  view: AttemptView | undefined,
  proofs: readonly Evidence[] = [],
): RunStanding {
  const last = value.attempts.at(-1);
  const live = openAttempt(value) && view?.number === last?.number ? view : undefined;
  const state = stateOf(value, live);
  const progress = live?.progress;
  const used = usageOf(value);
  return {
    id: value.id,
    task: taskOf(value.id),
    agent: last?.agent ?? value.agent,
    role: value.role,
    mode: value.mode,
    parent: value.parent,
    holder: value.holder,
    state,
    reason: last?.reason,
    attempts: value.attempts.length,
    since: last?.begun ?? value.created,
    ended: last?.ended,
    elapsed: live?.elapsed ?? last?.seconds,
    silent: live?.silent,
    last: progress?.last ?? "",
    waiting: progress?.waiting,
    files: progress?.files.length ?? 0,
    usage: {
      ...used,
      input: used.input + (progress?.tokens.input ?? 0),
      cached: used.cached + (progress?.tokens.cached ?? 0),
      output: used.output + (progress?.tokens.output ?? 0),
      turns: used.turns + (progress?.turns ?? 0),
      cost: sum(used.cost, progress?.cost),
    },
    dirty: value.repos.filter((one) => one.dirty).map((one) => one.name),
    evidence: proofs
      .filter((one) => one.run === value.id)
      .map(({ id, kind, exit_code }) => ({ id, passed: (exit_code === 0) !== (kind === "red") })),
    warnings: warningsOf(value, live),
    next: nextOf(value, state, last?.reason),
  };
}

const sum = (one: number | undefined, other: number | undefined) =>
  one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);

function stateOf(value: Run, live: AttemptView | undefined): RunStanding["state"] {
  if (openAttempt(value)) {
    if (!live) return "starting";
    return live.state === "ended" ? "ending" : live.state;
  }
  // A run that somebody did by hand and set aside was not interrupted, and no agent can resume it.
  if (value.ended && value.attempts.length === 0 && value.status === "interrupted") return value.ended;
  return value.status === "running" || value.status === "starting" ? "held" : value.status;
}

/** Silence this long deserves a warning, but ends nothing. */
const LONG_SILENCE = 15 * 60;

function warningsOf({ id, attempts }: Run, live: AttemptView | undefined): string[] {
  const said: string[] = [];
  if (live?.state === "running" && live.silent >= LONG_SILENCE && live.progress?.waiting === undefined)
    said.push(`${id} has been silent for ${Math.round(live.silent / 60)} minutes.`);
  if (live?.progress?.delegated || attempts.at(-1)?.reason === "denied_tools")
    said.push(
      live?.progress?.delegated
        ? `${id} delegated with its vendor's own tools; what was done there is not recorded.`
        : `${id} succeeded, but was denied some tools.`,
    );
  return said;
}

function nextOf(value: Run, state: RunStanding["state"], reason: RunReason | undefined): Next | undefined {
  switch (state) {
    case "held":
      return undefined;
    case "kept":
      return { command: `pawl start ${taskOf(value.id)} --claim`, reason: "continues in the kept worktrees" };
    case "removed":
      return value.snapshots.length === 0
        ? undefined
        : {
            command: `pawl start ${taskOf(value.id)} --restore ${value.id.slice(taskOf(value.id).length + 1)}`,
            reason: "brings its saved work back",
          };
    case "starting":
    case "running":
    case "orphaned":
    case "ending":
      return { command: `pawl run log ${value.id} --follow`, reason: "what it is doing" };
    default:
      return nextAfter(value.id, { status: state, reason });
  }
}
