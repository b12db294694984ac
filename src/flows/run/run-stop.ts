import { isHuman } from "../../model/actor.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import { startRunning } from "../start/start-carry-out.ts";
import { elsewhere } from "./run-choose.ts";
import { isOrdered } from "./run-launch.ts";
import { runPolicy } from "./run-policy.ts";
import { storedRun } from "./run-records.ts";
import { settleRun, untilAtRest, untilRestored } from "./run-settle.ts";

/** Ends an attempt and everything that it started, and writes down how it ended. */
export async function stopRun(hands: Hands, value: Run, graceMs: number): Promise<Run> {
  const agents = await hands.agents();
  if (!(await hands.git.worktrees()).isOurs(value.clone)) throw elsewhere(value);
  const { actor } = await hands.situation("write");
  await untilRestored(agents, value);
  const view = await agents.stop(value.id, { reason: "stopped", by: actor, graceMs });
  if (view && view.state !== "ended")
    throw new Failure("unavailable", "still_running", `${value.id} could not be stopped in time.`, {
      hint: "Run this again; a process stuck in the kernel ends when the kernel lets go of it.",
      details: { run: value.id },
    });
  return settled(hands, value);
}

/** Either the supervisor's own command or this one records the end, whichever is first; the other writes nothing. */
export async function settled(hands: Hands, value: Run): Promise<Run> {
  const over = await writtenDown(hands, value);
  await untilAtRest(hands, [value.id]);
  return over;
}

async function writtenDown(hands: Hands, value: Run): Promise<Run> {
  const agents = await hands.agents();
  for (let tries = 0; ; tries++) {
    const now = await hands.look((reader) => storedRun(reader, value.id).value);
    if (now.attempts.at(-1)?.ended !== undefined) return now;
    const release = (await hands.git.worktrees()).hold(taskOf(value.id));
    if (release)
      try {
        const over = await settleRun(hands, agents, value.id);
        if (over) return over;
      } finally {
        release();
      }
    if (tries > 100) throw startRunning(taskOf(value.id));
    await agents.pause(50);
  }
}

/** An agent may only touch what it started itself, where agents may start anything. */
export async function expectOwn(hands: Hands, value: Run, what: string): Promise<void> {
  if (value.attempts.length === 0)
    throw new Failure(
      "refused",
      "by_hand",
      `${value.id} is being worked on by hand; there is no agent to ${what}.`,
      {
        hint: `pawl run ${taskOf(value.id)} --agent claude`,
        details: { run: value.id },
      },
    );
  const { actor, run: own } = await hands.situation("write");
  if (hands.agent === undefined && isHuman(actor)) return;
  if (await isOrdered(hands, { parent: value.parent, task: taskOf(value.id) })) return;
  const [repo] = value.repos;
  const policy = repo ? await runPolicy(hands, repo) : { runs: "human" as const };
  if (policy.runs === "agents" && (own === undefined || value.parent === own)) return;
  throw new Failure("refused", "not_your_run", `${value.id} is not yours to ${what}.`, {
    hint: "Ask the person you work for.",
    details: { run: value.id, parent: value.parent },
  });
}
