import { resumeText } from "../../judge/runs/role-words.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
import { usedInSession } from "../../judge/runs/usage.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { patchFile } from "../../model/paths.ts";
import type { RunLimits, RunReason } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import { firstLine } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import { partsOf } from "../start/start-carry-out.ts";
import { checkHolder } from "../start/start-holder.ts";
import type { Part } from "../start/start-plan.ts";
import { expectWorkable } from "../start/start-task.ts";
import { callingManager } from "./run-caller.ts";
import { childLines } from "./run-children.ts";
import { elsewhere } from "./run-choose.ts";
import { resumeConductor } from "./run-conduct.ts";
import { startAttempt, withClaim } from "./run-launch.ts";
import { expectTellable, keepTellable } from "./run-limits.ts";
import { expectNoRival, expectNotResumed, withTask } from "./run-lock.ts";
import { managerPolicy, withinEnvelope } from "./run-manager.ts";
import { makePacket, seeParts, unreadText } from "./run-packet.ts";
import { runPolicy } from "./run-policy.ts";
import { recordAttempt } from "./run-records.ts";
import { expectOwn } from "./run-stop.ts";

export interface ResumeWish {
  message: string | undefined;
  agent: string | undefined;
  model: string | undefined;
  limits(before: RunLimits | undefined): RunLimits;
  /** Starts a new conversation even where the old one could continue. */
  fresh: boolean;
}

/**
 * Another attempt of a run. The same conversation where the program and the folder are the same; else a new one with the
 * packet, the saved work and the end of the log.
 */
export async function resumeRun(
  hands: Hands,
  value: Run,
  wish: ResumeWish,
): Promise<{ run: Run; same: boolean }> {
  await expectMayResume(hands, value);
  if (value.role === "conductor") return { run: await resumeConductor(hands, value), same: true };
  const parts = await partsOf(hands, value);
  if (value.role !== "manager") await expectPlaces(hands, value, parts);
  const last = value.attempts.at(-1);
  const name = wish.agent ?? last?.agent ?? value.agent ?? "";
  const [first] = parts;
  if (!first && value.role !== "manager")
    throw new Failure("refused", "no_run", `${value.id} has no worktree to continue in.`);
  const policy = first ? await runPolicy(hands, first.repo) : await managerPolicy(hands, taskOf(value.id));
  const agents = await hands.agents();
  const agent = agents.find(name, policy.agent(name), policy.runner, policy.own);
  const same = !wish.fresh && agent.resumes && last?.agent === name && last.session !== undefined;
  const session = same ? last?.session : undefined;
  const role = value.role ?? "author";
  const prompt = same
    ? resumeText({
        run: value.id,
        task: taskOf(value.id),
        message: wish.message,
        reason: wordsFor(value),
        role,
        children: await hands.look((reader) => childLines(reader, value.id)),
        mail: await unreadText(hands, value.id),
      })
    : await makePacket(hands, {
        run: value,
        role,
        parts: await seeParts(hands, parts),
        message: wish.message,
        left: await leftBy(hands, value),
      });
  const { message } = wish;
  const model = wish.model ?? (last?.agent === name ? last.model : undefined);
  const task = taskOf(value.id);
  const number = Math.max(last?.number ?? 0, agents.look(value.id)?.number ?? 0) + 1;
  const launch = (limits: RunLimits) =>
    withTask(hands, task, async () => {
      expectTellable(limits, agent);
      await expectNotResumed(hands, value);
      await expectNoRival(hands, task, { role, mode: value.mode });
      const again = { task, agent: name, role, mode: value.mode ?? "single", parent: value.parent };
      const start = () =>
        startAttempt(
          hands,
          { wish: { ...again, model, message, limits }, policy, agent },
          {
            ...{
              id: value.id,
              number,
              parts,
              prompt,
              resume: session,
              before: usedInSession(value, session),
            },
            announce: (reader, at, attempt, holder) =>
              recordAttempt(reader, at, value.id, attempt, { agent: name, limits, holder }),
          },
        );
      return withClaim(hands, task, start);
    });
  const manager = await callingManager(hands);
  const asked = wish.limits(keepTellable(value.limits, agent, hands.say));
  const run = manager
    ? await withinEnvelope(hands, manager, { task, agent: name, mode: "single", limits: asked }, launch)
    : await launch(asked);
  return { run, same };
}

export async function expectMayResume(hands: Hands, value: Run): Promise<void> {
  await expectOwn(hands, value, "resume");
  if (openAttempt(value)) throw stillOpen(value);
  await hands.look((reader) => expectWorkable(reader.task(taskOf(value.id)), "resumed"));
  if (value.ended === "removed")
    throw new Failure("refused", "no_run", `The worktrees of ${value.id} were removed.`, {
      hint: `pawl run ${taskOf(value.id)} --agent claude starts over; \`pawl diff ${taskOf(value.id)}\` shows what was saved.`,
      details: { run: value.id },
    });
  if (!(await hands.git.worktrees()).isOurs(value.clone)) throw elsewhere(value);
  await checkHolder(hands, value);
}

function stillOpen(value: Run): Failure {
  return new Failure("conflict", "run_open", `${value.id} is running; it cannot be resumed.`, {
    hint: `pawl run log ${value.id} --follow, or first pawl run stop ${value.id}`,
    details: { run: value.id },
  });
}

async function expectPlaces(hands: Hands, value: Run, parts: readonly Part[]): Promise<void> {
  const task = taskOf(value.id);
  const worktrees = await hands.git.worktrees();
  const gone = parts.find(({ place }) => worktrees.whereabouts(place).state !== "in place");
  if (gone)
    throw new Failure("refused", "worktree_missing", `${gone.place.path} is gone.`, {
      hint: `pawl start ${task} --claim recreates it; then run this again.`,
      details: { repo: gone.repo.name, path: gone.place.path },
    });
}

const LIMITED: Readonly<Partial<Record<RunReason, string>>> = {
  limit_time: "time",
  limit_idle: "silence",
  limit_cost: "cost",
  limit_turns: "turns",
  limit_log: "the size of your log",
};

const wordsFor = (value: Run) => {
  const last = value.attempts.at(-1);
  if (last?.reason === "stopped") return "stopped";
  const limit = last?.reason && LIMITED[last.reason];
  if (limit) return `stopped by the limit on ${limit}`;
  return value.status === "succeeded" ? "done with your part" : "cut off";
};

const LOG_LINES = 40;

/** For somebody who was not there: how it ended, what is saved, and the last lines. */
async function leftBy(hands: Hands, value: Run): Promise<string> {
  const task = taskOf(value.id);
  const ended = (await hands.agents()).ended(value.id);
  const last = value.attempts.at(-1);
  const started = await hands.look((reader) => childLines(reader, value.id));
  const saved = value.snapshots.map(
    (one) => `- ${one.repo}: ${patchFile(task, partOf(value.id), one.repo)} in the state, ${one.files} files`,
  );
  const tail =
    ended?.tail
      .split("\n")
      .slice(-LOG_LINES)
      .map((line) => firstLine(line, 200)) ?? [];
  const work =
    value.role === "manager"
      ? "The runs it started continued without it. Their state:"
      : `Its work is in the worktree; \`pawl diff ${task}\` shows what was saved.`;
  return [
    `${last?.agent ?? "It"} ended: ${value.status}${last?.reason ? ` (${last.reason})` : ""}. ${work}`,
    ...started.map((one) => `- ${one}`),
    ...saved,
    ...(tail.length > 0 ? ["", "The last lines of its log:", "", ...tail.map((line) => `    ${line}`)] : []),
  ].join("\n");
}
