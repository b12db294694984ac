import { findTask, getPart } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parseTaskId } from "../model/ids.ts";
import type { Parsed } from "../model/input.ts";
import { finding } from "../model/records/parts.ts";
import type { AnyOperation, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { openRuntime, type Runtime, readably, type Surroundings } from "../runtime/open.ts";
import { withYaml } from "../runtime/with-yaml.ts";
import { findWorkplaces } from "../runtime/workplaces.ts";
import type { ToolSpec } from "./tools.ts";

type Input = Parsed<Readonly<Record<string, unknown>>>;

/** What a call is about, as far as it decides where the call has to stand. */
interface Aim {
  task: string;
  /** The answer is read from the task's files, so that it cannot be given from anywhere else. */
  needsTree: boolean;
  repo: string | undefined;
}

/**
 * The server stands where the agent was started, and the agent works in the worktrees of its tasks. So a call about a
 * task is made from the worktree that is bound to it: evidence is evidence of that tree, a decision is recorded with
 * that branch and commit. Where several worktrees could be meant, or none is there, nothing is guessed.
 */
export async function openFor(
  operation: AnyOperation,
  spec: ToolSpec,
  input: Input,
  around: Surroundings,
): Promise<{ runtime: Runtime; input: Input }> {
  const here = openRuntime(around);
  if (spec.stands === "here") return { runtime: here, input };
  await here.restoreLostState();
  const at = await here.situation("read");
  const aim = await withYaml(here, async () =>
    readably(() => aimOf(operation, spec, input, here.reader(), at)),
  );
  if (!aim) return { runtime: here, input };
  const named = input.task === undefined ? { ...input, task: aim.task } : input;
  const isHere = at.bound === aim.task && (aim.repo === undefined || aim.repo === at.repo);
  if (isHere) return { runtime: here, input: named };
  const path = choose(aim, await findWorkplaces(here, aim.task), at.repo);
  return { runtime: path === undefined ? here : openRuntime({ ...around, cwd: path }), input: named };
}

function aimOf(
  operation: AnyOperation,
  spec: ToolSpec,
  input: Input,
  reader: Reader,
  at: Situation,
): Aim | undefined {
  const task = taskOf(input, reader, at);
  if (task === undefined || !reader.hasTask(task)) return undefined;
  const repo = typeof input.repo === "string" ? input.repo : undefined;
  if (operation.id !== "finding.resolve") return { task, repo, needsTree: spec.stands === "tree" };
  // A finding about a plan is settled by words; one about a branch only where that branch is.
  const { value } = getPart(reader, finding, String(input.finding), task, at);
  return { task, repo: repo ?? value.repo, needsTree: value.kind === "branch" };
}

/** The same rule as everywhere: the argument, or the id's own, else what the server's place says, never a guess. */
function taskOf(input: Input, reader: Reader, at: Situation): string | undefined {
  for (const field of ["finding", "slice"]) {
    const [task, part] = String(input[field] ?? "").split("/");
    if (task && part !== undefined) return parseTaskId(task);
  }
  return findTask(reader, typeof input.task === "string" ? input.task : undefined, at).id;
}

function choose(
  { task, needsTree, repo }: Aim,
  found: readonly { repo: string; path: string }[],
  own: string | undefined,
): string | undefined {
  const wanted = repo ?? (found.some((one) => one.repo === own) ? own : undefined);
  const [first, ...others] = wanted === undefined ? found : found.filter((one) => one.repo === wanted);
  if (first && others.length === 0) return first.path;
  if (!needsTree) return undefined;
  if (first)
    throw new Failure("refused", "which_repository", `${task} has several worktrees here.`, {
      hint: `Say which with "repo": ${found.map((one) => one.repo).join(", ")}.`,
      details: { task, repos: found.map((one) => one.repo) },
    });
  throw new Failure(
    "refused",
    "no_worktree",
    `${task} has no worktree here${repo === undefined ? "" : ` in ${repo}`}, and this tool works on its files.`,
    {
      hint: `pawl start ${task}; if it was started and the worktree is gone: pawl start ${task} --claim`,
      details: { task, repos: found.map((one) => one.repo) },
    },
  );
}
