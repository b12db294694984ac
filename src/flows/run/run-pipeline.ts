import { change } from "../../judge/change.ts";
import { isPassed, latestReview } from "../../judge/gates/judge-records.ts";
import { type NextStage, nextStage, type PipelineFacts, type Stage } from "../../judge/runs/next-stage.ts";
import { usedInSession } from "../../judge/runs/usage.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { RunReason } from "../../model/records/attempt.ts";
import { type Run, run } from "../../model/records/run.ts";
import { task } from "../../model/records/task.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { checkAndSeal } from "../check/check-and-seal.ts";
import { checkTask, gatherRecords } from "../check/check-task.ts";
import { wishOf } from "./run-conduct.ts";
import { launchRun, planRun, type RunPlan, type RunWish } from "./run-launch.ts";
import { expectTellable, limitsOf } from "./run-limits.ts";
import { recordProgress, storedRun } from "./run-records.ts";
import { resumeRun } from "./run-resume.ts";
import { settleRuns } from "./run-settle.ts";

/** The pipeline's settings, the runs it has started, and the present state of the work. */
interface Gathered {
  conductor: Run;
  children: Run[];
  facts: PipelineFacts;
  /** What the author has to settle, in words. */
  open: string[];
}

/**
 * Author, reviewer and fixer in turns, until nothing is left but a human's yes. What comes next is asked of the records
 * every time, so that a conductor that was killed at any point continues as if nothing had happened.
 */
export async function* conductPipeline(hands: Hands, id: string): AsyncGenerator<string, boolean> {
  const agents = await hands.agents();
  for (;;) {
    for (const over of await settleRuns(hands)) yield `${over.id} ${over.status}`;
    const gathered = await gather(hands, id);
    const next = nextStage(gathered.facts);
    if (next.do === "end") {
      yield next.words;
      return endPipeline(hands, id, next);
    }
    if (next.do === "wait") await agents.pause(1_000);
    else yield await begin(hands, gathered, next);
  }
}

async function gather(hands: Hands, id: string): Promise<Gathered> {
  const home = taskOf(id);
  const { conductor, children } = await hands.look((reader) => ({
    conductor: storedRun(reader, id).value,
    children: reader
      .parts(run, home)
      .records.map((one) => one.value)
      .filter((one) => one.parent === id),
  }));
  const stages = children.map(stageOf);
  const given = { stages, rounds: conductor.rounds ?? 0 };
  // While a run is at work, git need not be asked what it has done so far.
  if (stages.at(-1)?.status !== "succeeded")
    return { conductor, children, open: [], facts: { ...given, reasons: [], verdict: undefined, state: "" } };
  const { reasons, repos } = await checkTask(hands, home, "close", { reviewed: true });
  const { facts } = await hands.look((reader) => gatherRecords(reader, home));
  const review = latestReview(facts, "branch");
  const isOfThese = repos
    .filter((one) => one.changed)
    .every(({ name, head }) => review?.heads.some((seen) => seen.repo === name && seen.head === head));
  const authors = reasons.filter((one) => one.owner === "author");
  const state = await hands.sha256(
    JSON.stringify([
      repos.map(({ name, tree }) => [name, tree]),
      authors.map(({ code, record, repo }) => [code, record, repo]),
    ]),
  );
  const verdict =
    review && isOfThese
      ? isPassed(review, facts.findings)
        ? ("pass" as const)
        : ("fail" as const)
      : undefined;
  return {
    conductor,
    children,
    open: [
      ...authors.map((one) => `${one.code} ${one.record ?? ""}: ${one.message} (${one.command})`),
      ...(verdict === "fail" && authors.length === 0 ? [`${review?.id} says fail: ${review?.summary}`] : []),
    ],
    facts: { ...given, reasons, state, verdict },
  };
}

const stageOf = ({ id, role, status, attempts, basis }: Run): Stage => ({
  run: id,
  role,
  status,
  basis,
  reason: attempts.at(-1)?.reason,
  attempts: attempts.length,
});

async function begin(
  hands: Hands,
  gathered: Gathered,
  next: Extract<NextStage, { do: "start" | "resume" }>,
): Promise<string> {
  const { conductor, children } = gathered;
  if (next.do === "resume") {
    const child = children.find((one) => one.id === next.run);
    if (!child) throw new Error(`${next.run} is missing`);
    const limits = (before: Run["limits"]) => before ?? limitsOf({});
    const { run: again } = await resumeRun(hands, child, {
      message: undefined,
      agent: undefined,
      model: undefined,
      fresh: false,
      limits,
    });
    return `${again.id} goes on`;
  }
  const { id } = await launchRun(hands, await planRun(hands, await wishFor(hands, gathered, next.role)));
  return `${id} started: ${next.role === "reviewer" ? conductor.reviewer : conductor.agent} as ${next.role}`;
}

async function wishFor(
  hands: Hands,
  { conductor, children, facts, open }: Gathered,
  role: "author" | "reviewer" | "fixer",
): Promise<RunWish> {
  const wish = { ...wishOf(conductor, taskOf(conductor.id)), role };
  if (role === "author") return wish;
  // The reviewer sees the packet and the work, but not the message to the author.
  if (role === "reviewer")
    return { ...wish, agent: conductor.reviewer ?? wish.agent, model: undefined, message: undefined };
  const message = `These are open and yours to settle:\n\n${open.map((one) => `- ${one}`).join("\n")}`;
  const session = await sessionOf(hands, children);
  return { ...wish, message, basis: facts.state, ...(session === undefined ? {} : { session }) };
}

/** The author's own conversation, where its program can go on with one. */
async function sessionOf(hands: Hands, children: readonly Run[]): Promise<RunWish["session"] | undefined> {
  const own = children.filter((one) => one.role === "author" || one.role === "fixer");
  const id = own.at(-1)?.attempts.at(-1)?.session;
  const name = own.at(-1)?.agent ?? "";
  if (id === undefined || !(await hands.agents()).resumes(name)) return undefined;
  return { id, before: usedInSession({ attempts: own.flatMap((one) => one.attempts) }, id) };
}

/** Work that did not get through is not offered for approval: the task says what it waits for. */
const BLOCKS: readonly RunReason[] = ["no_progress", "rounds_exhausted", "no_result"];

async function endPipeline(
  hands: Hands,
  id: string,
  { reason, words }: Extract<NextStage, { do: "end" }>,
): Promise<boolean> {
  if (reason === undefined) {
    // The receipt that an approval asks for: so that a human's yes is really all that is left.
    await checkAndSeal(hands, taskOf(id), "close");
    return true;
  }
  await hands.record((reader, at) => recordWhy(reader, at, id, reason, words), { phase: "failed" });
  return false;
}

function recordWhy(reader: Reader, at: Situation, id: string, reason: RunReason, words: string): Plan<Run> {
  const number = storedRun(reader, id).value.attempts.at(-1)?.number ?? 0;
  const why = recordProgress(reader, at, id, number, { reason }, words);
  return { data: why.data, effects: [...(why.effects ?? []), ...block(reader, at, id, reason, words)] };
}

function block(reader: Reader, at: Situation, id: string, reason: RunReason, words: string): Effect[] {
  const stored = reader.task(taskOf(id));
  const blocker = `${id} ended (${reason}): ${words}`;
  if (!BLOCKS.includes(reason) || stored.value.blocker === blocker) return [];
  return [change(task, stored, { status: "blocked", blocker }, at, "blocked by its pipeline").effect];
}

/** Who will review what this plan's agent writes; found before anything is started. */
export async function planReview(
  hands: Hands,
  { wish, policy }: RunPlan,
  wanted: string | undefined,
): Promise<string> {
  const agents = await hands.agents();
  const find = (name: string) => agents.find(name, policy.agent(name), policy.runner, policy.own);
  // Preferably another vendor's: models that were trained alike overlook the same things.
  const name = wanted ?? agents.known.find((one) => one !== wish.agent && isThere(() => find(one)));
  if (name === undefined)
    throw new Failure(
      "usage",
      "no_reviewer",
      `No agent other than ${wish.agent} is installed to review its work.`,
      {
        hint: `Name one with --reviewer; it may be ${wish.agent} again, in a new conversation.`,
        details: { field: "reviewer" },
      },
    );
  expectTellable(wish.limits, find(name));
  return name;
}

function isThere(find: () => unknown): boolean {
  try {
    find();
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
