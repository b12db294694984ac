import * as z from "zod/mini";
import { chooseRun } from "../flows/run/run-choose.ts";
import { follow } from "../flows/run/run-follow.ts";
import { openAttempt, standingOf } from "../judge/runs/standing.ts";
import { partOf, taskOf } from "../model/ids.ts";
import { count, flag, line, maybe } from "../model/input.ts";
import { logFile } from "../model/paths.ts";
import { printable } from "../model/printable.ts";
import type { Run } from "../model/records/run.ts";
import type { Hands } from "../ports/hands.ts";
import { procedure } from "./operation.ts";

const USUAL = 200;

export const runLog = procedure({
  id: "run.log",
  summary: "Show what an agent said and did, or follow it while it works",
  details:
    "Readable lines made from the agent's own events; --raw prints its stream unchanged. --follow continues until\nthe run ends and exits with 0 if it succeeded, else 1; Ctrl-C stops the display, not the run. For a run on\nanother machine it shows the tail kept in its record.",
  examples: ["pawl run log T0001", "pawl run log T0001/R1 --follow", "pawl run log R1 --raw"],
  access: "read",
  settlesRuns: true,
  cli: { positional: ["run"] },
  input: z.strictObject({
    run: maybe(line("a run, or a task for its latest run (default: the task you are in)", "R", 40)),
    follow: flag("keep showing it until it ends"),
    raw: flag("the agent's stream, unchanged"),
    attempt: maybe(count("an earlier attempt")),
    lines: maybe(count(`only this many of the last lines (default: all; ${USUAL} with --follow)`)),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const value = await hands.look((reader, at) => chooseRun(reader, input.run, at));
    const last = input.lines ?? (input.follow ? USUAL : undefined);
    const lines = await linesOf(hands, value, { ...input, lines: last });
    const data = { run: value.id, status: value.status, lines };
    if (input.follow && openAttempt(value) && (await hands.agents()).look(value.id))
      return { data, ...follow(hands, value, { raw: input.raw ?? false, lines: last }) };
    // What is worked on by hand has no end that anybody could have missed.
    const isOver = value.attempts.length > 0 && !openAttempt(value);
    const over = input.follow && isOver ? standingOf(value, undefined) : undefined;
    return {
      data,
      // Somebody who comes after the end gets the same answer.
      ...(over ? { notReady: over.state !== "succeeded", next: over.next } : {}),
      async *body() {
        const text = data.lines.map((one) => (input.raw ? one : printable(one))).join("\n");
        yield new TextEncoder().encode(text === "" ? "" : `${text}\n`);
      },
    };
  },

  text: ({ lines }) => lines.join("\n"),
});

interface Wanted {
  raw?: boolean | undefined;
  attempt?: number | undefined;
  lines?: number | undefined;
}

/** The stream itself where it is, else what the record keeps of it. */
async function linesOf(hands: Hands, value: Run, input: Wanted): Promise<string[]> {
  const agents = await hands.agents();
  const options = { raw: input.raw ?? false, follow: false, number: input.attempt, lines: input.lines };
  const lines: string[] = [];
  // One by one: a log has more lines than a call may have arguments.
  if (agents.look(value.id))
    for await (const some of agents.log(value.id, options)) for (const one of some) lines.push(one);
  if (lines.length > 0 || value.log === undefined) return lines;
  const [task, part] = [taskOf(value.id), partOf(value.id)];
  const kept = await hands.look((reader) => reader.fileText(logFile(task, part)));
  return (kept ?? "")
    .trimEnd()
    .split("\n")
    .slice(-(input.lines ?? Number.POSITIVE_INFINITY));
}
