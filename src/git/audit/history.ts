import { isNothing } from "../../model/naming.ts";
import type { CommitFact, MoveFact } from "../../ports/audit-facts.ts";
import type { LoggedMove, Stretch } from "../../ports/audits.ts";
import type { HistoryGit } from "./history-git.ts";

const FORMAT = "--format=%H%x00%P%x00%T%x00%cI%x00%an%x00%B";
/** First-parent commits that `without` does not have, newest first. */
export async function readHistory(git: HistoryGit, stretch: Stretch): Promise<CommitFact[]> {
  const limits = await known(git, stretch.without);
  const args = ["log", "-z", "--first-parent", "--no-show-signature", "--encoding=UTF-8", FORMAT, "--stdin"];
  return parse(await git.must(args, lines(stretch.tip, limits)));
}

/** The ids of the same commits. */
export async function readIds(git: HistoryGit, stretch: Stretch): Promise<string[]> {
  const limits = await known(git, stretch.without);
  const out = await git.must(["rev-list", "--first-parent", "--stdin"], lines(stretch.tip, limits));
  return out.split("\n").filter(Boolean);
}

export async function countFirstParents(git: HistoryGit, tip: string): Promise<number> {
  return Number(await git.must(["rev-list", "--first-parent", "--count", tip, "--"]));
}

const lines = (tip: string, without: readonly string[]) =>
  [tip, ...without.map((one) => `^${one}`), ""].join("\n");

/** Of these commits those that are here; the others may belong to clones that have not published them. */
export async function known(git: HistoryGit, ids: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(ids)].filter((id) => !isNothing(id));
  if (wanted.length === 0) return [];
  const out = await git.must(["cat-file", "--batch-check=%(objecttype)"], `${wanted.join("\n")}\n`);
  const types = out.split("\n");
  return wanted.filter((_id, index) => types[index] === "commit");
}

/** With -z the records end with a zero byte too, so that fields and records are told apart by counting. */
function parse(out: string): CommitFact[] {
  if (out === "") return [];
  const fields = out.split("\0");
  const commits: CommitFact[] = [];
  for (let at = 0; at + 5 < fields.length; at += 6) {
    const [id = "", parents = "", tree = "", time = "", author = "", body = ""] = fields.slice(at, at + 6);
    commits.push({
      id,
      tree,
      author,
      time: new Date(time).toISOString(),
      subject: body.split("\n")[0] ?? "",
      parents: parents.split(" ").filter(Boolean),
      names: [...body.matchAll(/^Pawl-Approval: *(\S+) *$/gm)].map((match) => match[1] ?? ""),
    });
  }
  return commits;
}

/** What a move brought; git tells it for any two commits, also for those that no branch has any more. */
export async function followMove(
  git: HistoryGit,
  move: LoggedMove & Pick<MoveFact, "seen">,
  without: readonly string[],
): Promise<MoveFact> {
  if (move.old === move.new) return { ...move, forward: true, brought: [] };
  const ends = [move.old, move.new].filter((id) => !isNothing(id));
  if ((await known(git, ends)).length < new Set(ends).size || isNothing(move.new))
    return { ...move, forward: undefined, brought: [] };
  const created = isNothing(move.old);
  const forward = created || (await git.isAncestor(move.old, move.new));
  const brought = await readHistory(git, {
    tip: move.new,
    without: created ? without : [...without, move.old],
  });
  return { ...move, forward, brought };
}
