import { Failure } from "../../model/failure.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { approval } from "../../model/records/run.ts";
import { plural, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import { basesOf } from "./finish-landed.ts";
import type { Ending } from "./finish-look.ts";
import type { Ended } from "./finish-remove.ts";

/** Commits of a task's branch that came after what was merged of it. */
interface Unmerged {
  ending: Ending;
  tip: string;
  count: number;
}

/** What the branches of a merged task have beyond what was approved, or came into the bases in another form. */
async function lookForUnmerged(hands: Hands, endings: readonly Ending[]): Promise<Unmerged[]> {
  const found: Unmerged[] = [];
  for (const ending of endings) {
    const { repo, tip, merged } = ending;
    if (tip === undefined || merged || repo.adopted) continue;
    const count = await countUnmerged(hands, ending, tip);
    if (count > 0) found.push({ ending, tip, count });
  }
  return found;
}

async function countUnmerged(hands: Hands, { repo, place }: Ending, tip: string): Promise<number> {
  const [targets, worktrees] = [await hands.git.targets(), await hands.git.worktrees()];
  const bases = await basesOf(hands, place.site, repo.base_branch);
  for (const base of bases)
    if (await targets.landed(place.site, { tip, from: repo.base_head, base })) return 0;
  // A squash has none of the branch's commits, and a clone that did not pull has none of the merge.
  const approved = await hands.look((reader) =>
    reader
      .parts(approval, place.task)
      .records.flatMap(({ value }) => (value.status === "merged" ? value.repos : []))
      .filter((one) => one.name === repo.name)
      .map((one) => one.head),
  );
  const counts: number[] = [];
  for (const base of bases) counts.push((await targets.apart(place.site, tip, base)).left);
  for (const known of [repo.base_head, ...approved])
    if (await worktrees.contains(place.site, known, tip))
      counts.push((await targets.apart(place.site, tip, known)).left);
  return Math.min(...counts);
}

const tellCount = ({ ending: { repo }, count }: Unmerged) =>
  `${plural(count, "commit")} of ${repo.branch} ${count === 1 ? "is" : "are"} not in ${repo.base_branch}`;

export const callsItMerged = (reason: string) => /^merged\b/i.test(reason);

/** Looks for what was not merged of a merged task; an end that calls itself a merge takes nothing of it along. */
export async function checkUnmerged(
  hands: Hands,
  endings: readonly Ending[],
  reason: string,
): Promise<Unmerged[]> {
  const [any] = endings;
  if (!any) return [];
  const task = await hands.look((reader) => reader.task(any.place.task).value);
  if (!MERGED.includes(task.status)) return [];
  const unmerged = await lookForUnmerged(hands, endings);
  const [first] = unmerged;
  if (!first || !callsItMerged(reason)) return unmerged;
  throw new Failure("refused", "unmerged_commits", `${unmerged.map(tellCount).join(", ")}.`, {
    hint: [
      `To merge ${first.count === 1 ? "it" : "them"} as well: pawl start "<title>", and there: git merge ${first.ending.repo.branch}`,
      `To save what is not merged and remove the worktree: pawl finish ${task.id} --remove --reason "<why>"`,
    ].join("\n"),
    details: {
      task: task.id,
      branches: unmerged.map(({ ending, tip, count }) => ({
        branch: ending.repo.branch,
        tip,
        commits: count,
      })),
    },
  });
}

/** Says what was not merged, and how to get a branch back that went with it. */
export function tellUnmerged(unmerged: readonly Unmerged[], ended: readonly Ended[]): string[] {
  return unmerged.map((one) => {
    const { repo, place } = one.ending;
    const isDeleted = ended.some((each) => each.repo === repo.name && each.branch === "deleted");
    if (!isDeleted) return `${tellCount(one)}.`;
    const home = ended.length === 1 ? "git" : `git -C ${quoted(place.site.mainRoot ?? place.site.commonDir)}`;
    return `${tellCount(one)}, but saved. To bring the branch back: ${home} branch ${repo.branch} ${one.tip.slice(0, 12)}`;
  });
}
