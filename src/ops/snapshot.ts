import * as z from "zod/mini";
import { here, pathOf, takeSnapshot } from "../flows/snapshot/take-snapshot.ts";
import { getRun } from "../judge/current-run.ts";
import { getTask } from "../judge/which-task.ts";
import { taskField } from "../model/input.ts";
import type { RunSnapshot } from "../model/records/run.ts";
import { columns, plural } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const snapshot = procedure({
  id: "snapshot",
  summary: "Save a task's work, committed or not, so that it outlives its worktree",
  details:
    "In every repository of the run, everything that differs from where the run began is saved twice: as a commit\nkept by a ref under refs/pawl/, and as a patch in the state. Untracked files are included, ignored files are\nnot. Your files, index and branches do not change. Each snapshot keeps the one before it.",
  examples: ["pawl snapshot", "pawl snapshot T7"],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),

  async rehearse(hands, input) {
    const { value } = await hands.look((reader, at) => getRun(reader, getTask(reader, input.task, at)));
    const [git, sites] = [await hands.git.snapshots(), await hands.git.sites()];
    const planned: { do: string; path: string }[] = [];
    for (const repo of value.repos) {
      const site = sites.named(repo.name);
      const worktree = sites.locate(site, repo.worktree);
      const source = await here(hands, value, repo, () => git.source(site, repo, worktree));
      planned.push({ do: `save the ${source} of ${repo.name} as`, path: pathOf(value, { repo: repo.name }) });
    }
    return planned;
  },

  async perform(hands, input) {
    const task = await hands.look((reader, at) => getTask(reader, input.task, at));
    const { run, saved, warnings, changed } = await takeSnapshot(hands, task);
    return {
      data: { run, snapshots: saved, changed },
      warnings,
      next: { command: `pawl diff ${task}`, reason: "look at what was saved" },
    };
  },

  text: ({ run, snapshots, changed }, style) =>
    [
      `${style.bold(run.id)} ${changed ? "saved" : "was already saved; nothing has changed since"}`,
      columns(snapshots.map((one: RunSnapshot) => [`  ${one.repo}`, one.commit.slice(0, 12), counts(one)])),
    ]
      .filter(Boolean)
      .join("\n"),
});

const counts = (one: RunSnapshot) =>
  `${plural(one.files, "file")}, +${one.insertions} -${one.deletions}${one.whole ? "" : ", incomplete"}`;
