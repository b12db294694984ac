import { type Choice, type Conflict, type Judgement, judge } from "../../judge/sync/judge-sync.ts";
import { Failure } from "../../model/failure.ts";
import { shorten } from "../../model/ids.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { BothTips, Renumbered, StateExchange } from "../../ports/state-exchange.ts";
import { agreeToPublish } from "./first-publish.ts";

const MOST_ATTEMPTS = 20;

export interface Exchanged {
  remote: string;
  /** Files that came from there as they are. */
  received: number;
  /** Records that both sides had changed. */
  merged: string[];
  settled: string[];
  /** Records of ours that got other ids, because theirs were published first. */
  renumbered: Renumbered[];
  sent: boolean;
}

export const nothingYet = (remote: string): Exchanged => ({
  remote,
  received: 0,
  merged: [],
  settled: [],
  renumbered: [],
  sent: false,
});

/** Whose version counts where both changed a record, and whether a human has agreed to a first publication. */
export interface Wish extends Choice {
  agreed?: boolean;
}

/** Fetches, merges and pushes the state until both sides have the same. */
export async function exchangeState(
  hands: Hands,
  git: StateExchange,
  remote: string,
  choice: Wish = { ours: new Set(), theirs: new Set() },
): Promise<Exchanged> {
  const done = nothingYet(remote);
  await bringBackTaken(hands, git);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++)
    if (await exchangeOnce(hands, git, choice, done)) return done;
  throw new Failure("conflict", "sync_busy", `The state kept changing on ${remote} or here.`, {
    hint: "Nothing was lost. Run the command again.",
    details: { remote },
  });
}

/** One round; false when somebody was faster here or there, and it has to be begun again. */
export async function exchangeOnce(
  hands: Hands,
  git: StateExchange,
  choice: Wish,
  done: Exchanged,
): Promise<boolean> {
  const { remote } = done;
  const tips = await git.gather(remote, hands.say);
  if (!(await join(hands, git, tips, choice, done))) return false;
  if (tips.theirs === undefined || git.isHeldBack())
    await agreeToPublish(hands, git, remote, choice.agreed ?? false);
  const published = await git.publish(remote, tips, hands.say);
  done.sent ||= published === "pushed";
  return published !== "behind";
}

/** Merges their records into ours, and the histories with them; false when somebody was faster. */
async function join(
  hands: Hands,
  git: StateExchange,
  tips: BothTips,
  choice: Choice,
  done: Exchanged,
): Promise<boolean> {
  const comparison = await git.compare(tips);
  const found = await hands.look((reader, at) => judge(reader, comparison, choice, at), "write");
  if (found.conflicts.length > 0) throw conflictFailure(git, done.remote, tips, found);
  const { merged } = found;
  if (found.twice.length > 0) {
    const moved = await git.renumber(comparison, found.twice, await hands.situation("write"));
    done.renumbered.push(...(moved ?? []));
    if (moved === undefined || moved.length > 0) return false;
  }
  if (!(await git.apply(merged, await hands.situation("write")))) return false;
  done.received += comparison.incoming.length + merged.taken.length;
  done.merged.push(
    ...merged.texts.flatMap((one) => (one.record && !found.settled.includes(one.record) ? [one.record] : [])),
  );
  done.settled.push(...found.settled);
  return true;
}

/**
 * Somebody took the branch of the records back, with git, behind what pawl had committed: that comes again as if another
 * clone had it, beside whatever was written since. What was done is answered; undefined where nobody did.
 */
export async function bringBackTaken(
  hands: Hands,
  git: StateExchange,
  choice: Choice = { ours: new Set(), theirs: new Set() },
): Promise<Exchanged | undefined> {
  const done = nothingYet(BEFORE);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const tips = await git.takenBack();
    if (!tips) return attempt === 1 ? undefined : done;
    await join(hands, git, tips, choice, done);
  }
  throw new Failure("conflict", "sync_busy", "The state kept changing here.", {
    hint: "Nothing was lost. Run the command again.",
  });
}

/** What is called a remote where both sides are this clone's. */
export const BEFORE = "what this clone had";

export const tellBack = ({ received, merged }: Exchanged) =>
  `The records that were taken back are here again: ${plural(received, "file")} restored, ${plural(merged.length, "record")} merged.`;

function conflictFailure(
  git: StateExchange,
  remote: string,
  { theirs = "" }: BothTips,
  { conflicts }: Judgement,
): Failure {
  const twice = conflicts.every((one) => one.reason === "id_taken_twice");
  const [first] = conflicts;
  const lines = conflicts.map((one) => `  ${describe(one)}`).join("\n");
  return new Failure(
    "conflict",
    twice ? "id_taken_twice" : "sync_conflict",
    `${plural(conflicts.length, "record")} cannot be merged with ${remote} automatically:\n${lines}`,
    {
      hint: [
        "Nothing was changed here or there. Look at the other version of each:",
        ...conflicts.flatMap((one) =>
          one.paths.map((path) => `  ${git.showFile(theirs.slice(0, 12), path)}`),
        ),
        `Edit yours to say what it should and keep it: pawl sync --ours ${first?.record}`,
        `Or take the other version: pawl sync --theirs ${first?.record}`,
      ].join("\n"),
      details: { remote, conflicts },
    },
  );
}

function describe({ record, reason, clashes, paths }: Conflict): string {
  const show = (value: unknown) =>
    shorten(typeof value === "string" ? value : JSON.stringify(value ?? "none"), 60);
  const told = clashes.filter((one) => one.field !== "created" && one.field !== "commit").slice(0, 3);
  const differences = told.map(
    (one) => `${one.field}: ours "${show(one.ours)}", theirs "${show(one.theirs)}"`,
  );
  const why =
    reason === "id_taken_twice"
      ? "two records have the same id"
      : reason === "unreadable"
        ? "one version cannot be read"
        : "changed on both sides";
  return `${record}  ${why}${differences.length > 0 ? `; ${differences.join("; ")}` : ` (${paths.join(", ")})`}`;
}
