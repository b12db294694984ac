import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasRef, logOf } from "../../git/refs.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import { NEWEST } from "./is-complete.ts";
import { gitOf, REF, type StateRepository } from "./state-basics.ts";

/** The branch of the state is there and names nothing that can be read: a power cut emptied it, or its commit is gone. */
export function isTipBroken(repo: StateRepository): boolean {
  const known = existsSync(join(repo.gitDir, REF)) || hasRef(repo.gitDir, REF);
  return known && gitOf(repo).lineSync(["rev-parse", "-q", "--verify", `${REF}^{commit}`]) === undefined;
}

/** What is wrong with the history of the state, in git's own words; undefined when it is whole. */
export async function damageOf(repo: StateRepository): Promise<string | undefined> {
  if (isTipBroken(repo)) return "its branch points to a commit that does not exist";
  if (!hasRef(repo.gitDir, REF)) return undefined;
  const { code, out, err } = await gitOf(repo).ask(["rev-list", "--objects", "--quiet", REF]);
  return code === 0 ? undefined : (`${err}${out}`.trim().split("\n")[0] ?? "an object is missing");
}

/**
 * Puts the branch back on the last commit of which everything is there: from its own log, else from what was last fetched.
 * The records themselves are files; whoever commits next has them all in the history again.
 */
export function repairTip(repo: StateRepository): string {
  const git = gitOf(repo);
  const log = (logOf(repo.gitDir, REF) ?? []).map((one) => one.new).reverse();
  const fetched = git
    .askSync(["for-each-ref", "--format=%(objectname)", "refs/pawl/incoming/"])
    .out.split("\n");
  const isWhole = (id: string) =>
    /^[0-9a-f]{40,64}$/.test(id) && git.askSync(["rev-list", "--objects", "--quiet", id]).code === 0;
  const found = [...new Set([...log, ...fetched])].find(isWhole);
  if (found === undefined)
    throw new Failure(
      "unreadable",
      "state_damaged",
      "The history of the state is damaged, and no earlier commit is intact.",
      {
        hint: `The records in ${repo.state} are files and are still there. Get the history from another clone: copy its ${REF} into ${repo.gitDir}, or move that folder away to start a new one.`,
        details: { folder: repo.gitDir },
      },
    );
  step("state repair");
  const file = join(repo.gitDir, REF);
  if (existsSync(file)) renameSync(file, join(repo.gitDir, `broken-tip-${Date.now().toString(36)}`));
  git.expectSync("The state's branch could not be repaired", [
    "update-ref",
    "-m",
    "pawl: repaired",
    REF,
    found,
  ]);
  git.askSync(["update-ref", NEWEST, found]);
  // It remembers files as committed whose objects may be gone; without it every record is written again.
  rmSync(join(repo.gitDir, "index"), { force: true });
  return found;
}
