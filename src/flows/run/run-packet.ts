import { gatherFacts } from "../../judge/context/gather.ts";
import { UNSEARCHED } from "../../judge/context/look.ts";
import { assemble } from "../../judge/context/packet.ts";
import { mailText, unreadFor } from "../../judge/mail.ts";
import { packetText, type WorkplaceFacts } from "../../judge/runs/role-words.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import type { Role } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Work } from "../../ports/ports.ts";
import type { Part } from "../start/start-plan.ts";

/** More than a person would read at once, and a small part of what an agent can hold. */
const BUDGET = 6_000;

/** One repository of a task as it is now. What git could not say is undefined. */
export interface SeenPart extends Part {
  head: string | undefined;
  isDirty: boolean | undefined;
  work: Work | undefined;
}

/** Looked at once for everybody who has to know it: git takes longer than all that is made of its answer. */
export async function seeParts(hands: Hands, parts: readonly Part[]): Promise<SeenPart[]> {
  const [branches, worktrees] = [await hands.git.branches(), await hands.git.worktrees()];
  return Promise.all(
    parts.map(async (part) => {
      const { path } = part.place;
      const { world } = hands.elsewhere(path);
      const work = await unlessFailing(() => world.work(part.repo.base_branch, { certain: true }));
      // What is only to be shown has little patience; whether there is anything at all is written down.
      const isDirty = work ? work.uncommitted.length > 0 : await unlessFailing(() => worktrees.isDirty(path));
      return { ...part, head: branches.tip(part.repo), isDirty, work };
    }),
  );
}

export interface PacketWish {
  run: Pick<Run, "id">;
  role: Role;
  parts: readonly SeenPart[];
  message: string | undefined;
  left: string | undefined;
}

/** What an agent reads first: the task as it stands, and every repository that it is about. */
export async function makePacket(hands: Hands, wish: PacketWish): Promise<string> {
  const task = taskOf(wish.run.id);
  return packetText({
    task,
    run: wish.run.id,
    role: wish.role,
    places: wish.parts.map(
      ({ repo, place, head, isDirty, work }): WorkplaceFacts => ({
        repo: repo.name,
        path: place.path,
        branch: repo.branch,
        base: repo.base_branch,
        head,
        isDirty,
        files: work?.committed ?? [],
      }),
    ),
    context: await contextOf(hands, task, wish.parts[0]),
    message: wish.message,
    left: wish.left,
    mail: await unreadText(hands, wish.run.id),
  });
}

/** Mail for this very run and for its task, whole; undefined where there is none. */
export async function unreadText(hands: Hands, run: string): Promise<string | undefined> {
  const mail = await hands.look((reader) => unreadFor(reader, { task: taskOf(run), run }));
  return mail.length === 0 ? undefined : mailText(mail);
}

/**
 * What `pawl context` gives to somebody who stands in the first worktree, but for what only a search would find: opening
 * its index takes longer than all of this, and whoever reads it can ask for it.
 */
async function contextOf(hands: Hands, task: string, first: SeenPart | undefined): Promise<string> {
  const at = await (first === undefined ? hands : hands.elsewhere(first.place.path)).situation("read");
  // A role without a worktree is shown the state of the checkout it runs in.
  const { work, isDirty } = first ?? (await seeHere(hands));
  const changed = work ? [...new Set([...work.committed, ...work.uncommitted])].sort() : [];
  const look = { ...UNSEARCHED, isDirty, changed };
  return hands.look((reader) => assemble(gatherFacts(reader, task, look), at, BUDGET).text);
}

async function seeHere({ world }: Hands): Promise<Pick<SeenPart, "work" | "isDirty">> {
  const here = await unlessFailing(() => world.work(undefined));
  return { work: undefined, isDirty: here && here.uncommitted.length > 0 };
}

async function unlessFailing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
