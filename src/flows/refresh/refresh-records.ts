import { change } from "../../judge/change.ts";
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
