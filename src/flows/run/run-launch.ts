import { findRun } from "../../judge/current-run.ts";
import { nextPartText } from "../../judge/runs/role-words.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
import { Failure } from "../../model/failure.ts";
import { nextNumber, taskOf } from "../../model/ids.ts";
import type { Role, RunLimits } from "../../model/records/attempt.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { FoundAgent, Prepared } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import { settleClaim } from "../claims/settle-claim.ts";
import { takeClaim } from "../claims/take-claim.ts";
import { begin, carryOut, partsOf } from "../start/start-carry-out.ts";
import { planFor } from "../start/start-facts.ts";
import { checkHolder } from "../start/start-holder.ts";
import type { Part } from "../start/start-plan.ts";
import { namedByManager } from "./run-caller.ts";
import { expectTellable } from "./run-limits.ts";
import { expectNoRival, withTask } from "./run-lock.ts";
import { makePacket, type SeenPart, seeParts } from "./run-packet.ts";
import { expectMayRun, expectShown, type RunPolicy, runPolicy } from "./run-policy.ts";
import {
  type AttemptRecorder,
  newAttempt,
  type RunKind,
  recordAttempt,
  recordNewRun,
  recordProgress,
  storedRun,
} from "./run-records.ts";

export interface RunWish {
  task: string;
  agent: string;
  role: Role;
  mode: NonNullable<Run["mode"]>;
  parent: string | undefined;
  model: string | undefined;
  limits: RunLimits;
  message: string | undefined;
  /** The conversation of the same agent that it resumes, and what that had already used. */
  session?: { id: string; before: AttemptWish["before"] };
  basis?: string;
}

/** Everything that was found out before anything was changed. */
export interface RunPlan {
  wish: RunWish;
  policy: RunPolicy;
  agent: FoundAgent;
  /** The task's run, in whose worktrees it will work; undefined where they are made for it. */
  place: Run | undefined;
  parts: Part[];
  /** What the worktrees are like, on its way while the rest is found out; undefined where they are still to be made. */
  seen: Promise<SeenPart[]> | undefined;
  /** Who will supervise it, if somebody waits for that already. */
  prepared?: Prepared | undefined;
}

/** What a run of this task would be; everything that stands in its way is found here. */
export async function planRun(hands: Hands, wish: RunWish): Promise<RunPlan> {
  const current = await hands.look((reader) => findRun(reader, wish.task)?.value);
  const parts = current ? await partsOf(hands, current) : await planFor(hands, wish.task, false);
  const [first] = parts;
  if (!first) throw new Failure("refused", "no_run", `${wish.task} has no repository to work in.`);
  const seen = current && current.status !== "starting" ? seeParts(hands, parts) : undefined;
  // A refused call has no use for it.
  seen?.catch(() => {});
  // Who asks, git has to be asked as well.
  const [policy] = await Promise.all([runPolicy(hands, first.repo), hands.situation("write")]);
  const ordered = await isOrdered(hands, wish);
  if (!ordered) await expectMayRun(hands, policy, "start a run");
  await expectShown(hands, policy, wish.agent);
  const agents = await hands.agents();
  const agent = agents.find(wish.agent, policy.agent(wish.agent), policy.runner, policy.own);
  expectTellable(wish.limits, agent);
  if (current && !ordered) await checkHolder(hands, current);
  if (current) await expectFree(hands, wish, current, parts);
  return { wish, policy, agent, place: current, parts, seen };
}

/** A conductor may start what its human asked for, a manager what its envelope allows, and nothing else. */
export async function isOrdered(
  hands: Hands,
  { parent, task }: { parent: string | undefined; task: string },
): Promise<boolean> {
  const { run: own } = await hands.situation("read");
  if (parent === undefined || parent !== own) return false;
  const around = (await hands.agents()).around();
  return hands.look((reader) => {
    const { value } = storedRun(reader, parent);
    const isIts =
      value.role === "conductor"
        ? value.tasks.includes(task)
        : value.role === "manager" && around === parent && reader.task(task).value.parent === taskOf(parent);
    return isIts && openAttempt(value) !== undefined;
  });
}

/** Never two in one worktree, and no takeover of a worktree in another clone. */
async function expectFree(hands: Hands, wish: RunWish, place: Run, parts: readonly Part[]): Promise<void> {
  const worktrees = await hands.git.worktrees();
  await expectNoRival(hands, wish.task, wish);
  if (!worktrees.isOurs(place.clone))
    throw new Failure("conflict", "other_clone", `The worktrees of ${place.id} are in another clone.`, {
      hint: `Run it there, or take it over and start again here: pawl start ${wish.task} --claim`,
      details: { run: place.id, clone: place.clone },
    });
  // A start that was cut off is finished first, and makes what is missing.
  if (place.status === "starting") return;
  const gone = parts.find((one) => worktrees.whereabouts(one.place).state !== "in place");
  if (gone)
    throw new Failure("refused", "worktree_missing", `${gone.place.path} is gone.`, {
      hint: `pawl start ${wish.task} --claim recreates it; then run this again.`,
      details: { repo: gone.repo.name, path: gone.place.path },
    });
}

/** Carries a plan out: record first, process second. */
export async function launchRun(hands: Hands, plan: RunPlan): Promise<Run> {
  const { task } = plan.wish;
  return withTask(hands, task, () => withClaim(hands, task, () => launchAlone(hands, plan)));
}

/** Claims the task first, and gives the claim back if nothing comes of it. */
export async function withClaim<T>(hands: Hands, task: string, act: () => Promise<T>): Promise<T> {
  for (const said of await takeClaim(hands, task, { over: false, lease: "supervised" })) hands.say(said);
  try {
    return await act();
  } finally {
    for (const said of await settleClaim(hands, task)) hands.say(said);
  }
}

async function launchAlone(hands: Hands, plan: RunPlan): Promise<Run> {
  const { wish, place } = plan;
  const kind = kindOf(wish);
  if (place === undefined) {
    const { data } = await begin(hands, wish.task, plan.parts);
    return launchIn(hands, plan, { id: data.run.id, parts: await partsOf(hands, data.run), kind });
  }
  // Others may have begun one since the plan was made.
  await expectFree(hands, wish, place, plan.parts);
  if (place.status === "starting") await carryOut(hands, place, []);
  const id = await hands.look((reader) => nextRun(reader, wish.task));
  return launchIn(hands, plan, { id, parts: plan.parts, kind, within: place });
}

export const nextRun = (reader: Reader, task: string) =>
  `${task}/R${nextNumber(reader.partNames(run, task), run.letter)}`;

const kindOf = ({ agent, role, mode, parent, limits, basis }: RunWish): RunKind => ({
  agent,
  role,
  mode,
  parent,
  limits,
  basis,
  tasks: [],
  at_once: undefined,
  reviewer: undefined,
  rounds: undefined,
  envelope: undefined,
});

interface LaunchInto {
  id: string;
  parts: readonly Part[];
  kind: RunKind;
  /** The run whose worktrees these are, unless they were made for this one. */
  within?: Run;
}

async function launchIn(hands: Hands, plan: RunPlan, into: LaunchInto): Promise<Run> {
  const { id, parts, kind, within } = into;
  const { wish } = plan;
  const { role, message, session } = wish;
  const seen = (await plan.seen) ?? (await seeParts(hands, parts));
  const prompt = session
    ? nextPartText({ run: id, task: wish.task, role, message })
    : await makePacket(hands, { run: { id }, role, parts: seen, message, left: undefined });
  const repos = within ? seen.map(asItWasBefore) : [];
  return startAttempt(hands, plan, {
    id,
    parts,
    prompt,
    number: 1,
    resume: session?.id,
    before: session?.before ?? { input: 0, cached: 0, output: 0 },
    announce: (reader, at, attempt, holder) =>
      within
        ? recordNewRun(reader, at, id, kind, attempt, { holder, repos, notes: "" })
        : recordAttempt(reader, at, id, attempt, { ...kind, holder }),
  });
}

/** What a worktree was like when the run began in it: seen, not assumed. */
function asItWasBefore({ repo, place, head, isDirty }: SeenPart): Run["repos"][number] {
  if (isDirty === undefined)
    throw new Failure("unavailable", "git_failed", `git cannot say what has changed in ${place.path}.`, {
      hint: "`git status` there says why.",
      details: { path: place.path },
    });
  return { ...repo, base_head: head ?? repo.base_head, head: undefined, dirty: isDirty };
}

export interface AttemptWish {
  id: string;
  number: number;
  parts: readonly Part[];
  prompt: string;
  resume: string | undefined;
  before: { input: number; cached: number; output: number };
  announce: AttemptRecorder;
}

/** Records that it is about to start, starts the process, records that it runs. */
export async function startAttempt(
  hands: Hands,
  { wish, policy, agent, prepared }: Pick<RunPlan, "wish" | "policy" | "agent" | "prepared">,
  to: AttemptWish,
): Promise<Run> {
  const agents = await hands.agents();
  const settings = policy.agent(wish.agent);
  const model = wish.model ?? settings?.model;
  const made = { agent: wish.agent, model, version: agent.version, session: to.resume };
  const holder = (session: string | undefined) =>
    `agent:${agent.actor}${session === undefined ? "" : `:${session}`}`;
  agents.announce(to.id);
  // Its session is not known yet, and the earlier holder may keep watching.
  const worktrees = await hands.git.worktrees();
  for (const { place } of to.parts) worktrees.noteHolder(place, undefined);
  await hands.record(
    (reader, at) => {
      const plan = to.announce(reader, at, newAttempt(to.number, made, at), holder(to.resume));
      const named = namedByManager(reader, at, to.id, plan.data.parent);
      return { ...plan, effects: [...(plan.effects ?? []), ...named] };
    },
    { phase: "before" },
  );
  const launch = {
    run: to.id,
    task: wish.task,
    number: to.number,
    agent: wish.agent,
    settings,
    runner: policy.runner,
    ...{
      role: wish.role,
      model,
      limits: wish.limits,
      prompt: to.prompt,
      resume: to.resume,
      before: to.before,
    },
    cwd: to.parts[0]?.place.path,
    claimed: (await hands.git.claims()).remembered().some((one) => one.ours && one.claim.task === wish.task),
    gitDirs: await gitDirsOf(hands, to.parts),
  };
  const { session } = await agents.launch(launch, prepared);
  const { data } = await hands.record(
    (reader, at) => recordProgress(reader, at, to.id, to.number, { status: "running", session }, "running"),
    { phase: "after", milestone: `${to.id}: ${wish.agent} started` },
  );
  return data;
}

async function gitDirsOf(hands: Hands, parts: readonly Part[]): Promise<string[]> {
  const worktrees = await hands.git.worktrees();
  return parts.flatMap(({ place }) => {
    const { worktree } = worktrees.whereabouts(place);
    return worktree ? [`${place.site.commonDir}/${worktree.gitDir}`] : [];
  });
}
