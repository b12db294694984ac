import { change } from "../../judge/change.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, type RunRepo, run } from "../../model/records/run.ts";
import { quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import type { KnownWorktree } from "../../ports/worktrees.ts";
import { setUp } from "./set-up.ts";
import { answer, partsOf, type Started } from "./start-carry-out.ts";
import { checkHolder } from "./start-holder.ts";
import type { Part } from "./start-plan.ts";
import { recordRunning } from "./start-records.ts";

/** A part whose folder is gone, and what it can be made from again. */
interface Lost extends Part {
  entry: KnownWorktree | undefined;
  /** The branch exists; otherwise it is created at this commit. */
  commit: string | undefined;
}

/** Takes over the worktrees of a run whose holder is gone, and makes those again that were deleted. */
export async function claim(hands: Hands, value: Run): Promise<Plan<Started>> {
  await checkHolder(hands, value);
  const { parts, lost } = await lookForLost(hands, value);
  const from = value.holder;
  if (lost.length > 0) await announce(hands, value, lost);
  const worktrees = await hands.git.worktrees();
  const warnings: string[] = [];
  for (const { place, entry, commit } of lost) {
    hands.say(`${place.site.name}: ${place.branch} again in ${place.path}`);
    if (entry) await worktrees.forget(place.site, entry);
    if (commit !== undefined) await worktrees.makeBranch(place, commit);
    warnings.push(...(await worktrees.build(place)));
  }
  for (const { place } of parts) await worktrees.bind(place);
  const repos = parts.map(({ repo }) => ({
    ...repo,
    adopted: repo.adopted && !lost.some((one) => one.repo.name === repo.name),
  }));
  const { data } = await hands.record(
    (reader, at) =>
      recordRunning(reader, at, value.id, `claimed from ${from}`, {
        repos,
        ended: undefined,
        reason: undefined,
      }),
    { phase: "after", milestone: `${value.id}: claimed from ${from}` },
  );
  for (const { place } of parts) worktrees.noteHolder(place, data.run.holder);
  warnings.push(...(await setUp(hands, lost)));
  return answer(data, parts, warnings);
}

async function announce(hands: Hands, value: Run, lost: readonly Lost[]): Promise<void> {
  const about = `recreating ${lost.map((one) => one.repo.worktree).join(", ")}`;
  await hands.record(
    (reader, at) => {
      const stored = reader.part(run, taskOf(value.id), partOf(value.id));
      return { data: {}, effects: [change(run, stored, { holder: at.actor }, at, about).effect] };
    },
    { phase: "before" },
  );
}

async function lookForLost(hands: Hands, value: Run): Promise<{ parts: Part[]; lost: Lost[] }> {
  const worktrees = await hands.git.worktrees();
  const sites = await hands.git.sites();
  const parts: Part[] = [];
  const lost: Lost[] = [];
  for (const part of await partsOf(hands, value)) {
    const { place, repo } = part;
    const look = await worktrees.look(place.site);
    const now = worktrees.whereabouts(place);
    if (now.state === "aside") await worktrees.bringBack(place);
    const moved = look.worktrees.find((one) => one.branch === repo.branch && one.present);
    if (now.state === "in place") checkWorkplace(part, now);
    if (now.state === "in place" || now.state === "aside") parts.push(part);
    else if (now.state === "gone" && moved) {
      // Somebody moved it with git; it is the same worktree in another place.
      const worktree = sites.relate(place.site, moved.path);
      parts.push({ repo: { ...repo, worktree }, place: { ...place, path: moved.path } });
    } else {
      const again = {
        ...part,
        entry: now.worktree,
        commit: madeFrom(value, repo, look.heads.get(repo.branch)),
      };
      lost.push(again);
      parts.push(again);
    }
  }
  return { parts: parts.map(({ repo, place }) => ({ repo, place })), lost };
}

/** The claimant will work there, so it must be the task's worktree with the task's branch checked out. */
function checkWorkplace(
  { place, repo }: Part,
  { worktree, linked }: { worktree: KnownWorktree; linked: boolean },
): void {
  const details = { repo: repo.name, worktree: place.path, branch: repo.branch };
  if (!linked)
    throw new Failure(
      "refused",
      "worktree_broken",
      `${place.path} exists, but it is not a worktree of ${repo.name}.`,
      {
        hint: "Move the folder away, then claim again: the worktree is recreated from its branch.",
        details,
      },
    );
  if (worktree.branch === undefined || worktree.branch === repo.branch) return;
  throw new Failure(
    "refused",
    "other_branch",
    `${place.path} has ${worktree.branch} checked out, not ${repo.branch}.`,
    {
      hint: `If that is the task's branch under another name: git -C ${quoted(place.path)} branch -m ${quoted(repo.branch)}. Otherwise go back to it with git switch.`,
      details,
    },
  );
}

function madeFrom(value: Run, repo: RunRepo, tip: string | undefined): string | undefined {
  if (tip !== undefined) return undefined;
  const saved = value.snapshots.find((one) => one.repo === repo.name);
  if (saved) return saved.commit;
  const task = taskOf(value.id);
  throw new Failure(
    "refused",
    "branch_gone",
    `${repo.branch} of ${repo.name} is gone, and nothing of it was saved.`,
    {
      hint: `If you know its last commit: git branch ${quoted(repo.branch)} <commit>. Otherwise end the run: pawl finish ${task} --remove --reason "lost"`,
      details: { run: value.id, repo: repo.name, branch: repo.branch },
    },
  );
}
