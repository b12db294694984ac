import * as z from "zod/mini";
import { exchangeClaims } from "../flows/claims/exchange-claims.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { knowRepositories } from "../flows/start/know-repositories.ts";
import {
  BEFORE,
  bringBackTaken,
  exchangeOnce,
  exchangeState,
  nothingYet,
  tellBack,
  type Wish,
} from "../flows/sync/exchange.ts";
import { outline } from "../flows/sync/first-publish.ts";
import { notePublished } from "../flows/sync/note-published.ts";
import { signAtTheDoor } from "../flows/trust/at-the-door.ts";
import { type Choice, judge, recordName } from "../judge/sync/judge-sync.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, many, maybe, raw } from "../model/input.ts";
import { plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { BothTips, StateExchange } from "../ports/state-exchange.ts";
import { procedure } from "./operation.ts";

export const sync = procedure({
  id: "sync",
  summary: "Exchange the state with the project's remote, so that every clone has it",
  details:
    "Fetches, merges and pushes the state's branch pawl/state. Before the first push it says what it will publish\nand where, and asks; without a terminal, --yes is the answer. Records are merged field by field if each field\nchanged in one clone only; event logs never conflict. If both clones changed a record differently, sync shows\nit and writes nothing: edit yours to say what it should and keep it with --ours, or take the other with\n--theirs. Both are a human's decision, typed on a terminal, and what was not taken stays in the state's\nhistory. If both gave the same id to different records, ours gets the next free one. A fresh clone gets its\nstate back with this command. If the remote is trusted, sync also exchanges who has claimed which task.",
  examples: [
    "pawl sync",
    "pawl sync --dry-run",
    "pawl sync --yes",
    "pawl sync --remote upstream",
    "pawl sync --ours T7 --theirs T9/F1",
  ],
  access: "write",
  input: z.strictObject({
    remote: maybe(line("a remote other than origin", "NAME")),
    ours: many(line("keep this record as it is here", "RECORD")),
    theirs: many(line("take this record as the remote has it", "RECORD")),
    yes: flag("publish without asking, for scripts and CI"),
    sign_with: maybe(raw("sign with this key, if the policy requires a signature", "FILE")),
  }),

  async rehearse(hands, input) {
    const git = await hands.git.stateExchange();
    const remote = await git.remote(input.remote);
    return [
      { do: "fetch and merge", path: `pawl/state of ${remote}` },
      { do: "publish", path: await outline(hands, git, remote) },
    ];
  },

  async perform(hands, input) {
    const git = await hands.git.stateExchange();
    const choice = { ...choiceOf(input), agreed: input.yes ?? false };
    const remote = await chooseRemote(git, input.remote);
    const confirm = (side: OtherSide) => confirmChoice(hands, git, side, choice, input.sign_with);
    await confirm({ name: BEFORE, tips: () => git.takenBack() });
    const back = await bringBackTaken(hands, git, choice);
    if (remote !== undefined) await confirm({ name: remote, tips: () => git.gather(remote, hands.say) });
    const { done, claimed } = remote === undefined ? ALONE : await exchange(hands, git, remote, choice);
    const settled = [...(back?.settled ?? []), ...done.settled];
    const unused = [...choice.ours, ...choice.theirs].filter((record) => !settled.includes(record));
    return {
      data: { sync: { ...done, settled } },
      warnings: [
        ...(back ? [tellBack(back)] : []),
        ...unused.map((record) => `${record} was not in conflict, so there was nothing to choose.`),
        ...claimed,
      ],
    };
  },

  text({ sync: done }, style) {
    const { remote, received, merged, settled, renumbered, sent } = done;
    if (received === 0 && merged.length === 0 && settled.length === 0 && !sent)
      return `Nothing to do: ${remote} has the same state.`;
    const others = received + merged.length + settled.length + renumbered.length;
    if (sent && others === 0) return `Sent this clone's records to ${style.bold(remote)}.`;
    const parts = [
      received > 0 && `${plural(received, "file")} came`,
      merged.length > 0 && `${merged.join(", ")} merged`,
      renumbered.length > 0 &&
        `ours got new ids where theirs were published first: ${renumbered.map(({ from, to }) => `${from} is ${to}`).join(", ")}`,
      settled.length > 0 && `${settled.join(", ")} settled`,
      sent && "this clone's were sent",
    ].filter(Boolean);
    return `Exchanged records with ${style.bold(remote)}: ${parts.join(", ")}.`;
  },
});

/** Undefined where there is none, but what this clone itself had has to be brought back all the same. */
async function chooseRemote(git: StateExchange, named: string | undefined): Promise<string | undefined> {
  try {
    return await git.remote(named);
  } catch (error) {
    const isAlone = error instanceof Failure && error.code === "no_remote" && named === undefined;
    if (isAlone && (await git.takenBack())) return undefined;
    throw error;
  }
}

const ALONE = { done: nothingYet(BEFORE), claimed: [] };

async function exchange(hands: Hands, git: StateExchange, remote: string, choice: Wish) {
  await notePublished(hands);
  const done = await exchangeState(hands, git, remote, choice);
  if (await takeName(hands, git)) await exchangeOnce(hands, git, choice, done);
  return { done, claimed: await exchangeClaims(hands, remote) };
}

/** Whose records ours are brought together with. */
interface OtherSide {
  name: string;
  tips(): Promise<BothTips | undefined>;
}

/**
 * A human at a terminal, whoever has no agent's signs; and the human's key, where decisions are signed. What one side
 * loses may be a finding or a review: whoever wrote the work must not decide that.
 */
async function confirmChoice(
  hands: Hands,
  git: StateExchange,
  { name, tips }: OtherSide,
  choice: Choice,
  signWith: string | undefined,
): Promise<void> {
  if (choice.ours.size + choice.theirs.size === 0) return;
  await refuseAgents(hands, "settle a conflict between two clones");
  await expectTerminal(hands);
  const open = await openConflicts(hands, git, await tips());
  const inConflict = (records: ReadonlySet<string>) => [...records].filter((one) => open.has(one)).sort();
  const keep = { ours: inConflict(choice.ours), theirs: inConflict(choice.theirs) };
  // A choice that is not needed is not signed either; sync says so.
  if (keep.ours.length + keep.theirs.length === 0) return;
  for (const record of keep.ours) hands.say(`${record}: the version of ${name} will not count.`);
  for (const record of keep.theirs) hands.say(`${record}: this clone's version will not count.`);
  const [first = ""] = [...keep.ours, ...keep.theirs];
  await confirmTyped(hands, `Type ${first} to settle it like this: `, first);
  const home = (await hands.git.sites()).all().find((one) => one.home);
  if (!home) return;
  const { ours, theirs } = (await tips()) ?? { ours: undefined, theirs: undefined };
  const decided = { about: "settle", ours, theirs, keep_ours: keep.ours, keep_theirs: keep.theirs } as const;
  const reason = [
    ...keep.ours.map((record) => `${record} was kept as it is here`),
    ...keep.theirs.map((record) => `${record} was taken as ${name} has it`),
  ].join("; ");
  await signAtTheDoor(hands, home, { decided, reason }, signWith);
}

/** The records that only a human can settle. */
async function openConflicts(
  hands: Hands,
  git: StateExchange,
  tips: BothTips | undefined,
): Promise<ReadonlySet<string>> {
  if (!tips) return new Set();
  const comparison = await git.compare(tips);
  const none: Choice = { ours: new Set(), theirs: new Set() };
  const { conflicts } = await hands.look((reader, at) => judge(reader, comparison, none, at), "write");
  return new Set(conflicts.map((one) => one.record));
}

function choiceOf(input: { ours?: string[] | undefined; theirs?: string[] | undefined }): Choice {
  const ours = new Set((input.ours ?? []).map(recordName));
  const theirs = new Set((input.theirs ?? []).map(recordName));
  const twice = [...ours].find((record) => theirs.has(record));
  if (twice === undefined) return { ours, theirs };
  throw new Failure("usage", "both_chosen", `${twice} is named with --ours and with --theirs.`, {
    hint: "Choose one of them.",
    details: { field: "theirs" },
  });
}

/**
 * A clone's folder may have any name. Records know the repository by the one it had first; where this clone has gone
 * by another one already, that is written down as well. True when there is something new to send.
 */
async function takeName(hands: Hands, git: StateExchange): Promise<boolean> {
  const mine = (await hands.git.sites()).all().find((one) => one.home);
  if (!mine) return false;
  const { homes, used } = await hands.look((reader) => ({
    homes: reader.repositories().records.flatMap((one) => (one.value.home ? [one.value.id] : [])),
    used: reader
      .taskNames()
      .some((id) => reader.hasTask(id) && reader.task(id).value.repos.includes(mine.name)),
  }));
  if (homes.includes(mine.name)) return false;
  if (homes[0] !== undefined && !used) {
    await git.adoptName(homes[0]);
    return false;
  }
  const { effects } = await hands.record((reader, at) => ({
    data: undefined,
    effects: knowRepositories(reader, [mine], at),
  }));
  return (effects?.length ?? 0) > 0;
}
