import { APPROVERS_FILE } from "../../model/approvers.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import type { Audits, LoggedMove } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { type Baseline, baselineOf } from "./ledger.ts";
import { type Chain, type Subject, within } from "./subject.ts";

/** A baseline, and those that somebody recorded for the same branch after it. */
export interface OneBaseline extends Baseline {
  late: string[];
  /** The first commit of the branch that names approvers: what came later is judged by their keys. */
  root: string | undefined;
  /** The branch came into being under the guard, with this commit of an older one's line; with none where it shares none. */
  born?: { from: string | undefined; at: string | undefined };
}

/**
 * A branch has one baseline. Where several were recorded, as by a clone that was guarded before it knew of the first
 * one, only what all of them contain was there before; everything above needs an explanation of its own. Neither can it
 * be later than the commit that brought pawl's ledger to the branch, or the first key, whatever became of the records
 * since. Where nothing is recorded at all, the first key is where it begins; one that a human pins is believed.
 */
export async function baselineFor(
  audits: Audits,
  { site, names, ledger, manner, root: pinned }: Subject,
  ref: string,
  tip: string,
): Promise<OneBaseline> {
  const found = baselineOf(ledger, names, ref, manner.clones);
  if (pinned !== undefined && (await audits.contains(site, tip, pinned)))
    return { ...found, commits: [pinned], late: [], root: pinned, from: "recorded" };
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
  // A branch comes into being once; of one that was there when the guard came, nobody can say that it did so later.
  if (found.from === "recorded" || manner.view !== "here") return one;
  const created = audits.passed(site).find((each) => each.ref === ref && each.why === "created");
  if (!created) return one;
  return { ...one, commits: [...one.commits, created.new], from: "recorded" };
}

/** The branches that were there when the guard came; every later one begins where one of these has been. */
export const recordedRefs = ({ ledger, names }: Pick<Subject, "ledger" | "names">): ReadonlySet<string> =>
  new Set(
    [...ledger.repositories, ...ledger.earlier]
      .filter((one) => names.has(one.id))
      .flatMap((one) => one.baseline.map((each) => each.ref)),
  );

/** Of a branch's commits those that only a later baseline covers. */
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
 * How many entries are about the time before the branch was guarded. They end with the last one that led to the
 * baseline; a log that never mentions it was begun later, or has been cut by git's own cleaning.
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
