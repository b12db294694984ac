import * as z from "zod/mini";
import { readyTasks } from "../judge/ready.ts";
import { findTask } from "../judge/which-task.ts";
import { finding } from "../model/records/parts.ts";
import { columns, firstLine, plural, statusColour, warningsOf } from "../model/text.ts";
import { operation } from "./operation.ts";

export const status = operation({
  id: "status",
  summary: "Where am I, what is true, what next",
  examples: ["pawl", "pawl status --json"],
  access: "read",
  input: z.strictObject({}),

  observe: (world) => world.guardWarnings(),

  gather(reader, _input, at, unguarded) {
    const { tasks, past, problems } = reader.current();
    const which = findTask(reader, undefined, at);
    const mine = tasks.find((task) => task.id === which.id);
    const findings = mine ? reader.parts(finding, mine.id).records.map((record) => record.value) : [];
    // Only without a task of one's own does it matter which one could be begun, and that takes a look at all.
    const [ready] = mine ? [] : readyTasks(reader.tasks().tasks);
    const { exists } = reader;
    return { waits: reader.waits(), exists, tasks, past, problems, mine, findings, ready, unguarded };
  },

  decide(_input, { waits, exists, tasks, past, problems, mine, findings, ready, unguarded }, at) {
    const counts: Record<string, number> = {};
    for (const task of tasks) counts[task.status] = (counts[task.status] ?? 0) + 1;
    for (const [name, count] of Object.entries(past)) counts[name] = (counts[name] ?? 0) + count;
    return {
      data: {
        status: {
          repo: at.repo,
          branch: at.branch,
          commit: at.commit,
          state: exists,
          task: mine ?? null,
          open_findings: findings.filter((one) => one.status === "open").length,
          tasks: counts,
        },
      },
      warnings: [...unguarded, ...warningsOf(problems)],
      next: waits
        ? { command: "pawl sync", reason: "the remote has the state of this project" }
        : mine
          ? { command: "pawl session", reason: `load what is known about ${mine.id}` }
          : ready
            ? { command: `pawl task show ${ready.id}`, reason: "the oldest task that can be begun" }
            : { command: 'pawl task new "<title>"', reason: "there is nothing to do yet" },
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
          : "none active",
      ],
      ["tasks", counts.length === 0 ? "none" : counts.join(", ")],
    ];
    if (now.task) rows.push(["findings", plural(now.open_findings, "open finding")]);
    return columns(rows);
  },
});
