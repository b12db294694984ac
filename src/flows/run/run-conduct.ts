import { allWell, type ConductedTask, nextLaunches } from "../../judge/runs/conduct.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { FoundAgent } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import { checkStartable } from "../start/start-task.ts";
import { launchRun, nextRun, planRun, type RunWish, startAttempt, withClaim } from "./run-launch.ts";
import { limitsOf } from "./run-limits.ts";
import { expectNoRival, expectNotResumed, withTask } from "./run-lock.ts";
import { type AttemptRecorder, type RunKind, recordAttempt, recordNewRun, storedRun } from "./run-records.ts";
import { settleRuns } from "./run-settle.ts";

/** The program that conducts is this one. */
const CONDUCTOR: FoundAgent = {
  name: "pawl",
  actor: "pawl",
  version: undefined,
  resumes: false,
  tells: { turns: false, cost: false },
};
/** It is started here whatever runner the project has, and needs no settings. */
const HERE = { runs: "human", runner: undefined, agent: () => undefined, own: [] } as const;
/** Seconds that a conductor may take beyond what those it starts may take one after another. */
const SLACK = 600;

/**
 * Starts a conductor: pawl itself as a supervised run, which starts the others as there is room for them. It keeps
 * nothing in memory that is not in the records, so that it can be killed and resumed at any point.
 */
export async function launchConductor(
  hands: Hands,
  wish: RunWish,
  tasks: readonly string[],
  more: { atOnce?: number; reviewer?: string; rounds?: number },
): Promise<Run> {
  const [home = ""] = tasks;
  const { agent, mode, parent, limits } = wish;
  const kind: RunKind = {
    agent,
    mode,
    parent,
    limits,
    role: "conductor",
    tasks: [...tasks],
    at_once: more.atOnce,
    reviewer: more.reviewer,
    rounds: more.rounds,
    basis: undefined,
    envelope: undefined,
  };
  const start = async () => {
    await expectNoRival(hands, home, { role: "conductor", mode });
    const id = await hands.look((reader) => nextRun(reader, home));
    return startConducting(
      hands,
      wish,
      { id, number: 1, rows: rowsOf(kind) },
      (...[reader, at, attempt, holder]) =>
        recordNewRun(reader, at, id, kind, attempt, { holder, repos: [], notes: wish.message ?? "" }),
    );
  };
  return withTask(hands, home, () => claimed(hands, home, mode, start));
}

/** A pipeline is about this one task, so another holder is reported now; in the other modes each task is claimed in its turn. */
const claimed = (hands: Hands, home: string, mode: Run["mode"], start: () => Promise<Run>) =>
  mode === "pipeline" ? withClaim(hands, home, start) : start();

/** Continues what a lost conductor had left to do. */
export function resumeConductor(hands: Hands, value: Run): Promise<Run> {
  const wish = { ...wishOf(value, taskOf(value.id)), model: value.attempts.at(-1)?.model };
  const number = (value.attempts.at(-1)?.number ?? 0) + 1;
  const home = taskOf(value.id);
  return withTask(hands, home, async () => {
    await expectNotResumed(hands, value);
    await expectNoRival(hands, home, { role: "conductor", mode: value.mode });
    const start = () =>
      startConducting(
        hands,
        wish,
        { id: value.id, number, rows: rowsOf(value) },
        (reader, at, attempt, holder) => recordAttempt(reader, at, value.id, attempt, { holder }),
      );
    return claimed(hands, home, value.mode, start);
  });
}

/** How many runs may follow one another at most: an author, reviewers and fixers in turns, each perhaps twice. */
const rowsOf = ({ mode, rounds, tasks, at_once }: Pick<Run, "mode" | "rounds" | "tasks" | "at_once">) =>
  mode === "pipeline" ? 2 * (2 + 2 * (rounds ?? 0)) : Math.ceil(tasks.length / (at_once ?? 1));

function startConducting(
  hands: Hands,
  wish: RunWish,
  { id, number, rows }: { id: string; number: number; rows: number },
  announce: AttemptRecorder,
): Promise<Run> {
  const limits = { ...limitsOf({}), time: wish.limits.time * rows + SLACK };
  const itself = { ...wish, limits, agent: CONDUCTOR.name, role: "conductor" as const };
  return startAttempt(
    hands,
    { wish: itself, policy: HERE, agent: CONDUCTOR },
    {
      id,
      number,
      announce,
      parts: [],
      prompt: "",
      resume: undefined,
      before: { input: 0, cached: 0, output: 0 },
    },
  );
}

/** What a conductor does until everything that it was given has been started and has ended; says what it does. */
export async function* conductParallel(hands: Hands, id: string): AsyncGenerator<string, boolean> {
  const agents = await hands.agents();
  const refused = new Map<string, string>();
  for (;;) {
    for (const over of await settleRuns(hands)) yield `${over.id} ${over.status}`;
    const { value, facts } = await hands.look((reader) => gather(reader, id, refused));
    const { launch, done } = nextLaunches(facts, value.at_once ?? 1);
    if (done) return allWell(facts);
    for (const task of launch) {
      const { line, isRefused } = await launchOne(hands, value, task);
      if (isRefused) refused.set(task, line);
      yield line;
    }
    if (launch.length === 0) await agents.pause(1_000);
  }
}

function gather(reader: Reader, id: string, refused: ReadonlyMap<string, string>) {
  const { value } = storedRun(reader, id);
  const facts = value.tasks.map((task): ConductedTask => {
    const own = reader
      .parts(run, task)
      .records.map((one) => one.value)
      .findLast((one) => one.parent === id);
    return { task, refused: refused.get(task), run: own && { id: own.id, status: own.status } };
  });
  return { value, facts };
}

export const wishOf = (conductor: Run, task: string): RunWish => ({
  task,
  agent: conductor.agent ?? "",
  role: "author",
  mode: conductor.mode ?? "parallel",
  parent: conductor.id,
  model: conductor.attempts[0]?.model,
  limits: conductor.limits ?? limitsOf({}),
  message: conductor.notes || undefined,
});

async function launchOne(hands: Hands, conductor: Run, task: string) {
  try {
    await hands.look((reader) => checkStartable(reader, reader.task(task)));
    const { id } = await launchRun(hands, await planRun(hands, wishOf(conductor, task)));
    return { line: `${id} started`, isRefused: false };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { line: `${task} was not started: ${error.message}`, isRefused: true };
  }
}
