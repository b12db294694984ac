import * as z from "zod/mini";
import { refuseAgents } from "../flows/human-only.ts";
import { change, checkRev } from "../judge/change.ts";
import { getPart } from "../judge/which-task.ts";
import { count, line, maybe, taskField } from "../model/input.ts";
import { lane } from "../model/records/parts.ts";
import { procedure } from "./operation.ts";

export const laneClose = procedure({
  id: "lane.close",
  summary: "Give up the paths of a lane (human only)",
  details: "Not needed for a task that is merged, done or dropped: its lanes no longer keep anybody out.",
  examples: ["pawl lane close T0001/L1"],
  access: "write",
  cli: { positional: ["lane"] },
  input: z.strictObject({
    lane: line("the lane", "L", 40),
    task: taskField(),
    rev: maybe(count("the rev you read", "N")),
  }),

  rehearse: async (hands, input) => {
    await refuseAgents(hands, "close a lane");
    const { value } = await hands.look((reader, at) => getPart(reader, lane, input.lane, input.task, at));
    return [{ do: "close", path: value.id }];
  },

  async perform(hands, input) {
    await refuseAgents(hands, "close a lane");
    return hands.record((reader, at) => {
      const stored = getPart(reader, lane, input.lane, input.task, at);
      checkRev(stored.value, input.rev, "pawl lane list --json");
      if (stored.value.status === "closed") return { data: { lane: stored.value } };
      const { effect, value } = change(lane, stored, { status: "closed" }, at, "closed");
      return { data: { lane: value }, effects: [effect] };
    });
  },

  text: ({ lane: value }, style) => `${style.bold(value.id)} ${value.status}`,
});
