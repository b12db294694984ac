import { change } from "../change.ts";
import type { Purpose } from "../git/merges.ts";
import type { Plan, Situation } from "../operation.ts";
import type { Reader } from "../ports.ts";
import { type Run, run } from "../records/run.ts";

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
