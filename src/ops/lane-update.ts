import * as z from "zod/mini";
import { refuseAgents } from "../flows/human-only.ts";
import { change, checkRev } from "../judge/change.ts";
import { expectNoOverlap, gatherLane, liveLanes } from "../judge/lanes.ts";
import { parseTaskId } from "../model/ids.ts";
import { count, line, many, maybe, raw, taskField } from "../model/input.ts";
import { checkPattern } from "../model/path-patterns.ts";
import { lane } from "../model/records/parts.ts";
import { procedure } from "./operation.ts";

export const laneUpdate = procedure({
  id: "lane.update",
  summary: "Change the paths, the owner or the order of a lane; only a human may",
  details:
    "--path and --after replace the whole list. With --rev the change is refused if somebody else was faster.",
  examples: ["pawl lane update T0001/L1 --path src/api --path src/shared --rev 1"],
  access: "write",
  cli: { positional: ["lane"], clears: ["after"] },
  input: z.strictObject({
    lane: line("the lane", "L", 40),
    task: taskField(),
    path: many(raw("a path or pattern; replaces the whole list", "PATH")),
    after: many(line("a task that it waits for; replaces the whole list", "T", 40)),
    owner: maybe(line("who works there", "WHO", 100)),
    rev: maybe(count("the rev you read", "N")),
  }),

  rehearse: async (hands, input) => {
    const { value } = await hands.look((reader, at) => gatherLane(reader, input, at));
    return [{ do: "change", path: value.id }];
  },

  async perform(hands, input) {
    await refuseAgents(hands, "change a lane");
    for (const path of input.path ?? []) checkPattern(path);
    return hands.record((reader, at) => {
      const stored = gatherLane(reader, input, at);
      checkRev(stored.value, input.rev);
      const wanted = {
        paths: input.path ? [...new Set(input.path)] : stored.value.paths,
        after: input.after ? [...new Set(input.after.map(parseTaskId))] : stored.value.after,
        owner: input.owner ?? stored.value.owner,
      };
      const others = liveLanes(reader).filter((one) => one.id !== stored.value.id);
      expectNoOverlap({ id: stored.value.id, ...wanted }, others);
      const { effect, value } = change(lane, stored, wanted, at, wanted.paths.join(", "));
      return { data: { lane: value }, effects: [effect] };
    });
  },

  text: ({ lane: value }, style) => `${style.bold(value.id)} ${value.paths.join(", ")}`,
});
