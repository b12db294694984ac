import * as z from "zod/mini";
import { claimedElsewhere, holderOf, lostClaims } from "../judge/claims.ts";
import { readyTasks } from "../judge/ready.ts";
import { placesUnderWay, sessionTask } from "../judge/session/whose.ts";
import { mergedHere } from "../judge/unfinished-merges.ts";
import { nextForCutOff, nextForOvertaken, tellAhead, tellCutOff } from "../judge/unpublished.ts";
import { taskOf } from "../model/ids.ts";
import { LIVE } from "../model/lifecycle.ts";
import { finding } from "../model/records/parts.ts";
import { columns, firstLine, plural, statusColour, warningsOf } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";
import { operation } from "./operation.ts";

const MOST_CLAIMS = 3;

interface Around {
  waits: boolean;
  installed: boolean;
  /** The files say that pawl is installed, and nobody has done so in this clone. */
  cloned: boolean;
  mine: { id: string } | undefined;
  underWay: readonly { id: string }[];
  ready: { id: string } | undefined;
  waiting: number;
  unreadable: boolean;
  /** A task whose work its base has. */
  landed: string | undefined;
  /** A merged task whose worktree is still here. */
  unfinished: string | undefined;
  /** Pawl's files are here, and what is checked out does not have them. */
  uncommitted: boolean;
}

function nextOf(around: Around): Next {
  const {
    waits,
    installed,
    cloned,
    mine,
    underWay,
    ready,
    waiting,
    unreadable,
    landed,
    unfinished,
    uncommitted,
  } = around;
  if (cloned) return { command: "pawl install", reason: "nobody has installed pawl in this clone yet" };
  if (waits) return { command: "pawl sync", reason: "the remote has this project's state" };
  if (landed !== undefined)
    return {
      command: `pawl finish ${landed}`,
      reason: `the base already has the work of ${landed}: this ends it`,
    };
  if (!installed) return { command: "pawl install", reason: "this repository is not guarded yet" };
  if (mine) return { command: "pawl session", reason: `load what is known about ${mine.id}` };
  if (uncommitted)
    return {
      command: "pawl install --commit",
      reason: "pawl's files are in place but not committed, and tasks start from what is committed",
    };
  if (unfinished !== undefined)
    return { command: `pawl finish ${unfinished}`, reason: "it is merged: this removes its worktree" };
  if (underWay.length > 0)
    return {
      command: "pawl session",
      reason: `${plural(underWay.length, "task")} under way: who works on them`,
    };
  if (ready)
    return { command: `pawl task show ${ready.id}`, reason: "the oldest task that is ready to start" };
  if (waiting > 0)
    return { command: "pawl task list", reason: `${plural(waiting, "open task")} waiting for others` };
  if (unreadable) return { command: "pawl doctor", reason: "some records cannot be read" };
  return {
    command: 'pawl start "<title>"',
    reason: "creates a task with its branch and worktree",
  };
}

export const status = operation({
  id: "status",
  summary: "Show where you are, how things stand and what comes next",
  examples: ["pawl", "pawl status --json"],
  access: "read",
  input: z.strictObject({}),

  observe: async (world, _input, at, reader) => ({
    installed: world.isInstalled(),
    cloned: world.isInstalled() && !world.isInstalledHere(),
    dropped: await world.dropped(),
    unguarded: await world.guardWarnings(),
    landed: await world.landed(
      placesUnderWay(reader, reader.current().tasks, sessionTask(reader, undefined, at).id),
    ),
    // Git is asked only where nobody has made a task yet: it is the beginning that leads there.
    uncommitted: reader.taskNames().length === 0 && (await world.isUncommitted(at.commit)),
    ahead: await world.mergesAhead(),
    cutOff: await world.cutOffMerges(),
  }),

  gather(reader, _input, at, guard) {
    const { tasks, past, problems } = reader.current();
    const which = sessionTask(reader, undefined, at);
    const mine = tasks.find((task) => task.id === which.id);
    const findings = mine ? reader.parts(finding, mine.id).records.map((record) => record.value) : [];
    // Only without a task of one's own does it matter which one could be begun, and that takes a look at all.
    const [ready] = mine ? [] : readyTasks(reader.tasks().tasks);
    const unfinished = mine || !past.merged ? [] : mergedHere(reader, at).map((one) => one.id);
    const { exists } = reader;
    const claims = claimedElsewhere(reader, at);
    const lost = lostClaims(reader, at);
    return {
      waits: reader.waits(),
      exists,
      tasks,
      past,
      problems,
      mine,
      findings,
      ready,
      unfinished,
      claims,
      lost,
      ...guard,
    };
  },

  decide(
    _input,
    { waits, exists, tasks, past, problems, mine, findings, ready, unfinished, claims, lost, ...guard },
    at,
  ) {
    const counts: Record<string, number> = {};
    for (const task of tasks) counts[task.status] = (counts[task.status] ?? 0) + 1;
    for (const [name, count] of Object.entries(past)) counts[name] = (counts[name] ?? 0) + count;
    return {
      data: {
        status: {
          repo: at.repo,
          branch: at.branch,
          commit: at.commit,
          installed: guard.installed,
          state: exists,
          task: mine ?? null,
          merged_unfinished: unfinished,
          merged_elsewhere: [...guard.landed].map(([run, by]) => ({ task: taskOf(run), by })),
          open_findings: findings.filter((one) => one.status === "open").length,
          tasks: counts,
          claimed_elsewhere: claims,
        },
      },
      warnings: [
        ...tellDropped(guard.dropped),
        ...guard.unguarded,
        ...tellCutOff(guard.cutOff),
        ...tellAhead(guard.ahead),
        ...lost,
        ...warningsOf(problems),
      ],
      next:
        nextForDropped(guard.dropped) ??
        nextForCutOff(guard.cutOff) ??
        nextForOvertaken(guard.ahead) ??
        nextOf({
          waits,
          installed: guard.installed,
          cloned: guard.cloned,
          mine,
          ready,
          unreadable: problems.length > 0,
          landed: [...guard.landed.keys()].map(taskOf)[0],
          unfinished: unfinished[0],
          uncommitted: guard.uncommitted,
          underWay: tasks.filter((task) => LIVE.includes(task.status)),
          waiting: tasks.filter((task) => task.status === "open").length,
        }),
    };
  },

  text: ({ status: now }, style) => {
    const counts = Object.entries(now.tasks).map(([name, count]) => `${count} ${name}`);
    const rows = [
      ["project", style.bold(now.repo ?? "")],
      ["branch", now.branch ?? (now.commit ? `detached at ${now.commit.slice(0, 12)}` : "no commit yet")],
      [
        "task",
        now.task
          ? `${style.bold(now.task.id)} ${firstLine(now.task.title, 80)} (${statusColour(now.task.status, style)})`
          : underWayText(now.tasks),
      ],
      ["tasks", counts.length === 0 ? "none" : counts.join(", ")],
    ];
    for (const { task, by } of now.merged_elsewhere) rows.push(["merged", `${task}: ${by}`]);
    if (now.merged_unfinished.length > 0)
      rows.push(["to finish", `${now.merged_unfinished.join(", ")} (merged, the worktree is still here)`]);
    if (now.task) rows.push(["findings", plural(now.open_findings, "open finding")]);
    now.claimed_elsewhere.slice(0, MOST_CLAIMS).forEach((one, index) => {
      const expired = one.expired ? ", expired" : "";
      rows.push([index === 0 ? "elsewhere" : "", `${one.task} by ${holderOf(one)}${expired}`]);
    });
    return columns(rows);
  },
});

/** Several may be under way, and none of them be meant by where one stands. */
function underWayText(counts: Readonly<Record<string, number>>): string {
  const live = LIVE.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  return live === 0 ? "none active" : `none in this folder or session; ${live} active`;
}

const tellDropped = (branches: readonly string[]) =>
  branches.length === 0
    ? []
    : [
        `The project has dropped pawl: ${branches.join(", ")} no longer has its files, but this clone is still guarded.`,
      ];

const nextForDropped = (branches: readonly string[]): Next | undefined =>
  branches.length === 0
    ? undefined
    : { command: "pawl uninstall", reason: "the project has dropped pawl: this removes it from your clone" };
