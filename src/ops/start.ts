import * as z from "zod/mini";
import { mindingClaim } from "../flows/claims/settle-claim.ts";
import { takeClaim } from "../flows/claims/take-claim.ts";
import { guardProblems, renewGuards } from "../flows/guard/activate-guard.ts";
import {
  answer,
  begin,
  carryOut,
  partsOf,
  type Started,
  startRunning,
} from "../flows/start/start-carry-out.ts";
import { claim } from "../flows/start/start-claim.ts";
import { activeElsewhere, otherClone } from "../flows/start/start-conflicts.ts";
import { isElsewhere, takeOver } from "../flows/start/start-elsewhere.ts";
import { planFor } from "../flows/start/start-facts.ts";
import { planRestore } from "../flows/start/start-restore.ts";
import { expectReviewedPlan } from "../flows/start/start-strict.ts";
import { checkStartable, taskToStart } from "../flows/start/start-task.ts";
import { findRun, getRun } from "../judge/current-run.ts";
import { unguardedTargets } from "../judge/target.ts";
import { Failure } from "../model/failure.ts";
import { shorten } from "../model/ids.ts";
import { choice, flag, line, maybe, parseInput } from "../model/input.ts";
import type { Run } from "../model/records/run.ts";
import { PROFILES, type Task } from "../model/records/task.ts";
import { quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan } from "../ports/operation.ts";
import { procedure } from "./operation.ts";
import { taskNew } from "./task-new.ts";

interface Wanted {
  task?: string | undefined;
  here?: boolean | undefined;
  claim?: boolean | undefined;
  restore?: string | undefined;
  profile?: Task["profile"] | undefined;
}

export const start = procedure({
  id: "start",
  summary: "Start work on a task: a branch and a worktree in each of its repositories",
  details:
    "With a title instead of an id it makes the task first. The branch starts at the tip of the task's base branch;\nthe worktree is inside the project's folder, hidden from its git. Files that .worktreeinclude names are\ncopied, and `setup:` in .pawl/config.yaml runs in every new worktree. All repositories start, or none.\n--here adopts the worktree you are in, as it is. --claim takes over a run whose holder is gone and recreates\ndeleted worktrees; a task that another clone claimed on a trusted remote starts again here. --restore brings\nback an earlier run's saved work: its commits and what was not committed.",
  examples: [
    "pawl start T0001",
    'pawl start "Fix the typo in the docs"',
    'pawl start "Fix the typo in the docs" --profile light',
    "pawl start T0001 --here",
    "pawl start T0001 --claim",
    "pawl start T0001 --restore R1",
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: maybe(line("the task, or the title of a new one (default: the one you are in)", "T", 300)),
    here: flag("use the worktree you are in"),
    claim: flag("take over the worktrees of a run whose holder is gone"),
    restore: maybe(line("continue from the saved work of this run", "R", 40)),
    profile: maybe(choice(PROFILES, "how much process the new task needs")),
  }),

  async rehearse(hands, input) {
    if (isTitle(input.task)) return [{ do: "write and start", path: `a task: ${input.task}` }];
    const id = await choose(hands, input);
    const current = await currentRun(hands, id);
    const isTaken = input.claim && (await isElsewhere(hands, id, current));
    if (!isTaken && (input.claim || (current && current.ended === undefined))) {
      const value = current ?? (await hands.look((reader) => getRun(reader, id).value));
      await checkOwner(hands, value, input);
      return (await partsOf(hands, value)).map(({ place }) => ({ do: "use", path: place.path }));
    }
    await expectReviewedPlan(hands, id);
    const { parts } = await planOf(hands, id, input);
    return parts.flatMap(({ repo, place }) =>
      repo.adopted
        ? [{ do: "adopt", path: place.path }]
        : [
            { do: "make branch", path: `${repo.branch} of ${repo.name} at ${repo.base_head.slice(0, 12)}` },
            { do: "add worktree", path: place.path },
          ],
    );
  },

  async perform(hands, input) {
    const wanted = isTitle(input.task)
      ? { ...input, task: await newTask(hands, input.task, input.profile), profile: undefined }
      : input;
    const id = await choose(hands, wanted);
    const release = (await hands.git.worktrees()).hold(id);
    if (!release) throw startRunning(id);
    try {
      const plan = await mindingClaim(hands, id, () => startOrGoOn(hands, id, wanted));
      const sites = await hands.git.sites();
      // What sets a worktree up may install hooks of its own, as husky does: both run before anybody is told of a problem.
      const renewed = await renewGuards(hands);
      const unguarded = await guardProblems(
        hands,
        plan.data.run.repos.map((one) => sites.named(one.name)),
      );
      const targets = await hands.world.targets(
        plan.data.run.repos.map((one) => ({ repo: one.name, branch: one.base_branch })),
      );
      return {
        ...plan,
        warnings: [...(plan.warnings ?? []), ...renewed, ...unguarded, ...unguardedTargets(targets)],
      };
    } finally {
      release();
    }
  },

  text: ({ run, task, worktrees }, style) =>
    [
      `${style.bold(task.id)} ${shorten(task.title, 80)}  ${style.dim(`${run.id}, ${run.holder}`)}`,
      ...worktrees.map(({ path }) => `  cd ${quoted(path)}`),
    ].join("\n"),
});

/** A title has words; an id has none. */
const isTitle = (text: string | undefined): text is string => text !== undefined && /\S\s+\S/.test(text);

/** The task is written down as `pawl task new` does it, and is what is started then. */
async function newTask(hands: Hands, title: string, profile: Task["profile"] | undefined): Promise<string> {
  const at = await hands.situation("write");
  const wanted = parseInput(taskNew.input, { title, profile });
  const observed = await taskNew.observe?.(hands.world, wanted, at, hands.reader());
  if (observed === undefined) throw new Error("task.new observes nothing");
  const { data } = await hands.record(
    (reader, now) => taskNew.decide(wanted, taskNew.gather(reader, wanted, now, observed), now),
    { milestone: `A task: ${shorten(title, 60)}` },
  );
  return (data as { task: Task }).task.id;
}

async function choose(hands: Hands, input: Wanted): Promise<string> {
  if (input.here && input.claim)
    throw new Failure("usage", "here_and_claim", "--here and --claim cannot be combined.", {
      hint: "--here starts a new run in this worktree; --claim continues the existing run.",
      details: { field: "claim" },
    });
  if (input.restore !== undefined && (input.here || input.claim))
    throw new Failure(
      "usage",
      "restore_alone",
      "--restore makes new worktrees; leave out --here and --claim.",
      {
        hint: "pawl start T0001 --restore R1",
        details: { field: "restore" },
      },
    );
  if (input.profile !== undefined && !isTitle(input.task))
    throw new Failure("usage", "profile_of_a_new_task", "--profile is for a task that start makes.", {
      hint: `For an existing task: pawl task update ${input.task ?? "T0001"} --profile ${input.profile}`,
      details: { field: "profile" },
    });
  return hands.look((reader, at) => {
    const id = taskToStart(reader, input.task, at);
    checkStartable(reader, reader.task(id));
    return id;
  });
}

const currentRun = (hands: Hands, id: string): Promise<Run | undefined> =>
  hands.look((reader) => findRun(reader, id)?.value);

async function startOrGoOn(hands: Hands, id: string, input: Wanted): Promise<Plan<Started>> {
  const current = await currentRun(hands, id);
  if (input.restore !== undefined && current && current.ended !== "removed")
    throw new Failure("refused", "run_under_way", `${id} already has worktrees: ${current.id}.`, {
      hint: `Save and remove those first: pawl finish ${id} --remove --reason "…"`,
      details: { run: current.id },
    });
  if (input.claim && (await isElsewhere(hands, id, current))) return takeOver(hands, id, current);
  if (input.claim || (current && current.ended === undefined)) {
    const value = current ?? (await hands.look((reader) => getRun(reader, id).value));
    await checkOwner(hands, value, input);
    return telling(hands, id, input.claim ?? false, () => goOn(hands, value, input));
  }
  const unreviewed = await expectReviewedPlan(hands, id);
  const { parts, restored } = await planOf(hands, id, input);
  const plan = await telling(hands, id, false, () => begin(hands, id, parts, restored));
  return { ...plan, warnings: [...unreviewed, ...(plan.warnings ?? [])] };
}

/** Others are told first that the task is taken here; whoever has taken it elsewhere is told of. */
async function telling(
  hands: Hands,
  id: string,
  over: boolean,
  act: () => Promise<Plan<Started>>,
): Promise<Plan<Started>> {
  const said = await takeClaim(hands, id, { over, lease: "byHand" });
  const plan = await act();
  return { ...plan, warnings: [...said, ...(plan.warnings ?? [])] };
}

const planOf = async (hands: Hands, id: string, input: Wanted) =>
  input.restore === undefined
    ? { parts: await planFor(hands, id, input.here ?? false), restored: undefined }
    : planRestore(hands, id, input.restore);

/** Whose run it is: one in another clone is out of reach, and one of somebody else has to be claimed. */
async function checkOwner(hands: Hands, value: Run, input: Wanted): Promise<void> {
  const worktrees = await hands.git.worktrees();
  const places = value.repos.map((one) => one.worktree);
  if (!worktrees.isOurs(value.clone))
    throw input.claim ? otherClone(value) : activeElsewhere(value, [`the clone ${value.clone}`]);
  const { actor } = await hands.situation("write");
  // Nobody works in a run that never began; whoever starts it next may finish it.
  const free = input.claim || value.status === "starting" || value.holder === actor;
  if (!free) throw activeElsewhere(value, places);
}

async function goOn(hands: Hands, value: Run, input: Wanted): Promise<Plan<Started>> {
  if (value.status === "starting") {
    const adopts = value.repos.some((one) => one.adopted);
    const asked = adopts === (input.here ?? false);
    const note = `${value.id} had been begun ${adopts ? "with" : "without"} --here, and was finished that way.`;
    return carryOut(hands, value, asked ? [] : [note]);
  }
  if (input.claim || value.status !== "running") return claim(hands, value);
  const parts = await partsOf(hands, value);
  const worktrees = await hands.git.worktrees();
  const gone = parts.filter(({ place }) => worktrees.whereabouts(place).state === "gone");
  const task = await hands.look((reader) => reader.task(value.id.slice(0, value.id.indexOf("/"))).value);
  return answer(
    { run: value, task },
    parts,
    gone.map(({ place }) => `${place.path} is gone: \`pawl start ${task.id} --claim\` recreates it.`),
  );
}
