import * as z from "zod/mini";
import { managedTask } from "../flows/run/run-children.ts";
import { change, checkRev, nothingToChange } from "../judge/change.ts";
import { findRun } from "../judge/current-run.ts";
import { openAttempt } from "../judge/runs/standing.ts";
import {
  checkMeaning,
  checkRepositories,
  checkTargets,
  retarget,
  unguardedTargets,
} from "../judge/target.ts";
import { getTask } from "../judge/which-task.ts";
import { type Acting, humanOnly, isShownHuman } from "../model/actor.ts";
import { findCycle } from "../model/dependencies.ts";
import { Failure } from "../model/failure.ts";
import { parseTaskId, shorten } from "../model/ids.ts";
import { choice, count, line, many, maybe, planField, prose, taskField } from "../model/input.ts";
import { checkTransition } from "../model/lifecycle.ts";
import type { ChangesOf } from "../model/record.ts";
import { type Run, run } from "../model/records/run.ts";
import { PROFILES, TASK_STATUSES, type Task, task } from "../model/records/task.ts";
import type { Situation } from "../ports/operation.ts";
import { operation } from "./operation.ts";

export const taskUpdate = operation({
  id: "task.update",
  summary: "Change a task",
  details:
    "Changes only what you name; the rest of the record, including comments and sections written by hand, stays as\nit is. With --rev the change is refused if somebody else changed the task first. --label, --depends and --next\nreplace the whole list; an empty value clears it.",
  examples: [
    "pawl task update T0001 --status active",
    'pawl task update T0001 --blocker "waiting for the API key"',
    "pawl task update T0001 --plan-file plan.md --rev 3",
    'pawl task update T0001 --next "write the failing test" --next "measure"',
  ],
  access: "write",
  cli: { positional: ["task"], texts: ["plan"], clears: ["next", "label", "depends"] },
  input: z.strictObject({
    task: taskField(),
    title: maybe(line("a better title", "TITLE")),
    objective: maybe(prose("what will be true when it is done")),
    plan: planField(),
    acceptance: maybe(prose("how to tell that it is done")),
    notes: maybe(prose("anything else worth keeping")),
    profile: maybe(choice(PROFILES, "how much process it needs")),
    status: maybe(choice(TASK_STATUSES, "where it stands")),
    blocker: maybe(line("what it waits for; makes it blocked", "TEXT", 2_000)),
    next: many(prose("what to do next, in order", "ACTION")),
    label: many(line("a word to find it by", "LABEL", 60)),
    depends: many(line("a task that must be done first", "T")),
    parent: maybe(line("the task it is part of (human only)", "T", 40)),
    base: maybe(line("the branch it starts from and merges into", "BRANCH")),
    repo: many(line("a repository it touches; replaces the whole list", "NAME")),
    rev: maybe(count("the rev you read", "N")),
  }),
  milestone: ({ task: value }) => `${value.id}: ${value.status}, rev ${value.rev}`,

  async observe(world, input, at, reader) {
    if (input.base === undefined) return [];
    const { repos } = reader.task(getTask(reader, input.task, at)).value;
    const branch = input.base;
    return world.targets((input.repo ?? repos).map((repo) => ({ repo, branch })));
  },

  gather(reader, input, at, targets) {
    const stored = reader.task(getTask(reader, input.task, at));
    expectManaged(stored.value, managedTask(reader, at));
    const parent =
      input.parent === undefined ? undefined : reader.task(parseTaskId(input.parent, "parent")).value.id;
    const depends = input.depends?.map((one) => parseTaskId(one, "depends"));
    const { id } = stored.value;
    return {
      stored,
      parent,
      current: findRun(reader, id),
      begun: reader.partNames(run, id).length > 0,
      depends,
      targets,
      tasks: depends ? reader.tasks().tasks : [],
    };
  },

  decide(input, { stored, parent, current: running, begun, depends, targets, tasks }, at) {
    const current = stored.value;
    checkRev(current, input.rev);
    const changes = wanted(input, current, depends, at);
    if (parent !== undefined) changes.parent = checkParent(current.id, parent, at);
    if (Object.keys(changes).length === 0) throw nothingToChange(current.id);
    if (changes.status) checkTransition(current.id, current.status, changes.status);
    if (depends) checkDependencies(current.id, depends, tasks);
    const wantedTask = { ...current, ...changes } as Task;
    checkMeaning(current, wantedTask, begun, at);
    checkRepositories(current, wantedTask, running);
    checkTargets(targets);
    const { effect, value } = change(task, stored, changes, at, describe(current, changes));
    const follows = retarget(running, current, value, at);
    return {
      data: { task: value },
      effects: [effect, ...follows],
      warnings: [...unguardedTargets(targets), ...stillAtWork(changes.status, running?.value)],
      next:
        follows.length === 0
          ? undefined
          : { command: `pawl refresh ${value.id}`, reason: `brings ${value.base_branch} into its branch` },
    };
  },

  text: ({ task: value }, style) =>
    `${style.bold(value.id)} ${value.status}, rev ${value.rev}: ${shorten(value.title, 80)}`,
});

/** Dropping a task ends nobody's work: an agent would go on and cost money. */
const stillAtWork = (status: Task["status"] | undefined, worker: Run | undefined) =>
  status === "dropped" && worker && openAttempt(worker)
    ? [`${worker.id} is still at work on it. To end that: pawl run stop ${worker.id}`]
    : [];

/** A manager changes what it manages and the parts of that, and nobody else's work. */
function expectManaged({ id, parent }: Task, managed: string | undefined): void {
  if (managed === undefined || id === managed || parent === managed) return;
  throw new Failure("refused", "not_in_tree", `${id} is not part of ${managed}.`, {
    hint: `Write to whoever works on it: pawl mail send ${id} "…"`,
    details: { task: id, managed },
  });
}

/** Whose part a task is decides who may have it worked on. */
function checkParent(id: string, parent: string, at: Acting): string {
  if (!isShownHuman(at)) throw humanOnly(`make ${id} part of ${parent}`, at, { field: "parent" });
  if (id !== parent) return parent;
  throw new Failure("usage", "own_parent", `${id} cannot be part of itself.`, {
    details: { field: "parent" },
  });
}

type Input = z.output<typeof taskUpdate.input>;

function wanted(
  input: Input,
  current: Task,
  depends: string[] | undefined,
  at: Pick<Situation, "actor" | "sha256">,
): ChangesOf<typeof task> {
  const changes: ChangesOf<typeof task> = {};
  if (input.title !== undefined) changes.title = input.title;
  if (input.objective !== undefined) changes.objective = input.objective;
  if (input.acceptance !== undefined) changes.acceptance = input.acceptance;
  if (input.notes !== undefined) changes.notes = input.notes;
  if (input.profile !== undefined) changes.profile = input.profile;
  if (input.base !== undefined) changes.base_branch = input.base;
  if (input.next !== undefined) changes.next = input.next;
  if (input.repo !== undefined) changes.repos = [...new Set(input.repo)];
  if (input.label !== undefined) changes.labels = [...new Set(input.label)];
  if (depends !== undefined) changes.depends_on = [...new Set(depends)];
  if (input.plan !== undefined) {
    changes.plan = input.plan;
    changes.plan_digest = at.sha256(input.plan);
    changes.plan_by = at.actor;
  }
  const status = input.status ?? (input.blocker === undefined ? undefined : "blocked");
  if (status !== undefined) {
    changes.status = status;
    if (input.blocker !== undefined) changes.blocker = input.blocker;
    else if (status !== "blocked") changes.blocker = undefined;
    else if (current.blocker === undefined) throw noReason(current.id);
    if (input.blocker !== undefined && status !== "blocked") throw notBlocked(status);
  }
  return changes;
}

function noReason(id: string): Failure {
  return new Failure("usage", "blocker_needed", `Say what ${id} waits for.`, {
    hint: `pawl task update ${id} --blocker "…"`,
    details: { field: "blocker" },
  });
}

function notBlocked(status: string): Failure {
  return new Failure("usage", "blocker_and_status", `A blocker makes a task blocked, not ${status}.`, {
    details: { field: "blocker" },
  });
}

function checkDependencies(
  id: string,
  depends: readonly string[],
  tasks: readonly { id: string; depends_on: string[] }[],
): void {
  const missing = depends.filter((one) => !tasks.some((task) => task.id === one));
  if (missing.length > 0)
    throw new Failure("not_found", "no_task", `There is no task ${missing.join(", ")} to depend on.`, {
      details: { field: "depends", missing },
    });
  const cycle = findCycle(id, depends, tasks);
  if (cycle)
    throw new Failure("refused", "dependency_cycle", `That would be a cycle: ${cycle.join(" → ")}.`, {
      hint: "Leave out one of these dependencies.",
      details: { field: "depends", cycle },
    });
}

function describe(current: Task, changes: ChangesOf<typeof task>): string {
  if (changes.status && changes.status !== current.status) return `${current.status} → ${changes.status}`;
  return Object.keys(changes).join(", ");
}
