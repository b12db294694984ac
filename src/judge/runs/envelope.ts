import { secondsBetween, showDuration } from "../../model/duration.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { RunLimits } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import { openAttempt } from "./standing.ts";
import { dollars, usageOf } from "./usage.ts";

/** Everything that decides whether a manager may start another run; all of it comes from the records. */
export interface EnvelopeFacts {
  manager: Pick<Run, "id" | "envelope" | "limits" | "attempts">;
  /** The plan of its task. */
  plan: string;
  /** The runs that it has started. */
  children: readonly Run[];
  now: string;
}

/** What the manager wants to start. */
export interface ChildWish {
  task: string;
  /** The task that this one is a part of. */
  parent: string | undefined;
  agent: string;
  mode: Run["mode"];
  limits: RunLimits;
}

/** With less time than this left, a run could not do anything, so none is started. */
const LEAST_SECONDS = 60;
const LEAST_DOLLARS = 0.01;
/** The share of the total cost that the manager's own conversation may use. */
const OWN_SHARE = 0.2;

/** Splits the total cost between the manager's own run and the runs that it starts. */
export function shareCost(all: string | undefined): {
  own: string | undefined;
  children: string | undefined;
} {
  if (all === undefined) return { own: undefined, children: undefined };
  const own = Math.max(LEAST_DOLLARS, Number(all) * OWN_SHARE);
  return { own: own.toFixed(2), children: Math.max(0, Number(all) - own).toFixed(2) };
}

/**
 * The limits for a run that a manager wants to start, or a refusal. Requests are cut to what is left: a human
 * set the envelope, and nothing that an agent says widens it.
 */
export function allowChild(facts: EnvelopeFacts, wish: ChildWish): RunLimits {
  const { manager, plan, children } = facts;
  const { envelope } = manager;
  const own = taskOf(manager.id);
  if (!envelope)
    throw refused("no_envelope", `${manager.id} has no envelope.`, "Only a human can give it one.");
  if (wish.mode !== undefined && wish.mode !== "single")
    throw refused("depth", `A manager starts single runs, not a ${wish.mode}.`, "Leave --mode out.");
  if (wish.parent !== own)
    throw refused(
      "not_in_tree",
      `${wish.task} is not part of ${own}.`,
      `Make a task for it: pawl task new "…" (it becomes part of ${own}), or ask a human to add it: pawl task update ${wish.task} --parent ${own}`,
    );
  if (plan.trim() === "")
    throw refused(
      "plan_missing",
      `${own} has no plan yet.`,
      `Write down who does what first: pawl task update ${own} --plan "…"`,
    );
  if (!envelope.agents.includes(wish.agent))
    throw refused(
      "agent_not_allowed",
      `${wish.agent} is not among those that ${manager.id} may start.`,
      `Use one of them: ${envelope.agents.join(", ")}.`,
    );
  const working = children.filter(openAttempt);
  if (working.length >= envelope.at_once)
    throw refused(
      "envelope_full",
      `At most ${envelope.at_once} may run at once, and ${working.map((one) => one.id).join(", ")} still ${working.length === 1 ? "is" : "are"} at work.`,
      `pawl run wait ${working.map((one) => one.id).join(" ")}`,
    );
  const starts = children.reduce((sum, one) => sum + one.attempts.length, 0);
  if (starts >= envelope.in_all)
    throw spent("in_all", `All ${envelope.in_all} starts are used up.`, manager.id);
  const time = Math.min(wish.limits.time, timeLeft(facts));
  if (time < LEAST_SECONDS)
    throw spent(
      "time",
      `${manager.id} has used up its ${showDuration(manager.limits?.time ?? 0)}.`,
      manager.id,
    );
  return { ...wish.limits, time, cost: costFor(facts, wish.limits.cost, envelope.in_all - starts) };
}

/** Counted from the open attempt: whoever resumes a manager gives it its time again. */
function timeLeft({ manager, now }: EnvelopeFacts): number {
  const gone = secondsBetween(openAttempt(manager)?.begun ?? "", now);
  // A clock that was set back gives no extra time.
  return gone === undefined ? 0 : (manager.limits?.time ?? 0) - Math.max(0, gone);
}

function costFor({ manager, children }: EnvelopeFacts, wanted: string | undefined, starts: number) {
  const all = manager.envelope?.cost;
  if (all === undefined) return wanted;
  const left = Number(all) - children.reduce((sum, one) => sum + costOf(one), 0);
  if (left < LEAST_DOLLARS)
    throw spent(
      "cost",
      `The ${dollars(Number(all))} for the runs of ${manager.id} are spent or promised.`,
      manager.id,
    );
  const asked = wanted === undefined ? Math.max(LEAST_DOLLARS, left / starts) : Number(wanted);
  return Math.min(asked, left).toFixed(2);
}

/**
 * A running child may still spend all that it was promised, and so may one that ended without reporting its
 * cost.
 */
function costOf(child: Run): number {
  const { cost, source } = usageOf(child);
  const promised = Number(child.limits?.cost ?? 0);
  const known = cost ?? 0;
  return openAttempt(child) || source === "unknown" ? known + promised : known;
}

const refused = (code: string, message: string, hint: string) =>
  new Failure("refused", code, message, { hint });

const spent = (what: string, message: string, manager: string) =>
  new Failure("refused", "envelope_spent", message, {
    hint: `Settle the runs that have ended, leave a handoff and stop. A human can allow more: pawl run resume ${manager}`,
    details: { spent: what },
  });
