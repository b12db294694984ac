import { Failure } from "../../model/failure.ts";
import { firstFew } from "../../model/text.ts";
import type { MainCheckout } from "../../ports/rescues.ts";

/** Refuses where there is nothing that changes could be moved out of, or back to. */
export function expectMovable(
  checkout: MainCheckout | undefined,
  worktree: string,
  repo: string,
): asserts checkout is MainCheckout {
  const refuse = (code: string, message: string, hint: string) =>
    new Failure("refused", code, message, { hint, details: { repo, worktree } });
  if (checkout === undefined)
    throw refuse("no_main_checkout", `${repo} has no main checkout.`, "There is nothing to move.");
  if (checkout.root === worktree)
    throw refuse(
      "same_place",
      `The task's worktree is ${worktree}, the main checkout itself.`,
      "There is nothing to move.",
    );
  if (checkout.head === undefined)
    throw refuse("no_commit", `${checkout.root} has no commit yet.`, "Make the first commit there.");
  if (checkout.operation !== undefined)
    throw refuse(
      "operation_in_progress",
      `${checkout.operation} is in progress in ${checkout.root}.`,
      "Finish it there first, then run this again.",
    );
}

/**
 * The files to move. What a person works on in the main checkout is theirs: it moves only if they name it, or if nothing
 * else is changed there; and no agent moves what no agent's session was seen to change.
 */
export function chooseStrays(
  { files, noted, root }: MainCheckout,
  named: readonly string[],
  agent: string | undefined,
): string[] {
  const mine = agent === undefined ? files : noted;
  if (named.length === 0) {
    if (agent !== undefined && noted.length === 0 && files.length > 0) throw notNoted(files, root);
    return noted.length > 0 ? noted : mine;
  }
  const chosen = named.map((name) => ({ name, found: files.filter((file) => isIn(file, name)) }));
  const missing = chosen.find(({ found }) => found.length === 0);
  if (missing)
    throw new Failure("not_found", "not_changed", `${missing.name} is not changed in ${root}.`, {
      hint: files.length === 0 ? "Nothing is changed there." : `Changed there: ${few(files)}`,
      details: { field: "file", files },
    });
  const all = [...new Set(chosen.flatMap(({ found }) => found))];
  const foreign = all.filter((file) => !mine.includes(file));
  if (foreign.length > 0) throw notNoted(foreign, root);
  return all;
}

const isIn = (file: string, name: string) => {
  const tidy = name.replace(/^\.\//, "").replace(/\/+$/, "");
  return file === tidy || file.startsWith(`${tidy}/`);
};

const few = (files: readonly string[]) => firstFew(files, 10);

function notNoted(files: readonly string[], root: string): Failure {
  return new Failure(
    "refused",
    "maybe_a_humans",
    `No agent's session was seen to change ${few(files)} in ${root}: it may be a human's work.`,
    {
      hint: "Leave it alone, and ask the person you work for to run `pawl rescue`.",
      details: { files, worktree: root },
    },
  );
}
