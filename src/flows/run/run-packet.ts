import { gatherFacts } from "../../judge/context/gather.ts";
import { assemble } from "../../judge/context/packet.ts";
import { mailText, unreadFor } from "../../judge/mail.ts";
import { packetText, type WorkplaceFacts } from "../../judge/runs/role-words.ts";
import { Failure } from "../../model/failure.ts";
import type { Role } from "../../model/records/attempt.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import { lookAround } from "../context/look-for-context.ts";
import type { Part } from "../start/start-plan.ts";
import { taskName } from "../start/start-records.ts";

/** More than a person would read at once, and a small part of what an agent can hold. */
const BUDGET = 6_000;

export interface PacketWish {
  run: Pick<Run, "id">;
  role: Role;
  parts: readonly Part[];
  message: string | undefined;
  left: string | undefined;
}

/** What an agent reads first: the task as it stands, and every repository that it is about. */
export async function makePacket(hands: Hands, wish: PacketWish): Promise<string> {
  const task = taskName(wish.run.id);
  const places: WorkplaceFacts[] = [];
  for (const part of wish.parts) places.push(await lookAt(hands, part));
  return packetText({
    task,
    run: wish.run.id,
    role: wish.role,
    places,
    context: await contextOf(hands, task, wish.parts[0]),
    message: wish.message,
    left: wish.left,
    mail: await unreadText(hands, wish.run.id),
  });
}

/** Mail for this very run and for its task, whole; undefined where there is none. */
export async function unreadText(hands: Hands, run: string): Promise<string | undefined> {
  const mail = await hands.look((reader) => unreadFor(reader, { task: taskName(run), run }));
  return mail.length === 0 ? undefined : mailText(mail);
}

/** The same packet that `pawl context` gives to somebody who stands in the first worktree. */
async function contextOf(hands: Hands, task: string, first: Part | undefined): Promise<string> {
  const there = first === undefined ? hands : hands.elsewhere(first.place.path);
  const at = await there.situation("read");
  const look = await lookAround(there.world, hands.reader(), task, at);
  return hands.look((reader) => assemble(gatherFacts(reader, task, look), at, BUDGET).text);
}

async function lookAt(hands: Hands, { repo, place }: Part): Promise<WorkplaceFacts> {
  const [branches, worktrees] = [await hands.git.branches(), await hands.git.worktrees()];
  return {
    repo: repo.name,
    path: place.path,
    branch: repo.branch,
    base: repo.base_branch,
    head: branches.tip(repo),
    isDirty: await unlessFailing(() => worktrees.isDirty(place.path)),
    files: (await unlessFailing(() => branches.changes(repo))) ?? [],
  };
}

async function unlessFailing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
