import * as z from "zod/mini";
import { managedTask } from "../flows/run/run-children.ts";
import { madeNow, newTask } from "../judge/change.ts";
import { checkTargets, unguardedTargets } from "../judge/target.ts";
import { type Acting, humanOnly, isHuman } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import { formatTaskId, nextNumber, parseTaskId, shorten } from "../model/ids.ts";
import { choice, line, many, maybe, planField, prose } from "../model/input.ts";
import { PROFILES, type Task } from "../model/records/task.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const taskNew = operation({
  id: "task.new",
  summary: "Create a task",
  details:
    "A task is one piece of work with its objective, plan, slices, evidence, findings and handoffs. Two tasks can\nhave the same title; the id tells them apart.",
  examples: [
    'pawl task new "Retry failed uploads" --objective "Uploads survive a lost connection"',
    'pawl task new "Fix typo in the docs" --profile light --label docs',
  ],
  access: "write",
  cli: { positional: ["title"], texts: ["plan"] },
  input: z.strictObject({
    title: line("what to do, in a few words", "TITLE"),
    objective: maybe(prose("what will be true when it is done")),
    plan: planField(),
    acceptance: maybe(prose("how to tell that it is done")),
    profile: maybe(choice(PROFILES, "how much process it needs")),
    base: maybe(line("the branch it starts from and merges into", "BRANCH")),
    repo: many(line("a repository it touches", "NAME")),
    depends: many(line("a task that must be done first", "T")),
    parent: maybe(line("the task it is part of (for a manager: its own)", "T", 40)),
    label: many(line("a word to find it by", "LABEL", 60)),
  }),
  milestone: ({ task }) => `${task.id}: ${shorten(task.title, 60)}`,

  async observe(world, input, at) {
    const config = await world.config();
    const base = input.base ?? (config.base_branch || at.branch);
    const repos = input.repo ?? (at.repo ? [at.repo] : []);
    const wanted = base === undefined ? [] : repos.map((repo) => ({ repo, branch: base }));
    return { config, base, repos, targets: await world.targets(wanted) };
  },

  gather(reader, input, at, { config, base, repos, targets }) {
    const depends = [...new Set((input.depends ?? []).map((one) => parseTaskId(one, "depends")))];
    const own = reader.repositories().records.filter(({ value }) => value.base_branch !== undefined);
    return {
      config,
      base,
      repos,
      // The task's base does not apply to a repository that has its own.
      targets: targets.filter((one) => !own.some(({ value }) => value.id === one.repo)),
      waits: reader.waits(),
      names: reader.taskNames(),
      missing: depends.filter((id) => !reader.hasTask(id)),
      parent: parentOf(reader, input.parent, at),
      depends,
    };
  },

  decide(input, { config, base, repos, targets, waits, names, depends, missing, parent }, at) {
    // Ids are given here without asking anybody: a second T0001 would meet the first one at the next sync.
    if (waits)
      throw new Failure(
        "refused",
        "state_not_here",
        "The remote has this project's state, but this clone does not.",
        {
          hint: "pawl sync",
        },
      );
    if (missing.length > 0)
      throw new Failure("not_found", "no_task", `There is no task ${missing.join(", ")} to depend on.`, {
        hint: "`pawl task list` shows the tasks there are.",
        details: { field: "depends", missing },
      });
    checkCeremony(input.profile ?? config.profile, config.profile, at);
    checkTargets(targets);
    const task: Task = {
      id: formatTaskId(nextNumber(names, "T")),
      title: input.title,
      status: "open",
      profile: input.profile ?? config.profile,
      base_branch: base,
      repos,
      labels: [...new Set(input.label ?? [])],
      depends_on: depends,
      parent,
      blocker: undefined,
      next: [],
      archived: false,
      plan_digest: input.plan === undefined ? undefined : at.sha256(input.plan),
      plan_by: input.plan === undefined ? undefined : at.actor,
      slices: [],
      ...madeNow(at),
      branch: undefined,
      objective: input.objective ?? "",
      plan: input.plan ?? "",
      acceptance: input.acceptance ?? "",
      notes: "",
    };
    return {
      data: { task },
      effects: [newTask(task, shorten(task.title, 80))],
      warnings: unguardedTargets(targets),
      next: {
        command: `pawl start ${task.id}`,
        reason: "creates its branch and worktree",
      },
    };
  },

  text: ({ task }, style) => `${style.bold(task.id)} ${shorten(task.title, 100)}`,
});

/** What a manager has made is a part of what it manages, and of nothing else. */
function parentOf(reader: Reader, named: string | undefined, at: Pick<Situation, "run">): string | undefined {
  const managed = managedTask(reader, at);
  const parent = managed ?? (named === undefined ? undefined : parseTaskId(named, "parent"));
  return parent === undefined ? undefined : reader.task(parent).value.id;
}

/** A project that asks for ceremony gets it from agents; less is for a human to say. */
function checkCeremony(profile: Task["profile"], usual: Task["profile"], at: Acting): void {
  // Approve shows what a task started with, so a human's script may set it.
  if (isHuman(at.actor) || PROFILES.indexOf(profile) >= PROFILES.indexOf(usual)) return;
  throw humanOnly(`create a ${profile} task in a project whose profile is ${usual}`, at, {
    field: "profile",
  });
}
