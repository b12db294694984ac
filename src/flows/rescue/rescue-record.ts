import { addPart, madeNow } from "../../judge/change.ts";
import { decision } from "../../model/records/parts.ts";
import { plural } from "../../model/text.ts";
import type { Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Saved } from "../../ports/rescues.ts";

/** Where work came from is a decision of the task; a rescue that continues after a kill has already written it. */
export function noteRescue(
  reader: Reader,
  at: Situation,
  task: string,
  { files, ref, checkout }: Saved,
): Plan<Record<string, never>> {
  const { records } = reader.parts(decision, task);
  if (records.some((one) => one.value.why.includes(ref))) return { data: {} };
  const what = `Moved ${plural(files.length, "file")} here that were changed in the main checkout`;
  const where = `${checkout.branch ?? "no branch"} at ${checkout.head.slice(0, 12)}`;
  const { effect } = addPart(
    decision,
    task,
    reader.partNames(decision, task),
    (id) => ({
      id,
      slice: undefined,
      changed: [...files],
      ...madeNow(at),
      what,
      why: `A task's work belongs in its own worktree. They were uncommitted on ${where}; a copy is kept as ${ref}.`,
    }),
    what,
  );
  return { data: {}, effects: [effect] };
}
