import { Failure } from "../../model/failure.ts";
import { snapshotRef } from "../../model/naming.ts";
import { approval, type Run, type RunSnapshot } from "../../model/records/run.ts";
import { plural, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Content, FoundWorktree, RemovalLook, RepositoryLook } from "../../ports/worktrees.ts";
import { partsOf } from "../start/start-carry-out.ts";
import type { Part } from "../start/start-plan.ts";
import { tellAll } from "../tell-all.ts";

/** One repository's part of a run that is about to end. */
export interface Ending extends Part {
  now: FoundWorktree;
  /** Where the task's branch is; undefined when it is gone. */
  tip: string | undefined;
  /** The base has everything that the branch has. */
  merged: boolean;
  /** What is in the worktree; undefined when it is gone, going, or none of our business. */
  content: Content | undefined;
  ignored: number;
  /** Remotes that have the branch, and all of the base as well: a pull request leaves it there. As far as they were fetched. */
  published: string[];
}

/** `leaving`: a removal by somebody who stands in the worktree and is about to leave it. */
type Ways = "keeping" | "removing" | "leaving";

/** Looks at all repositories and reports everything that forbids a removal, before anything changes. */
export async function lookAtEnd(hands: Hands, value: Run, way: Ways): Promise<Ending[]> {
  const endings: Ending[] = [];
  const refusals: Failure[] = [];
  for (const part of await partsOf(hands, value))
    try {
      endings.push(await lookAtPart(hands, part, way));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refusals.push(error);
    }
  tellAll(refusals);
  return endings;
}

async function lookAtPart(hands: Hands, part: Part, way: Ways): Promise<Ending> {
  const worktrees = await hands.git.worktrees();
  const { place, repo } = part;
  const look = await worktrees.look(place.site);
  const now = worktrees.whereabouts(place);
  const tip = look.heads.get(repo.branch);
  const merged = tip !== undefined && (await isMerged(hands, part, look, tip));
  const ending: Ending = {
    ...part,
    now,
    tip,
    merged,
    content: undefined,
    ignored: 0,
    published: await publishedOn(hands, part, look),
  };
  if (way === "keeping" || repo.adopted || now.state === "gone" || now.state === "doomed") return ending;
  const { worktree } = now;
  const before = await worktrees.beforeRemoval(place.site, worktree, way === "leaving");
  refuseBusy(part, before, worktree.lock);
  if (worktree.branch !== repo.branch) throw otherBranch(part, worktree.branch);
  return { ...ending, ignored: before.ignored, content: await worktrees.content(worktree.path) };
}

async function publishedOn(hands: Hands, { place, repo }: Part, look: RepositoryLook): Promise<string[]> {
  const worktrees = await hands.git.worktrees();
  const base = look.heads.get(repo.base_branch);
  const found: string[] = [];
  for (const name of look.remotes.keys()) {
    if (!name.endsWith(`/${repo.branch}`)) continue;
    const remote = name.slice(0, -repo.branch.length - 1);
    const theirs = look.remotes.get(`${remote}/${repo.base_branch}`);
    if (base && theirs && (await worktrees.contains(place.site, base, theirs))) found.push(remote);
  }
  return found;
}

/** What the remote has is safe as well, even if nobody has brought it into the local branch yet. */
async function isMerged(
  hands: Hands,
  { place, repo }: Part,
  look: RepositoryLook,
  tip: string,
): Promise<boolean> {
  const worktrees = await hands.git.worktrees();
  const remote = [...look.remotes].filter(([name]) => name.slice(name.indexOf("/") + 1) === repo.base_branch);
  const bases = [look.heads.get(repo.base_branch), ...remote.map(([, commit]) => commit)];
  const squashes = await hands.look((reader) => squashesOf(reader, place.task, repo.name, tip));
  for (const base of bases)
    for (const commit of [tip, ...squashes])
      if (base !== undefined && (await worktrees.contains(place.site, commit, base))) return true;
  return false;
}

/** What approvals made of exactly this tip, with its very tree. */
const squashesOf = (reader: Reader, task: string, repo: string, tip: string): string[] =>
  reader
    .parts(approval, task)
    .records.flatMap(({ value }) => (value.status === "merged" ? value.repos : []))
    .filter((one) => one.name === repo && one.head === tip && one.style === "squash")
    .map((one) => one.new);

const themIn = ({ processes }: RemovalLook) => (processes.length === 1 ? "it" : "them");

function refuseBusy({ place, repo }: Part, before: RemovalLook, lock: string | undefined): void {
  const details = { repo: repo.name, worktree: place.path };
  if (before.standing)
    throw new Failure("refused", "standing_in_it", `You are in ${place.path}, which would be removed.`, {
      hint: `cd ${quoted(place.site.mainRoot ?? place.site.commonDir)}`,
      details,
    });
  if (before.operation !== undefined)
    throw new Failure("refused", "worktree_busy", `There is ${before.operation} in ${place.path}.`, {
      hint: `Finish it there first: git -C ${quoted(place.path)} status`,
      details: { ...details, operation: before.operation },
    });
  if (before.processes.length > 0)
    throw new Failure(
      "refused",
      "worktree_busy",
      `${before.processes.join(", ")} ${before.processes.length === 1 ? "runs" : "run"} in ${place.path}.`,
      {
        hint: `Stop ${themIn(before)} or move ${themIn(before)} elsewhere, then: pawl finish ${place.task} --remove --reason "…"`,
        details: { ...details, processes: before.processes },
      },
    );
  if (before.nested.length > 0)
    throw new Failure(
      "refused",
      "repository_inside",
      `${place.path} has ${plural(before.nested.length, "repository", "repositories")} inside: ${before.nested.join(", ")}`,
      {
        hint: "Move what you need out of the worktree, or keep the worktree: --keep",
        details: { ...details, nested: before.nested },
      },
    );
  if (before.submodules.length > 0)
    throw new Failure(
      "refused",
      "submodules_inside",
      `${place.path} has ${plural(before.submodules.length, "submodule")} with a repository of its own.`,
      {
        hint: `Commits that exist only there are not saved. Push them, then: git -C ${quoted(place.path)} submodule deinit --all`,
        details: { ...details, submodules: before.submodules },
      },
    );
  if (lock !== undefined && lock !== "initializing" && !lock.startsWith(`pawl ${place.task}`))
    throw new Failure(
      "refused",
      "worktree_locked",
      `${place.path} is locked: ${lock || "no reason given"}.`,
      {
        hint: `If the lock is no longer needed: git worktree unlock ${quoted(place.path)}`,
        details: { ...details, lock },
      },
    );
}

function otherBranch({ place, repo }: Part, found: string | undefined): Failure {
  const what = found === undefined ? "no branch" : found;
  return new Failure(
    "refused",
    "other_branch",
    `${place.path} has ${what} checked out, not ${repo.branch}.`,
    {
      hint: `Go back to the task's branch: git -C ${quoted(place.path)} switch ${repo.branch}`,
      details: { repo: repo.name, worktree: place.path, branch: repo.branch, found },
    },
  );
}

/** The snapshot that holds this content and these commits, if the repository really keeps it. */
export async function savedAs(hands: Hands, value: Run, ending: Ending): Promise<RunSnapshot | undefined> {
  const worktrees = await hands.git.worktrees();
  const saved = value.snapshots.find((one) => one.repo === ending.repo.name);
  if (!saved?.whole) return undefined;
  const { content, place } = ending;
  if (content && (!content.whole || content.tree !== saved.tree || content.head !== saved.head))
    return undefined;
  const ref = snapshotRef(value.id);
  return (await worktrees.isKept(place.site, ref, saved.commit, saved.tree)) ? saved : undefined;
}
