import * as z from "zod/mini";
import { exchangeClaims } from "../flows/claims/exchange-claims.ts";
import { confirmTyped, expectTerminal, refuseAgents } from "../flows/human-only.ts";
import { knowRepositories } from "../flows/start/know-repositories.ts";
import { exchangeOnce, exchangeState } from "../flows/sync/exchange.ts";
import { outline } from "../flows/sync/first-publish.ts";
import { notePublished } from "../flows/sync/note-published.ts";
import { signAtTheDoor } from "../flows/trust/at-the-door.ts";
import { type Choice, recordName } from "../judge/sync/judge-sync.ts";
import { Failure } from "../model/failure.ts";
import { line, many, maybe, raw } from "../model/input.ts";
import { plural } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import type { StateExchange } from "../ports/state-exchange.ts";
import { procedure } from "./operation.ts";

export const sync = procedure({
  id: "sync",
  summary: "Exchange the state with the project's remote, so that every clone has it",
  details:
    "Fetches, merges and pushes the state's branch pawl/state. Records are merged field by field if each field\nchanged in one clone only; event logs never conflict. If both clones changed a record differently, sync shows\nit and writes nothing: edit yours to say what it should and keep it with --ours, or take the other with\n--theirs. Both are a human's decision, typed on a terminal, and what was not taken stays in the state's\nhistory. If both gave the same id to different records, ours gets the next free one. A fresh clone gets its\nstate back with this command. If the remote is trusted, sync also exchanges who has claimed which task.",
  examples: ["pawl sync", "pawl sync --remote upstream", "pawl sync --ours T7 --theirs T9/F1"],
  access: "write",
  input: z.strictObject({
    remote: maybe(line("a remote other than origin", "NAME")),
    ours: many(line("keep this record as it is here", "RECORD")),
    theirs: many(line("take this record as the remote has it", "RECORD")),
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
    const remote = await git.remote(input.remote);
    const choice = choiceOf(input);
    // What one side loses may be a finding or a review: that is no decision for whoever wrote the work.
    if (choice.ours.size + choice.theirs.size > 0)
      await confirmChoice(hands, git, remote, choice, input.sign_with);
    await notePublished(hands);
    const done = await exchangeState(hands, git, remote, choice);
    if (await takeName(hands, git)) await exchangeOnce(hands, git, choice, done);
    const claimed = await exchangeClaims(hands, remote);
    const unused = [...choice.ours, ...choice.theirs].filter((record) => !done.settled.includes(record));
    return {
      data: { sync: done },
      warnings: [
        ...unused.map((record) => `${record} was not in conflict, so there was nothing to choose.`),
        ...claimed,
      ],
    };
  },

  text({ sync: done }, style) {
    const { remote, received, merged, settled, renumbered, sent } = done;
    if (received === 0 && merged.length === 0 && settled.length === 0 && !sent)
      return `Nothing to do: ${remote} has the same state.`;
    const parts = [
      received > 0 && `${plural(received, "file")} came`,
      merged.length > 0 && `${merged.join(", ")} merged`,
      renumbered.length > 0 &&
        `ours got new ids where theirs were published first: ${renumbered.map(({ from, to }) => `${from} is ${to}`).join(", ")}`,
      settled.length > 0 && `${settled.join(", ")} settled`,
      sent && "ours were sent",
    ].filter(Boolean);
    return `Exchanged the state with ${style.bold(remote)}: ${parts.join(", ")}.`;
  },
});

/** A human at a terminal, whoever has no agent's signs; and the human's key, where decisions are signed. */
async function confirmChoice(
  hands: Hands,
  git: StateExchange,
  remote: string,
  choice: Choice,
  signWith: string | undefined,
): Promise<void> {
  await refuseAgents(hands, "settle a conflict between two clones");
  await expectTerminal(hands);
  const keep = { ours: [...choice.ours].sort(), theirs: [...choice.theirs].sort() };
  for (const record of keep.ours) hands.say(`${record}: the version of ${remote} will not count.`);
  for (const record of keep.theirs) hands.say(`${record}: this clone's version will not count.`);
  const [first = ""] = [...keep.ours, ...keep.theirs];
  await confirmTyped(hands, `Type ${first} to settle it like this: `, first);
  const home = (await hands.git.sites()).all().find((one) => one.home);
  if (!home) return;
  const { ours, theirs } = await git.gather(remote, hands.say);
  const decided = { about: "settle", ours, theirs, keep_ours: keep.ours, keep_theirs: keep.theirs } as const;
  const reason = [
    ...keep.ours.map((record) => `${record} was kept as it is here`),
    ...keep.theirs.map((record) => `${record} was taken as ${remote} has it`),
  ].join("; ");
  await signAtTheDoor(hands, home, { decided, reason }, signWith);
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
