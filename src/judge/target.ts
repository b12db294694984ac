import { type Acting, humanOnly, isShownHuman } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import type { Stored } from "../model/record.ts";
import { run } from "../model/records/run.ts";
import { PROFILES, type Task } from "../model/records/task.ts";
import type { Effect, Situation } from "../ports/operation.ts";
import type { Target } from "../ports/ports.ts";
import { change } from "./change.ts";

type Meaning = Pick<Task, "id" | "profile" | "depends_on" | "base_branch" | "repos">;

/**
 * What a task needs before it may be merged, and where it goes, is its gate. Agents may make it stricter;
 * only a human may do anything else, with whatever command.
 */
export function checkMeaning(now: Meaning, wanted: Meaning, begun: boolean, at: Acting): void {
  if (isShownHuman(at)) return;
  const refuse = (field: string, what: string) => humanOnly(what, at, { field });
  if (PROFILES.indexOf(wanted.profile) < PROFILES.indexOf(now.profile))
    throw refuse("profile", `lower the profile of ${now.id} from ${now.profile} to ${wanted.profile}`);
  const dropped = now.depends_on.filter((one) => !wanted.depends_on.includes(one));
  if (dropped.length > 0)
    throw refuse("depends", `drop the dependency of ${now.id} on ${dropped.join(", ")}`);
  if (!begun) return;
  if (wanted.base_branch !== now.base_branch)
    throw refuse(
      "base",
      `change the base of ${now.id} from ${now.base_branch} to ${wanted.base_branch ?? "another branch"} once it has started`,
    );
  if (wanted.repos.join("\n") !== now.repos.join("\n"))
    throw refuse("repo", `change which repositories ${now.id} touches once it has started`);
}

/** A run's worktrees were made for certain repositories; other repositories need another run. */
export function checkRepositories(
  now: Meaning,
  wanted: Meaning,
  current: Stored<typeof run> | undefined,
): void {
  if (!current || current.value.ended !== undefined || wanted.repos.join("\n") === now.repos.join("\n"))
    return;
  throw new Failure("refused", "already_started", `${now.id} is at work in ${current.value.id}.`, {
    hint: `Finish the run first: pawl finish ${now.id} --keep --reason "…"`,
    details: { field: "repo" },
  });
}

/** The run follows its task to another base, so that the two never disagree. */
export function retarget(
  current: Stored<typeof run> | undefined,
  now: Meaning,
  wanted: Meaning,
  at: Situation,
): Effect[] {
  const [from, to] = [now.base_branch, wanted.base_branch];
  if (!current || to === undefined || from === to) return [];
  const repos = current.value.repos.map((repo) =>
    repo.base_branch === from ? { ...repo, base_branch: to, base_was: from, base_since: at.now } : repo,
  );
  return [change(run, current, { repos }, at, `goes to ${to} instead of ${from}`).effect];
}

/**
 * Refuses a target branch that does not exist. A repository without any commit has no branch yet, and gets
 * one.
 */
export function checkTargets(targets: readonly Target[]): void {
  for (const { repo, branch, exists, others, published } of targets) {
    if (exists || others.length === 0) continue;
    throw new Failure("not_found", "base_branch_missing", `${repo} has no branch ${branch}.`, {
      hint: published
        ? `Its remote has one: git branch ${branch} origin/${branch}`
        : `It has ${others.slice(0, 6).join(", ")}. Say which with --base.`,
      details: { field: "base", repo, base_branch: branch },
    });
  }
}

/** A warning for whoever works towards an unprotected branch. */
export const unguardedTargets = (targets: readonly Target[]): string[] =>
  targets
    .filter((one) => one.exists && !one.guarded)
    .map(
      ({ repo, branch }) =>
        `${branch} of ${repo} is not protected: anybody can move it without an approval. To guard it, add it to protected: in .pawl/config.yaml.`,
    );
