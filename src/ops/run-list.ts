import * as z from "zod/mini";
import { runRow } from "../judge/runs/show.ts";
import { openAttempt, type RunStanding, standingOf } from "../judge/runs/standing.ts";
import { parseTaskId } from "../model/ids.ts";
import { flag, taskField } from "../model/input.ts";
import { LIVE } from "../model/lifecycle.ts";
import { evidence } from "../model/records/parts.ts";
import { columns, warningsOf } from "../model/text.ts";
import type { Reader } from "../ports/ports.ts";
import { operation } from "./operation.ts";

export const runList = operation({
  id: "run.list",
  summary: "List runs: who works on what, since when, the last step and the cost",
  details:
    "The runs of active tasks, agents first. `held` is a worktree that somebody took by hand; `orphaned` is an\nagent that lost its supervisor: it keeps running, and pawl will know how it ends. With a task, it also shows\nwhat was checked in each of its runs. --all shows the runs of every task.",
  examples: ["pawl run list", "pawl run list T0001", "pawl run list --all --json"],
  access: "read",
  settlesRuns: true,
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField(), all: flag("also the runs of finished tasks") }),

  async observe(world, input, _at, reader) {
    const found = runsOf(reader, input);
    const open = found.runs.filter(openAttempt);
    const views = await world.attempts(open.map((one) => one.id));
    return { ...found, views: new Map(open.map((one, nth) => [one.id, views[nth]])) };
  },

  gather: (reader, input, _at, found) => ({
    ...found,
    // For all tasks that would be thousands of records, too many for a list.
    proofs:
      input.task === undefined
        ? []
        : reader.parts(evidence, parseTaskId(input.task)).records.map((one) => one.value),
  }),

  decide(_input, { runs, problems, views, proofs }) {
    const all = runs.map((one) => standingOf(one, views.get(one.id), proofs));
    const sorted = all.toSorted(
      (one, other) => RANK[one.state] - RANK[other.state] || (one.since < other.since ? 1 : -1),
    );
    const [first] = sorted;
    return {
      data: { runs: sorted },
      warnings: [...sorted.flatMap((one) => one.warnings), ...warningsOf(problems)],
      next:
        first?.next ?? (first ? undefined : { command: "pawl task ready", reason: "what is ready to start" }),
    };
  },

  text: ({ runs }, style) => (runs.length === 0 ? "no runs" : columns(runs.map((one) => runRow(one, style)))),
});

/** At work first, then what needs somebody, then what is done. */
const RANK: Readonly<Record<RunStanding["state"], number>> = {
  ...{
    running: 0,
    orphaned: 0,
    starting: 0,
    ending: 0,
    interrupted: 1,
    failed: 1,
    held: 2,
    kept: 2,
    removed: 3,
    succeeded: 3,
  },
};

function runsOf(reader: Reader, input: { task?: string | undefined; all?: boolean | undefined }) {
  const tasks =
    input.task !== undefined
      ? [reader.task(parseTaskId(input.task)).value.id]
      : (input.all
          ? reader.tasks().tasks
          : reader.current().tasks.filter((one) => LIVE.includes(one.status))
        ).map((one) => one.id);
  return reader.runs(tasks);
}
