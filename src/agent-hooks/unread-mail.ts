import { join } from "node:path";
import { textIfReadable } from "../files/read.ts";
import { isFor, type Reading } from "../model/mail.ts";
import { firstFew } from "../model/text.ts";
import type { Spot } from "./facts.ts";
import { byNumber, field, namesIn, newestRun, stateOf } from "./work.ts";

/** A message that nobody has acknowledged. */
interface Unread {
  id: string;
  from: string;
}

export function unreadAtStop(spot: Spot, reading: Reading): Unread[] {
  const folder = join(stateOf(spot), "tasks", reading.task, "mail");
  return namesIn(folder)
    .toSorted(byNumber)
    .map((name) => join(folder, name))
    .filter((path) => field(path, "status") === "open" && isFor(addressIn(path), reading))
    .map((path) => ({ id: field(path, "id") ?? "", from: field(path, "actor") ?? "" }));
}

const addressIn = (path: string) => ({ to: field(path, "to") ?? "human", run: field(path, "run") });

/** The run that somebody works in by hand: no agent was ever started for it. */
export function heldRun(spot: Spot, task: string): string | undefined {
  const newest = newestRun(stateOf(spot), task);
  return newest && !/^attempts:/m.test(textIfReadable(newest.path) ?? "") ? newest.id : undefined;
}

export function unreadWords(task: string, unread: readonly Unread[]): string {
  const senders = unread.map(({ id, from }) => `${id} from ${from.slice(0, 60)}`);
  return `Unread mail for ${task}: ${firstFew(senders, 3)}. Read each with \`pawl mail ack ID\` before you stop: it may change what is left to do.`;
}
