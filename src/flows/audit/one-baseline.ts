import { APPROVERS_FILE } from "../../model/approvers.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import type { Audits, LoggedMove } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { type Baseline, baselineOf } from "./ledger.ts";
import { type Chain, type Subject, within } from "./subject.ts";

/** A branch's baseline, and later ones that were recorded for the same branch. */
export interface OneBaseline extends Baseline {
  late: string[];
  /** The first commit of the branch that names approvers; later commits are judged by their keys. */
  root: string | undefined;
  /**
   * Set for a branch created under the guard: the older branch it shares a commit with, and that commit, if
   * any.
   */
  born?: { from: string | undefined; at: string | undefined };
}

/**
 * A branch has one baseline. If several were recorded, as by a clone that was guarded before it knew of the
 * first, only what all of them contain is older than the guard. The baseline is never later than the commit
 * that added pawl's ledger or the first key, whatever happened to the records. With no record at all, it is
 * the commit of the first key. A root that a human pins is believed.
 */
export async function baselineFor(
  audits: Audits,
  { site, names, ledger, manner, roots }: Subject,
  ref: string,
  tip: string,
): Promise<OneBaseline> {
  const found = baselineOf(ledger, names, ref, manner.clones);
  const pinned = await pinnedOn(audits, site, tip, roots ?? []);
  if (pinned !== undefined) return { ...found, commits: [pinned], late: [], root: pinned, from: "recorded" };
  const first = async (path: string) => (await audits.changing(site, { tip, without: [] }, [path])).slice(-1);
  const root = await first(APPROVERS_FILE);
  if (found.from !== "recorded" && recordedRefs({ ledger, names }).size > 0)
    return { ...found, commits: [], late: [], root: root[0], from: "none" };
  if (found.commits.length === 0 && root.length > 0)
    return { ...found, commits: root, late: [], root: root[0], from: "recorded" };
  const bounds = found.commits.length > 0 ? [...(await first(LEDGER_FILE)), ...root] : [];
  const commits = await audits.common(site, [...found.commits, ...bounds]);
  const late = found.commits.filter((commit) => !commits.includes(commit));
  const one = { ...found, commits, late, root: root[0] };
  // A branch is created only once: one that has a recorded baseline cannot have been created later.
  if (found.from === "recorded" || manner.view !== "here") return one;
  const created = audits.passed(site).find((each) => each.ref === ref && each.why === "created");
  if (!created) return one;
  return { ...one, commits: [...one.commits, created.new], from: "recorded" };
}

/** The pinned root that a branch has. Once branches are merged into each other they have several: its own is on its line. */
async function pinnedOn(
  audits: Audits,
  site: Site,
  tip: string,
  roots: readonly string[],
): Promise<string | undefined> {
  const found: string[] = [];
  for (const root of roots) if (await audits.contains(site, tip, root)) found.push(root);
  if (found.length < 2) return found[0];
  const line = await audits.ids(site, { tip, without: [] });
  return line.find((id) => found.includes(id)) ?? found[0];
}

/** Branches for which any record, current or past, has a baseline. */
export const recordedRefs = ({ ledger, names }: Pick<Subject, "ledger" | "names">): ReadonlySet<string> =>
  new Set(
    [...ledger.repositories, ...ledger.earlier]
      .filter((one) => names.has(one.id))
      .flatMap((one) => one.baseline.map((each) => each.ref)),
  );

/** The commits that only a later baseline covers. */
export async function lateCommits(
  audits: Audits,
  site: Site,
  chain: Chain,
  { late }: OneBaseline,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const commit of late)
    if ((await audits.resolve(site, commit)) !== undefined)
      for (const id of await within(audits, site, chain, commit)) found.add(id);
  return found;
}

/**
 * How many log entries are from before the branch was guarded: up to the last one that led to the baseline. A
 * log without such an entry was begun later, or git has expired its old entries.
 */
export function afterBaseline(
  log: readonly LoggedMove[],
  { commits, begun, at }: Pick<Baseline, "commits" | "begun" | "at">,
): number {
  if (at === undefined) return 0;
  const later = log.findIndex((one) => one.time > at);
  const earlier = later < 0 ? log : log.slice(0, later);
  return earlier.reduce(
    (found, one, index) => ([...commits, ...begun].includes(one.new) ? index + 1 : found),
    0,
  );
}
