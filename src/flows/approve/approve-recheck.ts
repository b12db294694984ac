import { Failure } from "../../model/failure.ts";
import { type RunRepo, run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { RequiredCommands } from "../../ports/merges.ts";
import type { Site } from "../../ports/sites.ts";
import { requiredCommands } from "../check/required-commands.ts";
import type { Candidate } from "./approve-candidate.ts";
import { short } from "./approve-show.ts";

interface Tried {
  site: Site;
  repo: RunRepo;
  commit: string;
  tree: string;
}

/** Runs the checks on one commit, in a worktree that nobody has worked in; says which of them passed. */
export async function tryChecks(
  hands: Hands,
  { site, repo, commit, tree }: Tried,
  wanted: RequiredCommands,
  words: { failed: string; hint: string },
): Promise<string[]> {
  const near = (await hands.git.sites()).locate(site, repo.worktree);
  const runs = await (await hands.git.merges()).tryOut(site, commit, near, wanted);
  const failed = runs.find((one) => one.exitCode !== 0);
  if (failed)
    throw new Failure(
      "refused",
      "check_failed",
      `${words.failed} ${repo.name} fails \`${failed.argv.join(" ")}\`: exit ${failed.exitCode}.`,
      {
        hint: words.hint,
        details: { repo: repo.name, argv: failed.argv, exit_code: failed.exitCode, tail: failed.tail },
      },
    );
  return runs.map((one) => `\`${one.argv.join(" ")}\` passed on tree ${short(tree)} of ${repo.name}.`);
}

/** Evidence is a file. Where the policy says so, nothing but what runs before the human's eyes counts. */
export async function recheck(hands: Hands, { task, repos }: Candidate): Promise<string[]> {
  const passed: string[] = [];
  for (const { site, name, head, tree } of repos) {
    const repo = await repoOfRun(hands, task.id, name);
    const wanted = await requiredCommands(hands, task.id, repo, tree);
    if (!wanted.recheck || wanted.commands.length === 0) continue;
    hands.say(`Running the checks of ${name} again, on ${short(head)} …`);
    const words = {
      failed: "Run again by this approval,",
      hint: `Nothing was merged. The evidence does not hold; look at it: pawl task show ${task.id}`,
    };
    passed.push(...(await tryChecks(hands, { site, repo, commit: head, tree }, wanted, words)));
  }
  return passed;
}

export async function repoOfRun(hands: Hands, task: string, name: string): Promise<RunRepo> {
  const found = await hands.look((reader) =>
    reader
      .parts(run, task)
      .records.flatMap((one) => one.value.repos)
      .filter((one) => one.name === name)
      .at(-1),
  );
  if (found) return found;
  throw new Failure("refused", "no_run", `No run of ${task} worked in ${name}.`);
}

/** The tree that was checked is the one that the branch's own commit has, and so the one that the merge will have. */
export async function checkTrees(hands: Hands, { task, repos }: Candidate): Promise<void> {
  const targets = await hands.git.targets();
  for (const { site, name, head, tree } of repos)
    if ((await targets.treeOf(site, head)) !== tree)
      throw new Failure(
        "unreadable",
        "tree_mismatch",
        `What was checked in ${name} is not what ${short(head)} contains.`,
        {
          hint: `Nothing was changed. Check it again: pawl check ${task.id} --stage close`,
          details: { repo: name },
        },
      );
}

/** A human takes minutes, and everything may have changed in them. */
export function checkSame(shown: Candidate, now: Candidate, again: string): void {
  const print = ({ receipt, repos }: Candidate) =>
    JSON.stringify([receipt, repos.map((one) => [one.name, one.base_branch, one.base, one.head, one.style])]);
  if (print(shown) === print(now)) return;
  throw new Failure("refused", "changed_meanwhile", `${now.task.id} has changed since you were shown it.`, {
    hint: `Nothing was changed. Look again: ${again}`,
    details: { task: now.task.id },
  });
}
