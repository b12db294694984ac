import * as z from "zod/mini";
import { Failure } from "../core/failure.ts";
import type { StateExchange } from "../core/git/state-exchange.ts";
import type { Hands } from "../core/hands.ts";
import { shorten } from "../core/ids.ts";
import { line, many, maybe } from "../core/input.ts";
import { procedure } from "../core/operation.ts";
import { type Choice, type Conflict, type Judgement, judge, recordName } from "../core/sync/judge.ts";
import { plural } from "../core/text.ts";

export const sync = procedure({
  id: "sync",
  summary: "Exchange the state with the project's own remote, so that every clone has it",
  details:
    "The state's branch pawl/state is fetched, merged and pushed. Records are merged field by field where each field\nwas changed in one clone only; event logs never conflict. A record that both changed in different ways is shown and\nnothing is written: edit yours to what it shall say and keep it with --ours, or take the other with --theirs. What\nwas not taken stays in the state's history. A fresh clone gets its state back with this command.",
  examples: ["pawl sync", "pawl sync --remote upstream", "pawl sync --ours T7 --theirs T9/F1"],
  access: "write",
  input: z.strictObject({
    remote: maybe(line("another remote than origin", "NAME")),
    ours: many(line("keep this record as it is here", "RECORD")),
    theirs: many(line("take this record as the remote has it", "RECORD")),
  }),

  async rehearse(hands, input) {
    const remote = await (await hands.git.stateExchange()).remote(input.remote);
    return [{ do: "fetch, merge and push", path: `pawl/state with ${remote}` }];
  },

  async perform(hands, input) {
    const git = await hands.git.stateExchange();
    const remote = await git.remote(input.remote);
    const choice = choiceOf(input);
    const done: Exchanged = { remote, received: 0, merged: [], settled: [], sent: false };
    for (let attempt = 1; ; attempt++) {
      if (await exchange(hands, git, choice, done)) break;
      if (attempt === MOST_ATTEMPTS)
        throw new Failure("conflict", "sync_busy", `Others kept changing the state on ${remote} or here.`, {
          hint: "Nothing was lost. Run the command again.",
          details: { remote },
        });
    }
    await takeName(hands, git);
    const unused = [...choice.ours, ...choice.theirs].filter((record) => !done.settled.includes(record));
    return {
      data: { sync: done },
      warnings: unused.map((record) => `${record} was not in conflict; nothing had to be chosen.`),
    };
  },

  text({ sync: done }, style) {
    const { remote, received, merged, settled, sent } = done;
    if (received === 0 && merged.length === 0 && settled.length === 0 && !sent)
      return `Nothing to do: ${remote} has the same state.`;
    const parts = [
      received > 0 && `${plural(received, "file")} came`,
      merged.length > 0 && `${merged.join(", ")} merged`,
      settled.length > 0 && `${settled.join(", ")} settled`,
      sent && "ours were sent",
    ].filter(Boolean);
    return `Exchanged the state with ${style.bold(remote)}: ${parts.join(", ")}.`;
  },
});

const MOST_ATTEMPTS = 20;

interface Exchanged {
  remote: string;
  /** Files that came from there as they are. */
  received: number;
  /** Records that both sides had changed. */
  merged: string[];
  settled: string[];
  sent: boolean;
}

/** One round; false when somebody was faster here or there, and it has to be begun again. */
async function exchange(hands: Hands, git: StateExchange, choice: Choice, done: Exchanged): Promise<boolean> {
  const { remote } = done;
  const tips = await git.gather(remote, hands.say);
  const comparison = await git.compare(tips);
  const found = await hands.look((reader, at) => judge(reader, comparison, choice, at), "write");
  if (found.conflicts.length > 0) throw conflictFailure(git, remote, found);
  const { merged } = found;
  if (!(await git.apply(merged, await hands.situation("write")))) return false;
  done.received += comparison.incoming.length + merged.taken.length;
  done.merged.push(...merged.texts.flatMap((one) => (one.record && !found.settled.includes(one.record) ? [one.record] : [])));
  done.settled.push(...found.settled);
  const published = await git.publish(remote, tips, hands.say);
  done.sent ||= published === "pushed";
  return published !== "behind";
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

/** A clone's folder may have any name; records know the repository by the one it had first. */
async function takeName(hands: Hands, git: StateExchange): Promise<void> {
  const { records } = await hands.look((reader) => reader.repositories());
  const home = records.find((record) => record.value.home);
  if (home) await git.adoptName(home.value.id);
}

function conflictFailure(git: StateExchange, remote: string, { conflicts }: Judgement): Failure {
  const twice = conflicts.every((one) => one.reason === "id_taken_twice");
  const [first] = conflicts;
  const lines = conflicts.map((one) => `  ${describe(one)}`).join("\n");
  return new Failure(
    "conflict",
    twice ? "id_taken_twice" : "sync_conflict",
    `${plural(conflicts.length, "record")} cannot be brought together with ${remote} by itself:\n${lines}`,
    {
      hint: [
        "Nothing was changed here or there. Look at the other version of each:",
        ...conflicts.flatMap((one) => one.paths.map((path) => `  ${git.showTheirs(remote, path)}`)),
        `Edit yours to what it shall say and keep it: pawl sync --ours ${first?.record}`,
        `Or take the other one: pawl sync --theirs ${first?.record}`,
      ].join("\n"),
      details: { remote, conflicts },
    },
  );
}

function describe({ record, reason, clashes, paths }: Conflict): string {
  const show = (value: unknown) => shorten(typeof value === "string" ? value : JSON.stringify(value ?? "none"), 60);
  const told = clashes.filter((one) => one.field !== "created" && one.field !== "commit").slice(0, 3);
  const differences = told.map((one) => `${one.field}: ours "${show(one.ours)}", theirs "${show(one.theirs)}"`);
  const why =
    reason === "id_taken_twice"
      ? "the same id was given to two records"
      : reason === "unreadable"
        ? "one version cannot be read"
        : "changed on both sides";
  return `${record}  ${why}${differences.length > 0 ? `; ${differences.join("; ")}` : ` (${paths.join(", ")})`}`;
}
