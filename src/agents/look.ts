import { join } from "node:path";
import { jsonIfReadable } from "../files/read.ts";
import type { RunReason } from "../model/records/attempt.ts";
import type { AgentProgress, AttemptExit, AttemptView } from "../ports/agents.ts";
import {
  type AttemptSpec,
  files,
  latestAttempt,
  modifiedAt,
  readExit,
  readSpec,
  readStop,
} from "./attempt/folder.ts";
import { seeState } from "./attempt/state.ts";

/** The latest attempt of a run, as its folder and its processes show it. */
export function lookAtRun(runs: string, run: string): AttemptView | undefined {
  const path = latestAttempt(runs, run)?.path;
  const spec = path === undefined ? undefined : readSpec(path);
  return path === undefined || spec === undefined ? undefined : viewOf(path, spec);
}

export function viewOf(path: string, spec: AttemptSpec): AttemptView {
  const exit = readExit(path);
  const seen = exit ? "ended" : seeState(path, spec);
  const began = Date.parse(spec.begun);
  const until = exit ? Date.parse(exit.at) : Date.now();
  return {
    run: spec.run,
    number: spec.number,
    // What nobody looks after any more is as good as ended; whoever settles it says how.
    state: seen === "unowned" || seen === "never" || seen === "lost" ? "orphaned" : seen,
    agent: spec.agent,
    begun: spec.begun,
    stop: readStop(path),
    exit: exit && exitOf(exit),
    progress: jsonIfReadable<AgentProgress>(join(path, files.progress)),
    elapsed: seconds(until - began),
    silent: seconds(until - (modifiedAt(join(path, files.out)) ?? began)),
  };
}

const seconds = (ms: number) => Math.max(0, Math.round(ms / 1_000));

const exitOf = (exit: NonNullable<ReturnType<typeof readExit>>): AttemptExit => ({
  code: exit.code ?? undefined,
  by: exit.by,
  lost: exit.lost as RunReason | undefined,
  at: exit.at,
});
