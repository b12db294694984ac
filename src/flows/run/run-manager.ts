import { change } from "../../judge/change.ts";
import { findRun } from "../../judge/current-run.ts";
import { childrenOf } from "../../judge/runs/children.ts";
import { allowChild } from "../../judge/runs/envelope.ts";
import { showDuration } from "../../model/duration.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { Envelope, RunLimits } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import { task as taskKind } from "../../model/records/task.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { doubtedRecords } from "../check/check-task.ts";
import { refuseAgents } from "../human-only.ts";
import { partsOf } from "../start/start-carry-out.ts";
import { planFor } from "../start/start-facts.ts";
import {
  launchRun,
  nextRun,
  planRun,
  type RunPlan,
  type RunWish,
  startAttempt,
  withClaim,
} from "./run-launch.ts";
import { expectTellable } from "./run-limits.ts";
import { expectNoRival, withTask } from "./run-lock.ts";
import { makePacket } from "./run-packet.ts";
import { expectShown, type RunPolicy, runPolicy } from "./run-policy.ts";
import { type RunKind, recordNewRun, storedRun } from "./run-records.ts";

/** Everything that forbids a manager is found before anything is changed. */
export async function planManager(hands: Hands, wish: RunWish, envelope: Envelope) {
  await refuseAgents(hands, "start a manager");
  const policy = await managerPolicy(hands, wish.task);
  await expectShown(hands, policy, wish.agent);
  const agents = await hands.agents();
  const agent = agents.find(wish.agent, policy.agent(wish.agent), undefined, policy.own);
  expectTellable(wish.limits, agent);
  // Refuse now any agent that it could never start, or whose cost nobody could count towards the limit.
  const { runner } = await basePolicy(hands, wish.task);
  for (const name of envelope.agents)
    expectTellable(
      { turns: undefined, cost: envelope.cost },
      agents.find(name, policy.agent(name), runner, policy.own),
    );
  await expectNoRival(hands, wish.task, wish);
  return { wish, policy, agent, envelope };
}

/** Starts an agent that starts others, within what a human allows it. It works in no worktree and has nothing to write with. */
export async function launchManager(
  hands: Hands,
  { wish, policy, agent, envelope }: Awaited<ReturnType<typeof planManager>>,
): Promise<Run> {
  const { agent: name, role, mode, parent, limits } = wish;
  const kind: RunKind = {
    agent: name,
    role,
    mode,
    parent,
    limits,
    envelope,
    tasks: [],
    at_once: undefined,
    reviewer: undefined,
    rounds: undefined,
    basis: undefined,
  };
  return withTask(hands, wish.task, async () => {
    await expectNoRival(hands, wish.task, wish);
    const id = await hands.look((reader) => nextRun(reader, wish.task));
    const told = [envelopeWords(envelope, limits), wish.message].filter(Boolean).join("\n\n");
    const prompt = await makePacket(hands, {
      run: { id },
      role: "manager",
      parts: [],
      message: told,
      left: undefined,
    });
    const start = () =>
      startAttempt(
        hands,
        { wish, policy, agent },
        {
          ...{
            id,
            number: 1,
            parts: [],
            prompt,
            resume: undefined,
            before: { input: 0, cached: 0, output: 0 },
          },
          announce(reader, at, attempt, holder) {
            const made = recordNewRun(reader, at, id, kind, attempt, {
              holder,
              repos: [],
              notes: wish.message ?? "",
            });
            return {
              data: made.data,
              effects: [...(made.effects ?? []), ...activate(reader, at, wish.task)],
            };
          },
        },
      );
    return withClaim(hands, wish.task, start);
  });
}

/** Whatever runner the project has, who starts others is started here, where it can be seen to be who it is. */
export const managerPolicy = async (hands: Hands, task: string): Promise<RunPolicy> => ({
  ...(await basePolicy(hands, task)),
  runner: undefined,
});

async function basePolicy(hands: Hands, task: string): Promise<RunPolicy> {
  const current = await hands.look((reader) => findRun(reader, task)?.value);
  const [first] = current ? await partsOf(hands, current) : await planFor(hands, task, false);
  if (!first) throw new Failure("refused", "no_run", `${task} has no repository to work in.`);
  return runPolicy(hands, first.repo);
}

/** What is managed is under way, for everybody who looks. */
function activate(reader: Reader, at: Situation, id: string): Effect[] {
  const stored = reader.task(id);
  return stored.value.status === "open"
    ? [change(taskKind, stored, { status: "active" }, at, "managed").effect]
    : [];
}

function envelopeWords({ agents, at_once, in_all, cost }: Envelope, { time }: RunLimits): string {
  const money = cost === undefined ? "" : `, $${cost} for all of them`;
  return `A human lets you start ${agents.join(", ")}: ${at_once} at once, ${in_all} starts in total (resuming counts), within ${showDuration(time)}${money}. Commands refuse anything beyond that.`;
}

/** Starts a run for a manager, within its envelope. */
export async function startChild(hands: Hands, manager: Run, wish: RunWish): Promise<Run> {
  return withinEnvelope(hands, manager, wish, async () =>
    launchRun(hands, await planChild(hands, manager, wish)),
  );
}

export async function planChild(hands: Hands, manager: Run, wish: RunWish): Promise<RunPlan> {
  const limits = await allowedLimits(hands, manager.id, wish);
  return planRun(hands, { ...wish, parent: manager.id, limits });
}

type ChildWish = Pick<RunWish, "task" | "agent" | "mode" | "limits">;

/** A manager starts and resumes one run at a time, so that two calls cannot take the same free slot. */
export async function withinEnvelope<T>(
  hands: Hands,
  manager: Run,
  wish: ChildWish,
  act: (limits: RunLimits) => Promise<T>,
): Promise<T> {
  return withTask(hands, taskOf(manager.id), async () => act(await allowedLimits(hands, manager.id, wish)));
}

/** What is left for such a run; refused where nothing is. */
async function allowedLimits(hands: Hands, id: string, wish: ChildWish): Promise<RunLimits> {
  const home = taskOf(id);
  const doubts = await doubtedRecords(hands, home);
  if (doubts.includes(id))
    throw new Failure(
      "refused",
      "record_altered",
      `${id} was changed, but not by pawl: its limits are unknown.`,
      {
        hint: `A human has to look at it: pawl check ${home}`,
        details: { run: id },
      },
    );
  return hands.look((reader, at) => {
    const { value } = storedRun(reader, id);
    const facts = {
      manager: value,
      plan: reader.task(home).value.plan,
      children: childrenOf(reader, value),
      now: at.now,
    };
    const { parent } = reader.task(wish.task).value;
    return allowChild(facts, { ...wish, parent });
  });
}
