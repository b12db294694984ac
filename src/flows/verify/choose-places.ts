import { findRun } from "../../judge/current-run.ts";
import type { Config } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import type { Run } from "../../model/records/run.ts";
import { quoted } from "../../model/text.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader, World } from "../../ports/ports.ts";

/** Where checks run; a path only where that is not where the command stands. */
export interface CheckPlace {
  path: string | undefined;
  world: World;
  at: Situation;
}

/** In the task's own worktrees, wherever we stand; a task that nobody has started is checked here. */
export async function choosePlaces(
  world: World,
  reader: Reader,
  task: string,
  input: { repo?: string | undefined; command?: string[] | undefined },
  at: Situation,
): Promise<CheckPlace[]> {
  const here: CheckPlace = { path: undefined, world, at };
  if (at.bound === task && (input.repo === undefined || input.repo === at.repo)) return [here];
  const found = await world.workplaces(task);
  const wanted = found.filter((one) => input.repo === undefined || one.repo === input.repo);
  if (input.repo !== undefined && wanted.length === 0)
    throw new Failure("not_found", "no_worktree", `${task} has no worktree in ${input.repo}.`, {
      hint:
        found.length === 0
          ? `pawl start ${task}`
          : `It has one in ${found.map((one) => one.repo).join(", ")}.`,
      details: { field: "repo", repos: found.map((one) => one.repo) },
    });
  const run = findRun(reader, task)?.value;
  const isLost = found.length === 0 && run?.ended === undefined && run?.status === "running";
  if (isLost && !run.repos.some((one) => one.branch === at.branch)) throw notHere(task, run);
  if (wanted.length < 2 || !input.command?.length) return wanted.length === 0 ? [here] : wanted;
  const own = wanted.find((one) => one.repo === at.repo);
  if (own) return [own];
  throw new Failure("usage", "which_repository", `${task} has several worktrees: in which one?`, {
    hint: `pawl verify ${task} --repo ${quoted(found[0]?.repo ?? "")} -- ${input.command.map(quoted).join(" ")}`,
    details: { field: "repo", repos: found.map((one) => one.repo) },
  });
}

function notHere(task: string, run: Run): Failure {
  const worktrees = run.repos.map((one) => one.worktree);
  return new Failure(
    "refused",
    "worktree_missing",
    `${worktrees.join(" and ")} of ${task} is missing, and another tree would prove nothing about its branch.`,
    { hint: `pawl start ${task} --claim`, details: { task, worktrees } },
  );
}

/** The policy that is committed on the task's base, which decides what a gate counts; a copy in a worktree only adds to it. */
export async function committedPolicy(
  world: World,
  reader: Reader,
  task: string,
  { at }: CheckPlace,
): Promise<{ branch: string; config: Config } | undefined> {
  const own = findRun(reader, task)?.value.repos.find((one) => one.name === at.repo);
  const branch = own?.base_branch ?? reader.task(task).value.base_branch;
  if (at.repo === undefined || branch === undefined) return undefined;
  const text = await world.committedPolicy({ name: at.repo, base_branch: branch });
  if (text === undefined) return undefined;
  return { branch, config: reader.config(`.pawl/config.yaml on ${branch}`, text) };
}
