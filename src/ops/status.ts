import * as z from "zod/mini";
import { claimedElsewhere, holderOf, lostClaims } from "../judge/claims.ts";
import { readyTasks } from "../judge/ready.ts";
import { taskOf } from "../judge/runs/standing.ts";
import { placesUnderWay, sessionTask } from "../judge/session/whose.ts";
import { LIVE } from "../model/lifecycle.ts";
import { finding } from "../model/records/parts.ts";
import { columns, firstLine, plural, statusColour, warningsOf } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";
import { operation } from "./operation.ts";

const MOST_CLAIMS = 3;

interface Around {
  waits: boolean;
  installed: boolean;
  mine: { id: string } | undefined;
  underWay: readonly { id: string }[];
  ready: { id: string } | undefined;
  waiting: number;
  unreadable: boolean;
  /** A task whose work its base has. */
  landed: string | undefined;
}

function nextOf({ waits, installed, mine, underWay, ready, waiting, unreadable, landed }: Around): Next {
  if (waits) return { command: "pawl sync", reason: "the remote has this project's state" };
  if (landed !== undefined)
    return {
      command: `pawl finish ${landed}`,
      reason: `the base already has the work of ${landed}: this ends it`,
    };
  if (!installed) return { command: "pawl install", reason: "this repository is not guarded yet" };
  if (mine) return { command: "pawl session", reason: `load what is known about ${mine.id}` };
  if (underWay.length > 0)
    return {
      command: "pawl session",
      reason: `${plural(underWay.length, "task")} under way: whose they are`,
    };
  if (ready)
    return { command: `pawl task show ${ready.id}`, reason: "the oldest task that is ready to start" };
  if (waiting > 0)
    return { command: "pawl task list", reason: `${plural(waiting, "open task")} waiting for others` };
  if (unreadable) return { command: "pawl doctor", reason: "some records cannot be read" };
  return {
    command: 'pawl start "<title>"',
    reason: "a task, a branch and a worktree for what you want",
  };
}

export const status = operation({
  id: "status",
  summary: "Show where you are, what is true and what comes next",
  examples: ["pawl", "pawl status --json"],
  access: "read",
  input: z.strictObject({}),

  observe: async (world, _input, at, reader) => ({
    installed: world.isInstalled(),
    unguarded: await world.guardWarnings(),
    landed: await world.landed(placesUnderWay(reader, sessionTask(reader, undefined, at).id)),
  }),

  gather(reader, _input, at, guard) {
    const { tasks, past, problems } = reader.current();
    const which = sessionTask(reader, undefined, at);
    const mine = tasks.find((task) => task.id === which.id);
    const findings = mine ? reader.parts(finding, mine.id).records.map((record) => record.value) : [];
    // Only without a task of one's own does it matter which one could be begun, and that takes a look at all.
    const [ready] = mine ? [] : readyTasks(reader.tasks().tasks);
    const { exists } = reader;
    const claims = claimedElsewhere(reader, at.now);
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
      claims,
      lost,
      ...guard,
    };
  },

  decide(
    _input,
    { waits, exists, tasks, past, problems, mine, findings, ready, claims, lost, ...guard },
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
          merged_elsewhere: [...guard.landed].map(([run, by]) => ({ task: taskOf(run), by })),
          open_findings: findings.filter((one) => one.status === "open").length,
          tasks: counts,
          claimed_elsewhere: claims,
        },
      },
      warnings: [...guard.unguarded, ...lost, ...warningsOf(problems)],
      next: nextOf({
        ...{ waits, installed: guard.installed, mine, ready },
        unreadable: problems.length > 0,
        landed: [...guard.landed.keys()].map(taskOf)[0],
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
