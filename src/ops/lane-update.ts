import * as z from "zod/mini";
import { refuseAgents } from "../flows/human-only.ts";
import { change, checkRev, nothingToChange } from "../judge/change.ts";
import { checkLane } from "../judge/lanes.ts";
import { getPart } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parseTaskId, taskOf } from "../model/ids.ts";
import { count, line, many, maybe, raw, taskField } from "../model/input.ts";
import { checkPattern } from "../model/path-patterns.ts";
import { type Lane, lane } from "../model/records/parts.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { procedure } from "./operation.ts";

export const laneUpdate = procedure({
  id: "lane.update",
  summary: "Change the paths, owner or order of a lane (human only)",
  details:
    "--path and --after replace the whole list. With --rev the change is refused if somebody else changed the lane\nfirst.",
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
    await refuseAgents(hands, "change a lane");
    const { data } = await hands.look((reader, at) => update(reader, at, input));
    return [{ do: "change", path: data.lane.id }];
  },

  async perform(hands, input) {
    await refuseAgents(hands, "change a lane");
    return hands.record((reader, at) => update(reader, at, input));
  },

  text: ({ lane: value }, style) => `${style.bold(value.id)} ${value.paths.join(", ")}`,
});

interface Wanted {
  lane: string;
  task?: string | undefined;
  path?: string[] | undefined;
  after?: string[] | undefined;
  owner?: string | undefined;
  rev?: number | undefined;
}

function update(reader: Reader, at: Situation, input: Wanted): Plan<{ lane: Lane }> {
  for (const path of input.path ?? []) checkPattern(path);
  const stored = getPart(reader, lane, input.lane, input.task, at);
  const { id, status, paths, after, owner } = stored.value;
  checkRev(stored.value, input.rev, "pawl lane list --json");
  if (input.path === undefined && input.after === undefined && input.owner === undefined)
    throw nothingToChange(id);
  if (status === "closed")
    throw new Failure("refused", "lane_closed", `${id} is closed.`, {
      hint: `Add another one: pawl lane add ${taskOf(stored.value.id)} --path …`,
      details: { lane: id },
    });
  const wanted = {
    paths: input.path ? [...new Set(input.path)] : paths,
    after: input.after ? [...new Set(input.after.map((one) => parseTaskId(one, "after")))] : after,
    owner: input.owner ?? owner,
  };
  checkLane(reader, { id, ...wanted });
  const { effect, value } = change(lane, stored, wanted, at, wanted.paths.join(", "));
  return { data: { lane: value }, effects: [effect] };
}
