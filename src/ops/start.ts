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
import { expectPlanFirst, expectReviewedPlan } from "../flows/start/start-strict.ts";
import { checkStartable, taskToStart } from "../flows/start/start-task.ts";
import { findRun, getRun } from "../judge/current-run.ts";
import { unguardedTargets } from "../judge/target.ts";
import { Failure } from "../model/failure.ts";
import { shorten, taskOf } from "../model/ids.ts";
import { choice, flag, line, maybe, parseInput } from "../model/input.ts";
import type { Run } from "../model/records/run.ts";
import { PROFILES, type Task } from "../model/records/task.ts";
import { quoted } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { Next, Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
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
    "With a title instead of an id it creates the task first. The branch starts at the tip of the task's base branch;\nthe worktree is inside the project's folder, hidden from its git. Files that .worktreeinclude names are\ncopied, and `setup:` in .pawl/config.yaml runs in every new worktree of a clone with pawl installed. All repositories start, or none.\n--here adopts the worktree you are in, as it is. --claim takes over a run whose holder is gone and recreates\ndeleted worktrees; a task that another clone claimed on a trusted remote starts again here. --restore brings\nback an earlier run's saved work: its commits and what was not committed.",
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
    checkFlags(input);
    if (isTitle(input.task)) {
      await expectNewStartable(hands, await newTask(hands, input.task, input.profile), input);
      return [{ do: "write and start", path: `a task: ${input.task}` }];
    }
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
    checkFlags(input);
    const wanted = isTitle(input.task)
      ? { ...input, task: await writeTask(hands, input.task, input), profile: undefined }
      : input;
    const id = await choose(hands, wanted);
    const release = (await hands.git.worktrees()).hold(id);
    if (!release) throw startRunning(id);
    try {
      const plan = await mindingClaim(hands, id, () => startOrGoOn(hands, id, wanted));
      const sites = await hands.git.sites();
      // The setup may install its own hooks, as husky does: both run before a problem is reported.
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
        next: (await nextForHuman(hands, plan.data)) ?? plan.next,
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

/** An agent reads where it is; a person at a terminal goes there and works. */
async function nextForHuman(hands: Hands, { task, worktrees }: Started): Promise<Next | undefined> {
  const [first] = worktrees;
  if (!first || hands.agent !== undefined || (await hands.ask("")) === undefined) return undefined;
  const merge = `pawl approve ${task.id} --finish`;
  const here = (await hands.git.worktrees()).here()?.path;
  return here === first.path
    ? { command: "git commit", reason: `once the work is done; then: ${merge}` }
    : { command: `cd ${quoted(first.path)}`, reason: `work and commit there; then: ${merge}` };
}

/** A title has words; an id has none. */
const isTitle = (text: string | undefined): text is string => text !== undefined && /\S\s+\S/.test(text);

/** One word is taken for an id, and may have been meant as a title. */
function expectIdOrTitle(text: string | undefined): void {
  if (text === undefined || /^\s*t?\d+\s*$|\S\s+\S/i.test(text)) return;
  throw new Failure("usage", "bad_task_id", `"${shorten(text)}" is neither a task id nor a title.`, {
    hint: `An id looks like T0007 or T7. A title has two words or more: pawl start "${shorten(text)} the tests"`,
    details: { field: "task" },
  });
}

/** What `pawl task new` would write down. */
async function newTask(hands: Hands, title: string, profile: Task["profile"] | undefined) {
  const at = await hands.situation("write");
  const wanted = parseInput(taskNew.input, { title, profile });
  const observed = await taskNew.observe?.(hands.world, wanted, at, hands.reader());
  if (observed === undefined) throw new Error("task.new observes nothing");
  return (reader: Reader, now: Situation) =>
    taskNew.decide(wanted, taskNew.gather(reader, wanted, now, observed), now) as Plan<{ task: Task }>;
}

/** A start that is refused leaves no task behind, so what refuses it is looked for before there is one. */
async function expectNewStartable(
  hands: Hands,
  plan: (reader: Reader, now: Situation) => Plan<{ task: Task }>,
  { here }: Wanted,
): Promise<void> {
  // A read names no actor, and some profiles need a human.
  const at = await hands.situation("write");
  const { task } = (await hands.look((reader) => plan(reader, at))).data;
  await expectPlanFirst(hands, task);
  await planFor(hands, task, here ?? false);
}

/** Records the task, so that the start finds it by its id. */
async function writeTask(hands: Hands, title: string, input: Wanted): Promise<string> {
  const plan = await newTask(hands, title, input.profile);
  await expectNewStartable(hands, plan, input);
  const { data } = await hands.record(plan, { milestone: `A task: ${shorten(title, 60)}` });
  return data.task.id;
}

async function choose(hands: Hands, input: Wanted): Promise<string> {
  expectIdOrTitle(input.task);
  if (input.profile !== undefined && !isTitle(input.task))
    throw new Failure("usage", "profile_of_a_new_task", "--profile is for a task that start creates.", {
      hint: `For an existing task: pawl task update ${input.task ?? "T0001"} --profile ${input.profile}`,
      details: { field: "profile" },
    });
  return hands.look((reader, at) => {
    const id = taskToStart(reader, input.task, at);
    checkStartable(reader, reader.task(id));
    return id;
  });
}

/** Refused before anything is written. */
function checkFlags(input: Wanted): void {
  if (input.here && input.claim)
    throw new Failure("usage", "here_and_claim", "--here and --claim cannot be combined.", {
      hint: "--here starts a new run in this worktree; --claim continues the existing run.",
      details: { field: "claim" },
    });
  if (input.restore !== undefined && (input.here || input.claim))
    throw new Failure(
      "usage",
      "restore_alone",
      "--restore creates new worktrees; leave out --here and --claim.",
      {
        hint: "pawl start T0001 --restore R1",
        details: { field: "restore" },
      },
    );
  if (isTitle(input.task) && (input.claim || input.restore !== undefined))
    throw new Failure("usage", "nothing_to_take_over", "A new task has no earlier run.", {
      hint: "Name the task whose run you mean: pawl start T0001 --claim",
      details: { field: "task" },
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

/** Claims the task first, so that others know; reports who has claimed it elsewhere. */
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
  // Nobody works in a run that never started; the next start may finish it.
  const free = input.claim || value.status === "starting" || value.holder === actor;
  if (!free) throw activeElsewhere(value, places);
}

async function goOn(hands: Hands, value: Run, input: Wanted): Promise<Plan<Started>> {
  if (value.status === "starting") {
    const adopts = value.repos.some((one) => one.adopted);
    const asked = adopts === (input.here ?? false);
    const note = `${value.id} had been started ${adopts ? "with" : "without"} --here, so it was completed that way.`;
    return carryOut(hands, value, asked ? [] : [note]);
  }
  if (input.claim || value.status !== "running") return claim(hands, value);
  const parts = await partsOf(hands, value);
  const worktrees = await hands.git.worktrees();
  const gone = parts.filter(({ place }) => worktrees.whereabouts(place).state === "gone");
  const task = await hands.look((reader) => reader.task(taskOf(value.id)).value);
  return answer(
    { run: value, task },
    parts,
    gone.map(({ place }) => `${place.path} is gone: \`pawl start ${task.id} --claim\` recreates it.`),
  );
}
