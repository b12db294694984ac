import { change } from "../../judge/change.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { refOfBranch } from "../../model/naming.ts";
import { type Run, run } from "../../model/records/run.ts";
import { type Task, task as taskKind } from "../../model/records/task.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site } from "../../ports/sites.ts";
import { readTrust, type TrustHands } from "../trust/read-trust.ts";

export type Landings = Run["landed"];

/**
 * How a run's work came into its bases, though nobody approved it here: by a pull request, or by hand. Undefined unless
 * every repository in which anything was done has it. What a remote has counts only if a human trusts that remote.
 */
export async function lookForLanded(hands: TrustHands, value: Run): Promise<Landings | undefined> {
  const [sites, targets] = [await hands.git.sites(), await hands.git.targets()];
  const landings: Landings = [];
  for (const repo of value.repos) {
    const site = sites.named(repo.name);
    const saved = value.snapshots.find((one) => one.repo === repo.name);
    const tip = (await targets.tip(site, refOfBranch(repo.branch))) ?? saved?.head ?? repo.head;
    if (tip === undefined) return undefined;
    if (isUntouched(value, repo, tip)) continue;
    let found: Landings[number] | undefined;
    for (const base of await basesOf(hands, site, repo.base_branch)) {
      const landed = await targets.landed(site, { tip, from: repo.base_head, base });
      if (landed) found ??= { repo: repo.name, ...landed };
    }
    if (!found) return undefined;
    landings.push(found);
  }
  return landings.length === 0 ? undefined : landings;
}

/** Nothing was committed on the branch: it is where it began, or where a refresh moved it along with its base. */
const isUntouched = (value: Run, repo: Run["repos"][number], tip: string) =>
  tip === repo.base_head ||
  value.refreshed.some((one) => one.repo === repo.name && one.to === tip && one.base === tip);

export async function basesOf(hands: TrustHands, site: Site, branch: string): Promise<string[]> {
  const [targets, remotes] = [await hands.git.targets(), await hands.git.remotes()];
  const upstream = await remotes.remoteOf(site, branch);
  const trusted = upstream && (await isTrusted(hands, site, upstream.remote));
  const refs = [refOfBranch(branch), ...(upstream && trusted ? [upstream.tracking] : [])];
  const tips = await Promise.all(refs.map((ref) => targets.tip(site, ref)));
  return [...new Set(tips.filter((one) => one !== undefined))];
}

async function isTrusted(hands: TrustHands, site: Site, remote: string): Promise<boolean> {
  const { remotes } = await readTrust(hands, site);
  return remotes.some((one) => one.name === remote && one.standing === "trusted");
}

export const describeLanded = (landings: Landings) =>
  landings
    .map((one) => `${one.repo} by ${one.how} ${one.commits[0]?.slice(0, 12) ?? ""}`.trimEnd())
    .join(", ");

/** The base has it, so the task is merged; the run remembers by which commits. */
export function recordLanded(
  reader: Reader,
  at: Situation,
  id: string,
  landed: Landings,
): Plan<{ run: Run; task: Task }> {
  const stored = reader.part(run, taskOf(id), partOf(id));
  const storedTask = reader.task(taskOf(id));
  const about = `merged elsewhere: ${describeLanded(landed)}`;
  const noted = change(run, stored, { landed }, at, about);
  const { status } = storedTask.value;
  const merged = change(taskKind, storedTask, { status: "merged" }, at, `${status} → ${about}`);
  return { data: { run: noted.value, task: merged.value }, effects: [noted.effect, merged.effect] };
}
