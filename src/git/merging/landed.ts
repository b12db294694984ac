import type { Landed, Landing } from "../../ports/targets.ts";
import type { Git } from "../run-git.ts";

/** Further back nobody's pull request is looked for; a task that waited longer is ended by hand. */
const MOST_COMMITS = 500;
const MOST_TRIALS = 50;
const PATCH = [
  "-p",
  "--binary",
  "--full-index",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
];

/**
 * Whether a branch's work is in its base, whoever brought it there: as its own commits (a merge or a fast-forward), as
 * one commit that makes the same change or the same tree (a squash), or as copies of its commits (a rebase).
 */
export async function findLanded(git: Git, { tip, from, base }: Landing): Promise<Landed | undefined> {
  const line = await commitsIn(git, "--first-parent", `--max-count=${MOST_COMMITS}`, `${from}..${base}`);
  if (await git.isAncestor(tip, base)) return asItself(git, line, tip, from);
  const split = await git.line(["merge-base", base, tip]);
  if (split === undefined || (await treeOf(git, split)) === (await treeOf(git, tip))) return undefined;
  const single = await commitsIn(
    git,
    "--first-parent",
    "--no-merges",
    `--max-count=${MOST_COMMITS}`,
    `${split}..${base}`,
  );
  const known = await patchIds(git, single);
  const whole = await patchId(
    git,
    await git.expect("The change could not be read", ["diff-tree", ...PATCH, split, tip]),
  );
  const squash = whole === undefined ? undefined : known.get(whole);
  if (squash !== undefined) return { how: "squash", commits: [squash] };
  const own = await commitsIn(git, "--no-merges", `${base}..${tip}`);
  const copies = [...(await patchIds(git, own)).keys()].map((id) => known.get(id));
  if (own.length > 0 && copies.length > 0 && copies.every((one) => one !== undefined))
    return { how: "rebase", commits: copies.filter((one) => one !== undefined) };
  return asSameTree(git, single.slice(0, MOST_TRIALS), tip);
}

async function asItself(git: Git, line: readonly string[], tip: string, from: string): Promise<Landed> {
  if (line.includes(tip)) {
    const own = new Set(await commitsIn(git, `${from}..${tip}`));
    return { how: "fast-forward", commits: line.filter((one) => own.has(one)) };
  }
  const after = new Set(await commitsIn(git, "--ancestry-path", `${tip}..${line[0] ?? tip}`));
  const first = line.findLast((one) => after.has(one));
  return { how: "merge", commits: first === undefined ? [] : [first] };
}

/** What a host makes of a squash where both sides changed neighbouring lines: the merge's tree, with one parent. */
async function asSameTree(git: Git, commits: readonly string[], tip: string): Promise<Landed | undefined> {
  for (const commit of commits) {
    const merged = await git.ask(["merge-tree", "--write-tree", "--no-messages", `${commit}^`, tip]);
    const tree = merged.out.trim();
    if (merged.code !== 0 || tree !== (await treeOf(git, commit))) continue;
    // A tip that adds nothing to the parent would match any empty commit.
    if (tree !== (await treeOf(git, `${commit}^`))) return { how: "squash", commits: [commit] };
  }
  return undefined;
}

const treeOf = (git: Git, commit: string) => git.line(["rev-parse", "--verify", `${commit}^{tree}`]);

async function commitsIn(git: Git, ...args: string[]): Promise<string[]> {
  const out = await git.expect("The commits could not be listed", ["rev-list", ...args]);
  return out.split("\n").filter((one) => one !== "");
}

/** By what a commit changes, wherever in a file that is. */
async function patchIds(git: Git, commits: readonly string[]): Promise<Map<string, string>> {
  if (commits.length === 0) return new Map();
  const list = `${commits.join("\n")}\n`;
  const patches = await git.expect(
    "The changes could not be read",
    ["diff-tree", "--stdin", "--root", ...PATCH],
    list,
  );
  const { out } = await git.ask(["patch-id", "--stable"], `${patches}\n`);
  const rows = out.split("\n").filter((one) => one !== "");
  return new Map(rows.map((row) => row.split(" ") as [string, string]));
}

async function patchId(git: Git, patch: string): Promise<string | undefined> {
  const { out } = await git.ask(["patch-id", "--stable"], `${patch}\n`);
  return out.split(" ")[0] || undefined;
}
