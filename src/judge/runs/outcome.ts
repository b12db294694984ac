import type { RunReason, RunStatus } from "../../model/records/attempt.ts";
import type { AgentProgress, AttemptExit, StopRequest } from "../../ports/agents.ts";

/** Everything that says how an attempt ended. No single one of them is believed. */
export interface Witnesses {
  stop: Pick<StopRequest, "reason"> | undefined;
  exit: Pick<AttemptExit, "code" | "lost">;
  verdict: AgentProgress["verdict"];
  denied: number;
  /** It ends by an event; without one, its exit code alone speaks for it. */
  endsByEvent: boolean;
}

export interface Outcome {
  status: Extract<RunStatus, "succeeded" | "failed" | "interrupted">;
  reason: RunReason | undefined;
}

/** A shell reports a signal as this much more than its number. */
const BY_SIGNAL = 128;

/**
 * Succeeded is only what nobody asked to stop, what exited with 0, and what said itself that it had come to its end:
 * two of the three known programs exit with 0 when they are interrupted, and one reports success together with an error.
 */
export function judgeOutcome({ stop, exit, verdict, denied, endsByEvent }: Witnesses): Outcome {
  if (exit.lost === "never_started") return { status: "interrupted", reason: "never_started" };
  if (stop) return ofReason(stop.reason);
  const good: Outcome = { status: "succeeded", reason: denied > 0 ? "denied_tools" : undefined };
  // Nobody could learn the exit code; then what it said last decides, if it said anything.
  if (exit.code === undefined)
    return verdict?.ok ? good : { status: "interrupted", reason: exit.lost ?? "no_result" };
  if (verdict && !verdict.ok) return ofReason(verdict.reason ?? "exit");
  if (exit.code > BY_SIGNAL) return { status: "interrupted", reason: "exit" };
  if (exit.code !== 0) return { status: "failed", reason: "exit" };
  return endsByEvent && !verdict ? { status: "failed", reason: "no_result" } : good;
}

/** What a limit or a person ended can go on; what the model or the program refused has failed. */
export function ofReason(reason: RunReason): Outcome {
  const isOurs = reason === "stopped" || reason.startsWith("limit_");
  return { status: isOurs ? "interrupted" : "failed", reason };
}

/** What to do about it, in one command. */
export function nextAfter(run: string, { status, reason }: Outcome): { command: string; reason: string } {
  const task = run.slice(0, run.indexOf("/"));
  if (status === "succeeded")
    return { command: `pawl check ${task} --stage close`, reason: "what is still missing" };
  if (reason === "no_progress" || reason === "rounds_exhausted")
    return { command: `pawl finding list ${task}`, reason: "what is still open" };
  if (reason === "unsettled")
    return { command: `pawl check ${task} --stage manage`, reason: "what it left unsettled" };
  if (reason === "model_auth")
    return { command: `pawl run resume ${run}`, reason: "once the program is logged in again" };
  if (reason?.startsWith("limit_"))
    return { command: `pawl run resume ${run}`, reason: `with a higher limit than ${reason.slice(6)}` };
  if (status === "interrupted")
    return { command: `pawl run resume ${run}`, reason: "continues where it stopped" };
  return { command: `pawl run log ${run}`, reason: "what went wrong" };
}
