import { change } from "../../judge/change.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Purpose } from "../../ports/merges.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

type Refreshed = Extract<Purpose, { kind: "refresh" }>;

/** The run remembers which base was brought in, and whether a review of the work before still holds. */
export function noteRefresh(reader: Reader, at: Situation, purpose: Refreshed): Plan<Run> {
  const stored = reader.part(run, purpose.task, purpose.run);
  const known = new Set(stored.value.refreshed.map((one) => `${one.repo} ${one.to}`));
  const fresh = purpose.refreshed.filter((one) => !known.has(`${one.repo} ${one.to}`));
  if (fresh.length === 0) return { data: stored.value };
  const about = fresh.map((one) => `${one.repo}: ${one.base.slice(0, 12)} brought in`).join(", ");
  const { effect, value } = change(
    run,
    stored,
    { refreshed: [...stored.value.refreshed, ...fresh] },
    at,
    about,
  );
  return { data: value, effects: [effect] };
}

/** The base that a human chose is in the branch: from here on the work differs from that one. */
export function noteBases(
  reader: Reader,
  at: Situation,
  id: string,
  bases: readonly { repo: string; base: string }[],
): Plan<Run> {
  const [task, part] = [taskOf(id), partOf(id)];
  const stored = reader.part(run, task, part);
  const fresh = bases.filter((one) =>
    stored.value.repos.some((repo) => repo.name === one.repo && repo.base_was !== undefined),
  );
  const baseOf = (name: string) => fresh.find((one) => one.repo === name)?.base;
  const repos = stored.value.repos.map((repo) => {
    const base_head = baseOf(repo.name);
    return base_head === undefined ? repo : { ...repo, base_was: undefined, base_head };
  });
  // What was saved differs from another base.
  const snapshots = stored.value.snapshots.filter((one) => baseOf(one.repo) === undefined);
  const { effect, value } = change(run, stored, { repos, snapshots }, at, "merged the new base");
  return { data: value, effects: [effect] };
}
