import * as z from "zod/mini";
import { refuseAgents } from "../flows/human-only.ts";
import { addPart, madeNow } from "../judge/change.ts";
import { checkLane, lanesOf } from "../judge/lanes.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { parseTaskId } from "../model/ids.ts";
import { line, many, maybe, prose, raw, taskField } from "../model/input.ts";
import { checkPattern } from "../model/path-patterns.ts";
import { type Lane, lane } from "../model/records/parts.ts";
import type { Hands } from "../ports/hands.ts";
import type { Plan, Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { procedure } from "./operation.ts";

export const laneAdd = procedure({
  id: "lane.add",
  summary: "Name the paths that a task may change, so that other tasks keep off them",
  details:
    "Two active tasks never own the same paths: an overlap is refused, unless --after makes one wait until the\nother is merged. `*` matches part of a name, `**` any folders; a plain path means the file, or the folder and\neverything in it. Files that a snapshot finds outside the lane become a finding. An agent can add a task's\nfirst lane only.",
  examples: [
    "pawl lane add T0001 --path src/api --path 'test/api/**'",
    "pawl lane add T0002 --path src --after T0001",
  ],
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    path: many(raw("a path or pattern, from the top of the repository", "PATH")),
    after: many(line("a task that it waits for", "T", 40)),
    owner: maybe(line("who works there (default: you)", "WHO", 100)),
    why: maybe(prose("why these")),
  }),

  rehearse: async (hands, input) => {
    await expectAllowed(hands, input);
    const { data } = await hands.look((reader, at) => add(reader, at, input));
    return [{ do: `add lane ${data.lane.paths.join(", ")}`, path: data.lane.id }];
  },

  async perform(hands, input) {
    await expectAllowed(hands, input);
    return hands.record((reader, at) => add(reader, at, input), { milestone: "lane added" });
  },

  text: ({ lane: value }, style) => `${style.bold(value.id)} ${value.paths.join(", ")}`,
});

interface Wanted {
  task?: string | undefined;
  path?: string[] | undefined;
  after?: string[] | undefined;
  owner?: string | undefined;
  why?: string | undefined;
}

async function expectAllowed(hands: Hands, input: Wanted): Promise<void> {
  if (!input.path?.length)
    throw new Failure("usage", "no_path", "A lane needs paths.", {
      hint: "Name them from the top of the repository: --path src/api --path 'test/**/*.ts'",
      details: { field: "path" },
    });
  for (const path of input.path) checkPattern(path);
  const has = await hands.look((reader, at) => lanesOf(reader, getTask(reader, input.task, at)).length > 0);
  // A worker that could give itself another lane would be bound by none.
  if (has) await refuseAgents(hands, "give a task a second lane");
}

function add(reader: Reader, at: Situation, input: Wanted): Plan<{ lane: Lane }> {
  const task = getTask(reader, input.task, at);
  reader.task(task);
  const fields = {
    status: "open" as const,
    owner: input.owner ?? at.actor,
    paths: [...new Set(input.path ?? [])],
    after: [...new Set((input.after ?? []).map((one) => parseTaskId(one, "after")))],
  };
  const made = addPart(
    lane,
    task,
    reader.partNames(lane, task),
    (id) => ({ id, ...fields, ...madeNow(at), why: input.why ?? "" }),
    fields.paths.join(", "),
  );
  checkLane(reader, made.value);
  return { data: { lane: made.value }, effects: [made.effect] };
}
