import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { delimiter, join } from "node:path";
import { pause } from "../files/pause.ts";
import { RENEW_MINUTES } from "../model/claim.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import type { Role } from "../model/records/attempt.ts";
import { step } from "../model/steps.ts";
import type { Launched, LaunchWish, Prepared } from "../ports/agents.ts";
import { type AttemptSpec, files, makeAttempt, readExit, runFolder } from "./attempt/folder.ts";
import { namesOf, withoutSession } from "./environment.ts";
import { type FoundProgram, findAgentProgram, programMissing } from "./find-program.ts";
import type { AgentProgram, Launch } from "./program.ts";
import { inRunner, type RunnerPlace, stopIn } from "./runner.ts";

/** What launching needs to know of this machine and this clone. */
export interface LaunchPlace {
  /** Where the attempts of all runs are. */
  runs: string;
  env: Environment;
  /** The top of the project, from where the commands of its own are found. */
  project: string;
  commonDir: string;
  /** Node, the supervisor's program and pawl's own. */
  node: string;
  supervisor: string;
  program: string;
}

/** How long the agent's own process may take to come; then it is told how it stands, and nothing is given up. */
const COMING_MS = 5_000;

export async function launchAttempt(
  program: AgentProgram,
  wish: LaunchWish,
  at: LaunchPlace,
  prepared: Prepared | undefined,
): Promise<Launched> {
  const { number } = wish;
  const path = join(runFolder(at.runs, wish.run), `a${number}`);
  const session = sessionOf(program, wish);
  const names = namesOf({ ...wish, actor: program.actor, session });
  const launch = wordsOf(program, wish, at, { session: session ?? "", path, names });
  const found = wish.runner === undefined ? foundOr(program, at) : undefined;
  const place = placeOf(wish, at, path, number);
  const spec: AttemptSpec = {
    ...specOf(program, wish, at),
    number,
    version: found?.version,
    session,
    argv: inRunner(wish.runner, [found?.path ?? program.bin, ...launch.args], place),
    stopCommand: stopIn(wish.runner, place),
    mark: `${wish.run.replace("/", ".")}.a${number}.${randomBytes(8).toString("hex")}`,
  };
  const contents = { ...launch.files, [files.spec]: JSON.stringify(spec), [files.input]: wish.prompt };
  if (makeAttempt(at.runs, wish.run, number, contents) === undefined) throw taken(wish.run);
  step("supervisor");
  (prepared ?? prepareSupervisor(at)).begin(path, {
    ...launch.env,
    ...names,
    ...pathWith(found?.paths ?? [], at.env),
  });
  await untilItRuns(path);
  return { session };
}

/** Which of our tools each role is offered. */
const TOOLS_OF: Readonly<Record<Role, string>> = {
  author: "core",
  fixer: "core",
  reviewer: "all",
  manager: "manager",
  conductor: "all",
};

/** Ours to choose, that of the conversation to go on with, or unknown until the program tells it. */
function sessionOf(program: AgentProgram, { resume }: LaunchWish): string | undefined {
  if (resume !== undefined) return resume;
  return program.session === "chosen" ? randomUUID() : undefined;
}

function wordsOf(
  program: AgentProgram,
  wish: LaunchWish,
  at: LaunchPlace,
  { session, path, names }: { session: string; path: string; names: Record<string, string> },
): Launch {
  // Inside a runner our Node may be somewhere else.
  const node = wish.runner === undefined ? at.node : "node";
  const tools = TOOLS_OF[wish.role];
  const ask = {
    role: wish.role,
    session,
    model: wish.model,
    limits: wish.limits,
    folder: path,
    mcp: {
      command: node,
      args: [at.program, "mcp", "--tools", tools, "--agent", program.actor],
      env: { ...names },
    },
    more: wish.settings?.args ?? [],
  };
  return wish.resume === undefined ? program.start(ask) : program.resume(ask);
}

function foundOr(program: AgentProgram, at: LaunchPlace): FoundProgram {
  const found = findAgentProgram(program, at.env, at.project, process);
  if (!found) throw programMissing(program);
  return found;
}

const placeOf = (wish: LaunchWish, at: LaunchPlace, path: string, number: number): RunnerPlace => ({
  worktree: wish.cwd ?? at.project,
  common: at.commonDir,
  attempt: path,
  name: `pawl-${wish.run.replace("/", "-").toLowerCase()}-a${number}`,
});

function specOf(program: AgentProgram, wish: LaunchWish, at: LaunchPlace) {
  const { limits } = wish;
  return {
    run: wish.run,
    agent: wish.agent,
    program: program.endsByEvent ? program.name : undefined,
    cwd: wish.cwd ?? at.project,
    begun: new Date().toISOString(),
    limits: {
      timeMs: limits.time * 1_000,
      idleMs: limits.idle === undefined ? undefined : limits.idle * 1_000,
      cost: limits.cost === undefined ? undefined : Number(limits.cost),
      turns: limits.turns,
      log: limits.log,
    },
    prices: wish.settings?.prices,
    before: wish.before,
    gitDirs: [...wish.gitDirs],
    settle: { argv: [at.node, at.program, "run", "wait", wish.run, "--for", "0s"], cwd: at.project },
    renew: wish.claimed
      ? { argv: [at.node, at.program, "claim", "renew", wish.task], everyMs: RENEW_MINUTES * 60_000 }
      : undefined,
  };
}

const pathWith = (paths: readonly string[], env: Environment) =>
  paths.length === 0 ? {} : { PATH: [...paths, env.PATH ?? ""].join(delimiter) };

type SupervisorPlace = Pick<LaunchPlace, "node" | "supervisor" | "commonDir" | "env">;

/**
 * A supervisor takes as long to come as everything that is written down first, so it comes meanwhile. It waits for its
 * order on a pipe, owns nothing and does nothing before; when nobody is left who could give one, it ends.
 */
export function prepareSupervisor(at: SupervisorPlace): Prepared {
  const { stdin } = spawnSupervisor(at, [], "pipe");
  stdin?.on("error", () => {});
  (stdin as Socket | null)?.unref();
  return {
    begin: (path, env) => void stdin?.end(JSON.stringify({ path, env })),
    dismiss: () => void stdin?.end(),
  };
}

/** In the place of a supervisor that is dead. */
export function replaceSupervisor(path: string, at: SupervisorPlace): void {
  step("supervisor");
  spawnSupervisor(at, [path], "ignore");
}

/** There is one for each agent, and it hardly ever has anything to do: what a compiler would need is saved. */
const SMALL = "--jitless";

/** In a session of its own and without our terminal: closing that changes nothing. */
function spawnSupervisor(at: SupervisorPlace, words: readonly string[], stdin: "pipe" | "ignore") {
  const child = spawn(at.node, [SMALL, at.supervisor, ...words], {
    cwd: at.commonDir,
    env: withoutSession(at.env),
    stdio: [stdin, "ignore", "ignore"],
    detached: true,
  });
  child.on("error", () => {});
  child.unref();
  return child;
}

async function untilItRuns(path: string): Promise<void> {
  for (const started = Date.now(); Date.now() - started < COMING_MS; await pause(5))
    if (existsSync(join(path, files.pid)) || readExit(path)) return;
}

function taken(run: string): Failure {
  return new Failure("conflict", "run_open", `Another process has just started ${run}.`, {
    hint: `pawl run log ${run} --follow`,
    details: { run },
  });
}
