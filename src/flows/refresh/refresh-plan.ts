import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import type { Run, RunRepo } from "../../model/records/run.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { refusalOf } from "../approve/approve-candidate.ts";

/** A base that moved, and the merge that brings it into the task's branch. */
export interface Refresh {
  site: Site;
  repo: RunRepo;
  from: string;
  base: string;
  /** The tree of the merge; undefined when the branch has nothing of its own, and simply follows. */
  tree: string | undefined;
  /** Paths that both sides changed: what was reviewed there may not hold any more. */
  overlap: string[];
}

export interface RefreshPlan {
  moves: Refresh[];
  /** Repositories whose branch has its base already. */
  current: string[];
  /** What each base was at. */
  bases: { repo: string; base: string }[];
  notes: string[];
}

export async function planRefresh(hands: Hands, task: string, run: Run): Promise<RefreshPlan> {
  const sites = await hands.git.sites();
  const plan: RefreshPlan = { moves: [], current: [], bases: [], notes: [] };
  for (const repo of run.repos) {
    const site = sites.named(repo.name);
    plan.notes.push(...(await noteRemote(hands, site, repo)));
    const { base, move } = await lookAtRepository(hands, task, site, repo);
    plan.bases.push({ repo: repo.name, base });
    if (move) plan.moves.push(move);
    else plan.current.push(repo.name);
  }
  return plan;
}

async function lookAtRepository(
  hands: Hands,
  task: string,
  site: Site,
  repo: RunRepo,
): Promise<{ base: string; move?: Refresh }> {
  const targets = await hands.git.targets();
  const missing = (code: string, branch: string, hint: string) =>
    new Failure("refused", code, `There is no branch ${branch} in ${repo.name}.`, {
      hint,
      details: { repo: repo.name, branch },
    });
  const unsupported = await targets.unsupported(site, repo.branch);
  if (unsupported) throw refusalOf(unsupported, repo.name);
  const from = await targets.tip(site, refOfBranch(repo.branch));
  if (!from) throw missing("branch_missing", repo.branch, `pawl start ${task} --claim`);
  const base = await targets.tip(site, refOfBranch(repo.base_branch));
  if (!base) throw missing("base_missing", repo.base_branch, `git branch ${repo.base_branch} <commit>`);
  if (await targets.contains(site, from, base)) return { base };
  const follows = await targets.contains(site, base, from);
  const tree = follows ? undefined : await mergedTree(hands, { site, repo, from, base });
  const [obstacle] = await targets.obstacles(site, { branch: repo.branch, from, to: tree ?? base });
  if (obstacle)
    throw refusalOf(
      obstacle.code === "target_dirty"
        ? {
            ...obstacle,
            code: "dirty_worktree",
            hint: `Commit the changes first. They are in ${obstacle.details.worktree}`,
          }
        : obstacle,
      repo.name,
    );
  const theirs = new Set(await targets.changedSince(site, from, base));
  const overlap = (await targets.changedSince(site, base, from)).filter((path) => theirs.has(path));
  return { base, move: { site, repo, from, base, tree, overlap } };
}

async function mergedTree(
  hands: Hands,
  { site, repo, from, base }: Omit<Refresh, "tree" | "overlap">,
): Promise<string> {
  const merged = await (await hands.git.merges()).merge(site, from, base);
  if ("tree" in merged) return merged.tree;
  const { conflicts, said } = merged;
  const path = (await hands.git.sites()).locate(site, repo.worktree);
  const where = /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  throw new Failure(
    "refused",
    "unmergeable",
    `${repo.base_branch} and ${repo.branch} of ${repo.name} conflict${conflicts.length > 0 ? ` in ${conflicts.join(", ")}` : `: ${said}`}.`,
    {
      hint: [
        "Nothing was changed. Merge by hand in the worktree:",
        `  git -C ${where} merge ${repo.base_branch}`,
        "  (settle the conflicts)",
        `  git -C ${where} commit`,
      ].join("\n"),
      details: { repo: repo.name, files: conflicts },
    },
  );
}

/** Not fetched here: which base the task returns to is the human's to move. */
async function noteRemote(hands: Hands, site: Site, repo: RunRepo): Promise<string[]> {
  const upstream = await (await hands.git.remotes()).remoteOf(site, repo.base_branch);
  if (!upstream) return [];
  const targets = await hands.git.targets();
  const published = await targets.tip(site, upstream.tracking);
  const base = await targets.tip(site, refOfBranch(repo.base_branch));
  if (!published || !base) return [];
  const { right } = await targets.apart(site, base, published);
  if (right === 0) return [];
  return [
    `${repo.base_branch} of ${repo.name} is ${plural(right, "commit")} behind ${upstream.remote}/${upstream.ref}; a human can get them with git pull --ff-only.`,
  ];
}
