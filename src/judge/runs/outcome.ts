import { taskOf } from "../../model/ids.ts";
import type { RunReason, RunStatus } from "../../model/records/attempt.ts";
import type { AgentProgress, AttemptExit, StopRequest } from "../../ports/agents.ts";

/** Everything that shows how an attempt ended; none of it is trusted alone. */
export interface Witnesses {
  stop: Pick<StopRequest, "reason"> | undefined;
  exit: Pick<AttemptExit, "code" | "lost">;
  verdict: AgentProgress["verdict"];
  denied: number;
  /** Whether the program reports its end with an event; if not, only its exit code counts. */
  endsByEvent: boolean;
}

export interface Outcome {
  status: Extract<RunStatus, "succeeded" | "failed" | "interrupted">;
  reason: RunReason | undefined;
}

/** A shell reports a signal as this much more than its number. */
const BY_SIGNAL = 128;

/**
 * A run succeeded only if nobody stopped it, it exited with 0 and it reported its end: two of the three known
 * programs exit with 0 when interrupted, and one reports success together with an error.
 */
export function judgeOutcome({ stop, exit, verdict, denied, endsByEvent }: Witnesses): Outcome {
  if (exit.lost === "never_started") return { status: "interrupted", reason: "never_started" };
  if (stop) return ofReason(stop.reason);
  const good: Outcome = { status: "succeeded", reason: denied > 0 ? "denied_tools" : undefined };
  // Without an exit code, what the program last said decides, if it said anything.
  if (exit.code === undefined)
    return verdict?.ok ? good : { status: "interrupted", reason: exit.lost ?? "no_result" };
  if (verdict && !verdict.ok && !verdict.aborted) return ofReason(verdict.reason ?? "exit");
  if (exit.code > BY_SIGNAL || verdict?.aborted) return { status: "interrupted", reason: "exit" };
  if (exit.code !== 0) return { status: "failed", reason: "exit" };
  return endsByEvent && !verdict ? { status: "failed", reason: "no_result" } : good;
}

/** A run ended by a limit or a person can continue; one that the model or the program refused has failed. */
export function ofReason(reason: RunReason): Outcome {
  const isOurs = reason === "stopped" || reason.startsWith("limit_");
  return { status: isOurs ? "interrupted" : "failed", reason };
}

/** Why it ended, for a person; a success needs no words. */
export function whyItEnded({ status, reason }: Outcome): string {
  if (status === "succeeded") return "";
  return (status === "interrupted" && reason && CUT_OFF[reason]) || WHY[reason ?? "exit"];
}

const WHY: Readonly<Record<RunReason, string>> = {
  exit: "The program ended with an error.",
  model_auth: "The model's provider did not accept its key or login.",
  model_rate: "The model's provider accepts no more requests for now.",
  model_error: "The model's provider refused the request or was down.",
  limit_time: "It reached its time limit.",
  limit_idle: "It was silent for longer than its limit allows.",
  limit_cost: "It reached its cost limit.",
  limit_turns: "It reached its limit on turns.",
  limit_log: "Its log reached the size limit.",
  stopped: "Somebody stopped it.",
  never_started: "The command that started it was killed before the agent's process existed.",
  guard_lost: "Its supervisor and its guard were killed, so nobody knows how it would have ended.",
  rebooted: "The machine was restarted.",
  no_result: "The program ended without a result.",
  denied_tools: "It was denied some tools.",
  rounds_exhausted: "All rounds of fixing are used up.",
  no_progress: "The last round of fixing changed nothing.",
  unsettled: "It ended before it had accepted, retried or abandoned everything it started.",
};

/** Where the same reason means something else because the agent was cut off. */
const CUT_OFF: Readonly<Partial<Record<RunReason, string>>> = {
  exit: "Something other than pawl killed the agent.",
  no_result: "It said that it failed, did not exit, and was ended.",
};

/** Limits apply to each attempt separately. */
const AFTER_LIMIT: Readonly<Partial<Record<RunReason, string>>> = {
  limit_time: "continues for as long again; --time changes that",
  limit_idle: "continues; --idle changes how long it may say nothing",
  limit_cost: "continues with as much money again; --cost changes that",
  limit_turns: "continues for as many turns again; --turns changes that",
  limit_log: "continues; what it prints is counted anew",
};

/** The one command to run next. */
export function nextAfter(run: string, { status, reason }: Outcome): { command: string; reason: string } {
  const task = taskOf(run);
  if (status === "succeeded")
    return { command: `pawl check ${task} --stage close`, reason: "what is still missing" };
  if (reason === "no_progress" || reason === "rounds_exhausted")
    return { command: `pawl finding list ${task}`, reason: "what is still open" };
  if (reason === "unsettled")
    return { command: `pawl check ${task} --stage manage`, reason: "what it left unsettled" };
  if (reason === "model_auth")
    return { command: `pawl run resume ${run}`, reason: "once the program is logged in again" };
  const limit = reason === undefined ? undefined : AFTER_LIMIT[reason];
  if (limit !== undefined) return { command: `pawl run resume ${run}`, reason: limit };
  if (status === "interrupted")
    return { command: `pawl run resume ${run}`, reason: "goes on with the work that it left" };
  return { command: `pawl run log ${run}`, reason: "what went wrong" };
}

/** A person can watch; an agent cannot, so it waits for the end. */
export function nextAfterStart(
  runs: readonly string[],
  agent: string | undefined,
): { command: string; reason: string } {
  const isOne = runs.length === 1;
  if (agent !== undefined)
    return {
      command: `pawl run wait ${runs.join(" ")}`,
      reason: `returns when ${isOne ? "it has" : "all have"} ended, or after 45s; then call it again`,
    };
  return {
    command: isOne ? `pawl run log ${runs[0]} --follow` : "pawl watch",
    reason: `what ${isOne ? "it does; it keeps" : "they do; they keep"} running when you close the terminal`,
  };
}
