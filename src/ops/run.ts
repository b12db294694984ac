import * as z from "zod/mini";
import { callingManager } from "../flows/run/run-caller.ts";
import { tasksOf } from "../flows/run/run-choose.ts";
import { launchRun, planRun, type RunPlan, type RunWish } from "../flows/run/run-launch.ts";
import { limitsOf } from "../flows/run/run-limits.ts";
import { checkStartable, taskToStart } from "../flows/start/start-task.ts";
import { shareCost } from "../judge/runs/envelope.ts";
import { nextAfterStart } from "../judge/runs/outcome.ts";
import { Failure } from "../model/failure.ts";
import { choice, count, flag, line, many, maybe, prose } from "../model/input.ts";
import type { Run } from "../model/records/run.ts";
import { columns, plural } from "../model/text.ts";
import type { Prepared } from "../ports/agents.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan } from "../ports/operation.ts";
import { procedure } from "./operation.ts";

const USUALLY_AT_ONCE = 3;
const USUAL_ROUNDS = 2;
const USUALLY_IN_ALL = 10;

export const run = procedure({
  id: "run",
  summary: "Start an agent on a task: supervised, detached, in the task's own worktree",
  details:
    "The agent reads the task's packet, works unattended in the task's worktree, and keeps going when you close the\nterminal. A time limit always applies. Whatever gets killed, the next command says how things stand, and `pawl\nrun resume` continues.\nSeveral tasks run in parallel, each in its own worktree, --at-once at a time. With --mode pipeline another\nagent reviews what the first one wrote and its findings are fixed, at most --rounds times; then only your\napproval is left, or the task is blocked and says why. Agents are claude, codex, copilot, and those with a\ncommand in .pawl/config.yaml.",
  examples: [
    "pawl run T0001 --agent claude",
    "pawl run T0001 --agent codex --time 30m --follow",
    "pawl run T0001 --agent copilot --role reviewer",
    "pawl run T1 T2 T3 T4 --agent claude --at-once 2",
    "pawl run T0001 --agent claude --mode pipeline --reviewer codex --rounds 3",
    "pawl run T0001 --agent claude --mode manager --agents claude,codex --at-once 2 --in-all 6 --time 3h",
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: many(line("the tasks (default: the one you are in)", "T", 40), 100),
    agent: line("which agent: claude, codex, copilot or one of the project's own", "NAME", 40),
    mode: maybe(
      choice(
        ["single", "parallel", "pipeline", "manager"],
        "one task; several at once; one agent writes and another reviews; an agent that starts others",
      ),
    ),
    role: maybe(choice(["author", "reviewer", "fixer"], "its role (default: author)")),
    model: maybe(line("which model, as the agent calls it", "MODEL", 100)),
    message: maybe(prose("a message for it, in addition to the task")),
    time: maybe(line("time limit (default: 60m)", "TIME", 20)),
    idle: maybe(line("stop it after this much silence", "TIME", 20)),
    cost: maybe(line("cost limit in US dollars, if the agent reports cost", "USD", 20)),
    turns: maybe(count("limit on the model's turns, if the agent reports them")),
    at_once: maybe(count(`how many at the same time (default: ${USUALLY_AT_ONCE})`)),
    reviewer: maybe(line("the reviewer in a pipeline (default: another vendor's agent)", "NAME", 40)),
    agents: many(line("the agents a manager may start (default: its own)", "NAME", 200), 20),
    in_all: maybe(count(`how many runs a manager may start in total (default: ${USUALLY_IN_ALL})`)),
    rounds: maybe(count(`how many rounds of fixing a pipeline may take (default: ${USUAL_ROUNDS})`)),
    follow: flag("show what it does until it ends; Ctrl-C stops only the display"),
  }),

  async rehearse(hands, input) {
    const managed = await rehearseManaged(hands, input);
    if (managed) return managed;
    const { plans, queued } = await prepare(hands, input);
    return [
      ...plans.flatMap(stepsOf),
      ...queued.map((task) => ({ do: "start when a slot is free:", path: task })),
    ];
  },

  async perform(hands, input): Promise<Plan<Started>> {
    const managed = await startManaged(hands, input);
    if (managed) return answer(managed, hands, input.follow);
    const prepared = isOne(input) ? (await hands.agents()).prepare() : undefined;
    try {
      const runs = await startAll(hands, input, prepared);
      return await answer(runs, hands, input.follow);
    } finally {
      prepared?.dismiss();
    }
  },

  text: ({ runs }, style) =>
    columns(runs.map((one) => [style.bold(one.id), workOf(one), style.dim(one.repos[0]?.worktree ?? "")])),
});

interface Started {
  runs: Run[];
}

/** What not every start needs is loaded by those that do: until one agent is there, every file counts. */
const conducting = () => import("../flows/run/run-conduct.ts");
const managing = () => import("../flows/run/run-manager.ts");

/** One agent is started by this very command, and a person waits for it. */
const isOne = ({ task, mode }: Wanted) => mode !== "pipeline" && (task?.length ?? 0) <= 1;

async function startAll(hands: Hands, input: Wanted, prepared: Prepared | undefined): Promise<Run[]> {
  const { plans, queued, atOnce, reviewer } = await prepare(hands, input);
  const [first] = plans;
  if (!first) throw new Error("nothing was planned");
  if (queued.length > 0) {
    const tasks = [...plans.map((one) => one.wish.task), ...queued];
    return [await (await conducting()).launchConductor(hands, first.wish, tasks, { atOnce })];
  }
  const runs: Run[] = [];
  const rounds = input.rounds ?? USUAL_ROUNDS;
  for (const plan of plans)
    runs.push(
      reviewer === undefined
        ? await launchRun(hands, { ...plan, prepared })
        : await (await conducting()).launchConductor(hands, plan.wish, [plan.wish.task], {
            reviewer,
            rounds,
          }),
    );
  return runs;
}

const stepsOf = ({ wish, place, parts }: RunPlan) => [
  ...(place ? [] : parts.map((one) => ({ do: "add worktree", path: one.place.path }))),
  { do: `start ${wish.agent} as ${wish.role} in`, path: parts[0]?.place.path ?? "" },
];

/** What a manager starts, and a manager itself; undefined for everything else. */
async function startManaged(hands: Hands, input: Wanted): Promise<Run[] | undefined> {
  const wanted = await chooseManaged(hands, input);
  if (!wanted) return undefined;
  const { manager, wishes, launch } = wanted;
  const { launchManager, planManager, startChild } = await managing();
  if (launch) return [await launchManager(hands, await planManager(hands, launch.wish, launch.envelope))];
  const runs: Run[] = [];
  for (const wish of wishes) runs.push(await startChild(hands, manager, wish));
  return runs;
}

async function rehearseManaged(hands: Hands, input: Wanted) {
  const wanted = await chooseManaged(hands, input);
  if (!wanted) return undefined;
  const { manager, wishes, launch } = wanted;
  const { planChild, planManager } = await managing();
  if (launch) {
    const { wish } = await planManager(hands, launch.wish, launch.envelope);
    return [{ do: `start ${wish.agent} as manager of`, path: wish.task }];
  }
  const plans: RunPlan[] = [];
  for (const wish of wishes) plans.push(await planChild(hands, manager, wish));
  return plans.flatMap(stepsOf);
}

async function chooseManaged(hands: Hands, input: Wanted) {
  const manager = await callingManager(hands);
  if (!manager && input.mode !== "manager") return undefined;
  const { mode = "single", role = "author", agent, model, message } = input;
  const tasks = await chooseTasks(hands, input);
  const wish = { agent, role, mode, parent: undefined, model, message, limits: limitsOf(input) };
  if (manager) return { manager, wishes: tasks.map((task) => ({ ...wish, task })) };
  const [task = ""] = tasks;
  const { own, children } = shareCost(wish.limits.cost);
  const named = (input.agents ?? [agent]).flatMap((one) => one.split(",")).map((one) => one.trim());
  const envelope = {
    agents: [...new Set(named)],
    at_once: input.at_once ?? USUALLY_AT_ONCE,
    in_all: input.in_all ?? USUALLY_IN_ALL,
    cost: children,
  };
  const limits = { ...wish.limits, cost: own };
  return { launch: { wish: { ...wish, task, role: "manager" as const, limits }, envelope } };
}

function workOf({ role, mode, agent, reviewer, rounds, tasks, at_once, envelope }: Run): string {
  if (envelope)
    return `${agent} manages ${envelope.agents.join(", ")}, ${envelope.at_once} at a time, ${plural(envelope.in_all, "start")} in all`;
  if (role !== "conductor") return `${agent} as ${role}`;
  return mode === "pipeline"
    ? `${agent} writes, ${reviewer} reviews, fixed ${rounds} times at most`
    : `starts ${agent} for ${plural(tasks.length, "task")}, ${at_once} at a time`;
}

interface Wanted {
  task?: string[] | undefined;
  agent: string;
  mode?: "single" | "parallel" | "pipeline" | "manager" | undefined;
  role?: "author" | "reviewer" | "fixer" | undefined;
  model?: string | undefined;
  message?: string | undefined;
  time?: string | undefined;
  idle?: string | undefined;
  cost?: string | undefined;
  turns?: number | undefined;
  at_once?: number | undefined;
  reviewer?: string | undefined;
  rounds?: number | undefined;
  agents?: string[] | undefined;
  in_all?: number | undefined;
}

/** Everything that forbids any of them is reported before the first one starts. */
async function prepare(hands: Hands, input: Wanted) {
  const tasks = await chooseTasks(hands, input);
  const isPipeline = input.mode === "pipeline";
  // A pipeline has one agent at work at a time, and every task has its own.
  const atOnce = isPipeline ? tasks.length : (input.at_once ?? USUALLY_AT_ONCE);
  const wish: Omit<RunWish, "task"> = {
    agent: input.agent,
    role: input.role ?? "author",
    mode: isPipeline ? "pipeline" : tasks.length > 1 ? "parallel" : "single",
    parent: undefined,
    model: input.model,
    limits: limitsOf(input),
    message: input.message,
  };
  const { run: own } = await hands.situation("read");
  const plans: RunPlan[] = [];
  for (const task of tasks.slice(0, atOnce)) plans.push(await planRun(hands, { ...wish, task, parent: own }));
  const [first] = plans;
  const reviewer =
    isPipeline && first
      ? await (await import("../flows/run/run-pipeline.ts")).planReview(hands, first, input.reviewer)
      : undefined;
  return { plans, queued: tasks.slice(atOnce), atOnce, reviewer };
}

/** Options that only one mode has a use for. */
const ONLY_FOR = { reviewer: "pipeline", rounds: "pipeline", agents: "manager", in_all: "manager" } as const;

/** What a mode has no use for would be forgotten without a word. */
function expectFitting(input: Wanted): void {
  const { mode, role } = input;
  const useless = (message: string, hint: string, field: string) =>
    new Failure("usage", "not_for_mode", message, { hint, details: { field } });
  if (role !== undefined && (mode === "pipeline" || mode === "manager"))
    throw useless(
      mode === "pipeline" ? "A pipeline assigns the roles itself." : "A manager's role is fixed.",
      "Leave out --role.",
      "role",
    );
  for (const [field, only] of Object.entries(ONLY_FOR))
    if (input[field as keyof typeof ONLY_FOR] !== undefined && mode !== only)
      throw useless(`--${field.replace("_", "-")} is for --mode ${only}.`, `Add --mode ${only}.`, field);
}

async function chooseTasks(hands: Hands, input: Wanted): Promise<string[]> {
  expectFitting(input);
  const tasks = await hands.look((reader, at) => {
    const named = input.task?.length ? tasksOf(input.task) : [taskToStart(reader, undefined, at)];
    for (const task of named) checkStartable(reader, reader.task(task));
    return named;
  });
  if ((input.mode === "single" || input.mode === "manager") && tasks.length > 1)
    throw new Failure("usage", "one_task", `--mode ${input.mode} takes one task, not ${tasks.length}.`, {
      hint:
        input.mode === "manager"
          ? "Name the whole task; the manager creates a task for each part."
          : "Leave out --mode: several tasks run in parallel.",
      details: { field: "mode" },
    });
  return tasks;
}

async function answer(runs: Run[], hands: Hands, following: boolean | undefined): Promise<Plan<Started>> {
  const ids = runs.map((one) => one.id);
  const started = { data: { runs }, next: nextAfterStart(ids, hands.agent) };
  if (!following) return started;
  const [first, ...others] = runs;
  if (!first || others.length > 0)
    return { ...started, warnings: ["--follow shows one run; try `pawl watch`."] };
  const { follow } = await import("../flows/run/run-follow.ts");
  return { ...started, ...follow(hands, first) };
}
