import { change } from "../../judge/change.ts";
import { branchOfRef, isNothing } from "../../model/naming.ts";
import { unlockFile } from "../../model/paths.ts";
import { type Unlock, unlock } from "../../model/records/unlock.ts";
import { plural } from "../../model/text.ts";
import type { Audits, LoggedMove, PassedMove } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site, Sites } from "../../ports/sites.ts";
import type { Signing } from "../trust/sign.ts";

type Move = Unlock["moves"][number];

/** Evidence of when a move happened, other than the date in its log entry. */
export interface MoveWitness {
  /** What the guard allowed; undefined without a guard. */
  passed: readonly PassedMove[] | undefined;
  /** When the log was last written. */
  logged: string | undefined;
}

/**
 * What moved the branch while it was open. The log is followed from the commit where the branch was opened up
 * to the first entry after the end, so later moves cannot be backdated into the middle. Nor can they be
 * backdated at the end: the guard has to have seen a move, or the log must not have been written since the
 * end.
 */
export function movesWithin(
  log: readonly LoggedMove[],
  unlock: Pick<Unlock, "ref" | "tip" | "created" | "until">,
  witness: MoveWitness,
): Move[] {
  return movesDated(log, unlock)
    .slice(0, seenMoves(log, unlock, witness))
    .map((one) => ({ old: one.old, new: one.new }));
}

/**
 * How many of the moves dated into an unlock count, up to the first that the guard did not see: later ones
 * may be backdated.
 */
function seenMoves(
  log: readonly LoggedMove[],
  unlock: Pick<Unlock, "ref" | "tip" | "created" | "until">,
  { passed, logged }: MoveWitness,
): number {
  const dated = movesDated(log, unlock);
  if (passed === undefined || (logged !== undefined && logged <= unlock.until)) return dated.length;
  const isSeen = (move: Move) =>
    passed.some((one) => one.ref === unlock.ref && one.old === move.old && one.new === move.new);
  const unseen = dated.findIndex((one) => !isSeen(one));
  return unseen < 0 ? dated.length : unseen;
}

function movesDated(
  log: readonly LoggedMove[],
  { tip, created, until }: Pick<Unlock, "tip" | "created" | "until">,
): LoggedMove[] {
  const begin = wholeSecond(created);
  const first = log.findIndex(
    (one) => one.time >= begin && (tip === undefined ? isNothing(one.old) : one.old === tip),
  );
  if (first < 0) return [];
  const after = log.findIndex((one, index) => index >= first && (one.time > until || one.time < begin));
  return log.slice(first, after < 0 ? undefined : after);
}

/** In a guarded clone the guard saw every move; without a guard there is only the log. */
export function witnessOf(audits: Audits, site: Site, ref: string, guarded: boolean): MoveWitness {
  return {
    passed: guarded ? audits.passed(site) : undefined,
    logged: audits.lastLogged(site, ref),
  };
}

/** Git's log has no fractions of a second. */
export const wholeSecond = (time: string) => `${time.slice(0, 19)}.000Z`;

/** The repository of a record, on this machine; undefined if it is not here. */
export function siteOf(sites: Sites, { repo }: Pick<Unlock, "repo">): Site | undefined {
  return sites.all().find((one) => one.name === repo);
}

/** Closes this machine's expired unlocks and returns a sentence for each. */
export async function closeExpired(hands: Hands): Promise<string[]> {
  const clones = await ownClones(hands);
  const due = await hands.look((reader, at) =>
    reader
      .unlocks()
      .records.map((one) => one.value)
      .filter((one) => one.status === "open" && clones.has(one.clone) && one.until <= at.now),
  );
  const said: string[] = [];
  for (const one of due) {
    const closed = await closeUnlock(hands, one);
    if (closed) said.push(`${closed.id} has ended: ${branchOfRef(closed.ref)} is closed again.`);
  }
  return said;
}

/** The names in records of the repositories on this machine that share this state. */
export async function ownClones(hands: Hands): Promise<ReadonlySet<string>> {
  const [sites, audits] = [await hands.git.sites(), await hands.git.audits()];
  return new Set([sites.here(), ...sites.all()].flatMap((site) => audits.cloneOf(site) ?? []));
}

/** Has a human sign what was done, if signing is required and a human is there. */
export type SignClosing = (site: Site, move: Move & { uid: string | undefined }) => Promise<Signing>;

/**
 * First the hooks stop honouring the unlock, then the record lists what was done. Where decisions are signed,
 * that explains nothing until a human signs it, now or later with `--accept`.
 */
export async function closeUnlock(
  hands: Hands,
  value: Unlock,
  sign?: SignClosing,
): Promise<Unlock | undefined> {
  const site = siteOf(await hands.git.sites(), value);
  if (!site) return undefined;
  (await hands.git.locks()).close(site, value.ref, value.id);
  const audits = await hands.git.audits();
  const log = audits.log(site, value.ref) ?? [];
  const guarded = await hands.look((reader) =>
    reader.repositories().records.some((one) => one.value.guarded.includes(value.clone)),
  );
  const witness = witnessOf(audits, site, value.ref, guarded);
  const moves = movesWithin(log, value, witness);
  const whole = { old: moves[0]?.old ?? "", new: moves.at(-1)?.new ?? "", uid: value.uid };
  const signing = sign && moves.length > 0 ? await sign(site, whole) : { uid: value.uid, signatures: [] };
  const plan = await hands.record(
    (reader, at) => noteClosed(reader, at, value.id, { log, witness }, signing),
    {
      phase: "after",
      milestone: `${value.id}: ${branchOfRef(value.ref)} is closed again`,
    },
  );
  return plan.data;
}

function noteClosed(
  reader: Reader,
  at: Situation,
  id: string,
  { log, witness }: { log: readonly LoggedMove[]; witness: MoveWitness },
  { uid, signatures }: Signing,
): Plan<Unlock> {
  const stored = reader.unlocks().records.find((one) => one.path === unlockFile(id));
  if (!stored) throw new Error(`${id} is gone`);
  if (stored.value.status === "closed") return { data: stored.value };
  const [until = at.now] = [at.now, stored.value.until].sort();
  const span = { ...stored.value, until };
  const moves = movesWithin(log, span, witness);
  const late = movesDated(log, span).length - moves.length;
  const all = [...stored.value.signatures, ...signatures];
  const changes = { status: "closed" as const, closed: at.now, moves, uid, signatures: all };
  const { effect, value } = change(unlock, stored, changes, at, closing(moves.length, late));
  return { data: value, effects: [effect] };
}

const closing = (moves: number, late: number) =>
  `closed after ${plural(moves, "move")}${late > 0 ? `; ${plural(late, "later one")} backdated into it` : ""}`;
