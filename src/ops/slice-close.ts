import * as z from "zod/mini";
import { addPart, change, madeNow } from "../judge/change.ts";
import { getOwnTask } from "../judge/own-task.ts";
import { oneTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parsePartRef } from "../model/ids.ts";
import { line, many, maybe, prose, raw, taskField } from "../model/input.ts";
import { decision, type Evidence, evidence } from "../model/records/parts.ts";
import { type Slice, task } from "../model/records/task.ts";
import { operation } from "./operation.ts";

export const sliceClose = operation({
  id: "slice.close",
  summary: "Close a slice with the decision behind it",
  details:
    "Binds the slice's latest red evidence and the latest green evidence after it. You can close a slice without\nthem; the task's profile decides at the gate whether that is enough.",
  examples: ['pawl slice close S1 --decision "Retry in the client, the server stays as it is"'],
  access: "write",
  cli: { positional: ["slice"] },
  input: z.strictObject({
    slice: line("the slice", "S", 40),
    decision: prose("what was decided"),
    why: maybe(prose("why")),
    changed: many(raw("a file that changed", "FILE")),
    task: taskField(),
  }),
  milestone: ({ slice }) => `${slice.id}: closed`,

  gather(reader, input, at) {
    const ref = parsePartRef(input.slice, "S", "slice");
    const id = getOwnTask(reader, oneTask(ref.task, input.task), at);
    return {
      part: ref.part,
      stored: reader.task(id),
      evidence: reader.parts(evidence, id).records.map((record) => record.value),
      names: reader.partNames(decision, id),
    };
  },

  decide(input, facts, at) {
    const { id, slices } = facts.stored.value;
    const slice = slices.find((one) => one.id === facts.part);
    if (!slice) throw noSlice(id, facts.part, slices);
    if (slice.status === "closed")
      throw new Failure("refused", "slice_closed", `${id}/${slice.id} is already closed.`);
    const made = addPart(
      decision,
      id,
      facts.names,
      (decisionId) => ({
        id: decisionId,
        slice: slice.id,
        changed: input.changed ?? [],
        ...madeNow(at),
        what: input.decision,
        why: input.why ?? "",
      }),
      `for ${slice.id}`,
    );
    const closed: Slice = {
      ...slice,
      status: "closed",
      decision: made.value.id,
      ...proof(slice.id, facts.evidence),
      commit: at.commit,
    };
    const all = slices.map((one) => (one.id === slice.id ? closed : one));
    const { effect } = change(task, facts.stored, { slices: all }, at, `${slice.id} closed`);
    const warnings =
      closed.red && closed.green
        ? []
        : [
            closed.red
              ? `${slice.id} has no green evidence: the command that failed must pass after a change.`
              : `${slice.id} has no red evidence.`,
          ];
    return {
      data: { slice: { ...closed, id: `${id}/${slice.id}` }, decision: made.value, task: { id } },
      effects: [made.effect, effect],
      warnings,
    };
  },

  text: ({ slice }, style) => `${style.bold(slice.id)} closed: ${slice.title}`,
});

/**
 * The last red, and the last green after it: the same command, on another tree, or it would prove nothing. Neither does
 * a check that changed the tree under itself.
 */
function proof(slice: string, all: readonly Evidence[]): Pick<Slice, "red" | "green"> {
  const mine = all.filter((one) => one.slice === slice && !one.unstable);
  const at = mine.findLastIndex((one) => one.kind === "red");
  const red = mine[at];
  const green = mine
    .slice(at + 1)
    .findLast(
      (one) => one.kind === "green" && red !== undefined && isSameCommand(one, red) && one.tree !== red.tree,
    );
  return { red: red?.id, green: green?.id };
}

const isSameCommand = (left: Evidence, right: Evidence) =>
  JSON.stringify(left.argv) === JSON.stringify(right.argv);

export function noSlice(task: string, slice: string, slices: readonly Slice[]): Failure {
  return new Failure("not_found", "no_slice", `${task} has no slice ${slice}.`, {
    hint:
      slices.length === 0
        ? 'Open one with `pawl slice open "…"`.'
        : `It has ${slices.map((one) => one.id).join(", ")}.`,
    details: { field: "slice" },
  });
}
