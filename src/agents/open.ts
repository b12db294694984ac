import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../files/pause.ts";
import { parseIdentity, seeProcesses } from "../files/process-identity.ts";
import { textBetween } from "../files/read.ts";
import type { AgentConfig } from "../model/config.ts";
import { Failure } from "../model/failure.ts";
import { nearest } from "../model/nearest.ts";
import { step } from "../model/steps.ts";
import type {
  Agents,
  AttemptView,
  EndedAttempt,
  LaunchWish,
  LogOptions,
  StopRequest,
} from "../ports/agents.ts";
import {
  type AttemptSpec,
  files,
  latestAttempt,
  markOpen,
  openRuns,
  owners,
  putOnce,
  readExit,
  readGuard,
  readSpec,
  runFolder,
  sizeOf,
  unmarkOpen,
} from "./attempt/folder.ts";
import { isAtRest, settleAttempt } from "./attempt/settle.ts";
import { NUDGE, seeState } from "./attempt/state.ts";
import { endProcesses } from "./end-processes.ts";
import { findAgentProgram, programMissing } from "./find-program.ts";
import { type LaunchPlace, launchAttempt, prepareSupervisor, replaceSupervisor } from "./launch.ts";
import { costOf } from "./limits.ts";
import { lookAtRun, viewOf } from "./look.ts";
import { send } from "./processes.ts";
import type { AgentProgram } from "./program.ts";
import { KNOWN_PROGRAMS, programOf } from "./programs/all.ts";
import { ownCommand } from "./programs/own-command.ts";
import { StreamReader } from "./read-stream.ts";
import { findRunAround } from "./run-around.ts";
import { errorsOf, showLog, shownLines } from "./show-log.ts";

export function openAgents(runs: string, place: () => LaunchPlace): Agents {
  const attemptOf = (run: string, number?: number) => {
    const found = latestAttempt(runs, run);
    const path = number === undefined ? found?.path : join(runFolder(runs, run), `a${number}`);
    const spec = path === undefined ? undefined : readSpec(path);
    return path === undefined || spec === undefined ? undefined : { path, spec };
  };
  const settle = async (run: string) => {
    const found = attemptOf(run);
    if (!found) return undefined;
    const state = await settleAttempt(found.path, found.spec);
    // Its limits hold again as soon as somebody watches them.
    if (state === "orphaned") replaceSupervisor(found.path, place());
    return viewOf(found.path, found.spec);
  };
  return {
    known: KNOWN_PROGRAMS.map((one) => one.name),
    resumes: (name) => KNOWN_PROGRAMS.some((one) => one.name === name && one.resumes),
    find(name, settings, runner, others) {
      const program = programNamed(name, settings, others);
      const found = runner ? undefined : findAgentProgram(program, place().env, place().project, process);
      if (!found && !runner) throw programMissing(program);
      const { actor, tells, resumes } = program;
      return { name, actor, tells, resumes, version: found?.version };
    },
    open: () => openRuns(runs),
    announce: (run) => markOpen(runs, run),
    forget(run) {
      step("run forget");
      unmarkOpen(runs, run);
    },
    around: () =>
      findRunAround(
        openRuns(runs).flatMap((run) => {
          const found = attemptOf(run);
          return found ? [{ run, guard: readGuard(found.path), mark: found.spec.mark }] : [];
        }),
      ),
    look: (run) => lookAtRun(runs, run),
    settle,
    isAtRest(run) {
      const found = attemptOf(run);
      return found === undefined || isAtRest(found.path);
    },
    prepare: () => prepareSupervisor(place()),
    launch: (wish, prepared) => launchAttempt(programFor(wish, place()), wish, place(), prepared),
    stop: (run, request) => stop(attemptOf(run), request, () => settle(run)),
    ended: (run, number) => endedOf(attemptOf(run, number)),
    keep(run, text) {
      const path = join(runFolder(runs, run), "log.txt");
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    log: (run, options) => logOf(attemptOf(run, options.number), options),
    pause,
  };
}

/** A conductor is this very program. */
const programFor = (wish: LaunchWish, { node, program }: LaunchPlace) =>
  wish.role === "conductor"
    ? ownCommand(wish.agent, [node, program, "run", "conduct", wish.run])
    : programNamed(wish.agent, wish.settings);

function programNamed(
  name: string,
  settings: AgentConfig | undefined,
  others: readonly string[] = [],
): AgentProgram {
  if (settings?.command) return ownCommand(name, settings.command);
  const found = KNOWN_PROGRAMS.find((one) => one.name === name);
  if (found) return found;
  const names = [...KNOWN_PROGRAMS.map((one) => one.name), ...others];
  const near = nearest(name, names);
  const known = `There are ${names.join(", ")}; others need a command under \`agents:\` in the base branch's .pawl/config.yaml.`;
  throw new Failure("not_found", "no_agent", `There is no agent "${name.slice(0, 40)}".`, {
    hint: near === undefined ? known : `Did you mean ${near}? ${known}`,
    details: { field: "agent" },
  });
}

/** How long a supervisor may take beyond the grace that was asked for. */
const PATIENCE_MS = 10_000;

/** The request is written first: whatever ends after it was stopped. */
async function stop(
  found: { path: string; spec: AttemptSpec } | undefined,
  request: Omit<StopRequest, "at">,
  settle: () => Promise<AttemptView | undefined>,
): Promise<AttemptView | undefined> {
  if (!found) return undefined;
  const { path, spec } = found;
  if (!readExit(path)) {
    step("stop request");
    putOnce(join(path, files.stop), JSON.stringify({ ...request, at: new Date().toISOString() }));
    nudge(path);
  }
  let view = await settle();
  for (const started = Date.now(); view && view.state !== "ended"; view = await settle()) {
    if (Date.now() - started > request.graceMs + PATIENCE_MS) break;
    if (view.state === "orphaned") await endProcesses(spec, readGuard(path), request.graceMs);
    await pause(50);
  }
  return view;
}

function nudge(path: string): void {
  const owner = parseIdentity(owners(path).at(-1) ?? "");
  if (!owner || !existsSync(join(path, files.beat))) return;
  if (seeProcesses().livenessOf(owner) === "alive") send(owner.pid, NUDGE);
}

const TAIL_LINES = 400;
const TAIL_BYTES = 200_000;

function endedOf(found: { path: string; spec: AttemptSpec } | undefined): EndedAttempt | undefined {
  if (!found) return undefined;
  const { path, spec } = found;
  const view = viewOf(path, spec);
  if (!view.exit) return undefined;
  const program = programOf(spec);
  const progress = new StreamReader(path, spec, program).look(true);
  const dollars = costOf(progress, spec.prices);
  return {
    ...view,
    exit: view.exit,
    progress,
    cost:
      dollars === undefined
        ? undefined
        : { dollars, from: progress.cost === undefined ? "computed" : "reported" },
    endsByEvent: program.endsByEvent,
    tail: tailOf(path, program),
  };
}

/** The end of the stream, as much as a record may hold of it. */
function tailOf(path: string, program: AgentProgram): string {
  const out = join(path, files.out);
  const size = sizeOf(out);
  const from = Math.max(0, size - 4 * TAIL_BYTES);
  const text = size > from ? textBetween(out, from, size) : "";
  const lines = (from > 0 ? text.slice(text.indexOf("\n") + 1) : text).split("\n");
  const shown = [...lines.flatMap((line) => shownLines(program, line)), ...errorsOf(path)];
  return shown.slice(-TAIL_LINES).join("\n").slice(-TAIL_BYTES).trim();
}

async function* logOf(
  found: { path: string; spec: AttemptSpec } | undefined,
  options: LogOptions,
): AsyncGenerator<string[]> {
  if (!found) return;
  const { path, spec } = found;
  const isOver = () => !["starting", "running", "orphaned"].includes(seeState(path, spec));
  yield* showLog(path, programOf(spec), options, isOver);
}
