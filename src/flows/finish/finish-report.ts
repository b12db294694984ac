import { MERGED } from "../../model/lifecycle.ts";
import type { Run } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import type { Plan } from "../../ports/operation.ts";
import type { Ended } from "./finish-remove.ts";

export interface Finished {
  run: Run;
  task: Task;
  repos: Ended[];
}

/** What whoever ended a run has to know, and what comes next. */
export function conclude(data: Finished, warnings: string[]): Plan<Finished> {
  const { task, run, repos } = data;
  const said = [...warnings];
  for (const one of repos) {
    if (one.worktree === "left") said.push(`${one.path} existed before the run; it was left as it is.`);
    if (one.worktree !== "kept" && one.worktree !== "left" && one.branch === "kept")
      said.push(
        `The branch ${run.repos.find((repo) => repo.name === one.repo)?.branch} of ${one.repo} was kept.`,
      );
  }
  const saved = repos.some((one) => one.saved !== undefined);
  const name = run.id.slice(task.id.length + 1);
  if (saved) said.push(tellSaved(task, name));
  if (MERGED.includes(task.status)) return { data, warnings: said };
  return {
    data,
    warnings: said,
    next:
      run.ended === "kept"
        ? { command: `pawl start ${task.id} --claim`, reason: "continues in the kept worktrees" }
        : saved
          ? { command: `pawl start ${task.id} --restore ${name}`, reason: "brings the saved work back" }
          : {
              command: `pawl start ${task.id}`,
              reason: `${task.id} is ${task.status}; this starts it again`,
            },
  };
}

/** A squash contains the work but not its commits: those are saved, and nobody needs to continue them. */
const tellSaved = ({ id, status }: Task, run: string) =>
  status === "done"
    ? `The branch's commits are saved: \`pawl diff ${id} --run ${run}\` shows them.`
    : `Unmerged work is saved: \`pawl diff ${id} --run ${run}\` shows it, \`pawl start ${id} --restore ${run}\` continues it.`;
