import { change } from "../../judge/change.ts";
import { branchOfRef } from "../../model/naming.ts";
import { unlockFile } from "../../model/paths.ts";
import { approval } from "../../model/records/run.ts";
import { unlock } from "../../model/records/unlock.ts";
import type { Audits } from "../../ports/audits.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site } from "../../ports/sites.ts";
import { notePush } from "../approve/approve-push.ts";

/** A commit that a human let in, and of which no record says yet that a remote has it. */
interface Unpublished {
  /** `T0001/A1` or `U0001`. */
  id: string;
  repo: string;
  ref: string;
  commit: string;
}

/** How many of the last entries in the log of a remote-tracking ref are looked at. */
const RECENT = 20;

/**
 * What a plain `git push` has published is noted as that: a check of what was published can tell only then that it is
 * gone again. The remote-tracking ref says so, or its log, where somebody has overwritten the branch since.
 */
export async function notePublished(hands: Hands): Promise<void> {
  const open = await hands.look((reader) => (reader.exists ? unpublished(reader) : []));
  if (open.length === 0) return;
  const [sites, audits, remotes] = [
    (await hands.git.sites()).all(),
    await hands.git.audits(),
    await hands.git.remotes(),
  ];
  for (const one of open) {
    const site = sites.find((each) => each.name === one.repo);
    const upstream = site && (await remotes.remoteOf(site, branchOfRef(one.ref)));
    if (!site || !upstream || !(await hasHad(audits, site, upstream.tracking, one.commit))) continue;
    const [task = "", part] = one.id.split("/");
    await hands.record((reader, at) =>
      part === undefined
        ? noteUnlock(reader, at, one.id)
        : { ...notePush(reader, at, { task, part, repo: one.repo }), data: undefined },
    );
  }
}

function unpublished(reader: Reader): Unpublished[] {
  const approvals = reader
    .taskNames()
    .filter((name) => /^T\d{4,}$/.test(name))
    .flatMap((name) => reader.parts(approval, name).records.map((one) => one.value))
    .filter((one) => one.status === "merged")
    .flatMap(({ id, repos }) =>
      repos
        .filter((one) => !one.pushed)
        .map(({ name: repo, ref, new: commit }): Unpublished => ({ id, repo, ref, commit })),
    );
  const unlocks = reader.unlocks().records.flatMap(({ value }): Unpublished[] => {
    const { id, repo, ref, status, pushed, moves } = value;
    const commit = moves.at(-1)?.new;
    if (status !== "closed" || pushed || repo === undefined || commit === undefined) return [];
    return [{ id, repo, ref, commit }];
  });
  return [...approvals, ...unlocks];
}

async function hasHad(audits: Audits, site: Site, tracking: string, commit: string): Promise<boolean> {
  const tip = await audits.resolve(site, tracking);
  const before = (audits.log(site, tracking) ?? []).slice(-RECENT).map((one) => one.new);
  if (tip === commit || before.includes(commit)) return true;
  for (const one of new Set([...(tip === undefined ? [] : [tip]), ...before.reverse()]))
    if (await audits.contains(site, one, commit)) return true;
  return false;
}

function noteUnlock(reader: Reader, at: Parameters<typeof notePush>[1], id: string) {
  const stored = reader.unlocks().records.find((one) => one.path === unlockFile(id));
  if (!stored || stored.value.pushed) return { data: undefined };
  return { data: undefined, effects: [change(unlock, stored, { pushed: true }, at, "published").effect] };
}
