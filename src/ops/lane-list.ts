import * as z from "zod/mini";
import { laneWaitsFor, liveLanes } from "../judge/lanes.ts";
import { parseTaskId, taskOf } from "../model/ids.ts";
import { taskField } from "../model/input.ts";
import { lane } from "../model/records/parts.ts";
import { columns } from "../model/text.ts";
import { operation } from "./operation.ts";

export const laneList = operation({
  id: "lane.list",
  summary: "List lanes: who may touch what, and who waits for whom",
  details: "Shows the lanes in force; with a task, all of its lanes, including closed ones.",
  examples: ["pawl lane list", "pawl lane list T0001 --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),

  gather(reader, input) {
    const lanes =
      input.task === undefined
        ? liveLanes(reader)
        : reader.parts(lane, reader.task(parseTaskId(input.task)).value.id).records.map((one) => one.value);
    const tasks = [...new Set(lanes.map(({ id }) => taskOf(id)))];
    return { lanes, waits: new Map(tasks.map((task) => [task, laneWaitsFor(reader, task)])) };
  },

  decide: (_input, { lanes, waits }) => ({
    data: { lanes: lanes.map((one) => ({ ...one, waits_for: waits.get(taskOf(one.id)) ?? [] })) },
  }),

  text: ({ lanes }, style) =>
    lanes.length === 0
      ? "no lanes"
      : columns(
          lanes.map((one) => [
            style.bold(one.id),
            one.status,
            one.owner,
            one.paths.join(", "),
            one.waits_for.length > 0 ? `waits for ${one.waits_for.join(", ")}` : "",
          ]),
        ),
});
