import * as z from "zod/mini";
import { chooseRun } from "../flows/run/run-choose.ts";
import { settleRuns, untilAtRest } from "../flows/run/run-settle.ts";
import { runRow } from "../judge/runs/show.ts";
import { openAttempt, standingOf } from "../judge/runs/standing.ts";
import { parseDuration } from "../model/duration.ts";
import { line, many, maybe } from "../model/input.ts";
import type { Run } from "../model/records/run.ts";
import { columns } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import { procedure } from "./operation.ts";

const USUAL = "45s";
/** Agents wait through MCP, and one of them gives a call up after three minutes. */
const LONGEST = 150;
const LOOK_MS = 250;
/** Whoever waits longer than this wants to know what for. */
const SILENT_MS = 1_000;

export const runWait = procedure({
  id: "run.wait",
  summary: "Wait until runs have ended, and say how",
  details:
    "Exit code 0 when all of them succeeded, 1 when one did not, 2 when one is still running after --for. It also\nrecords the end of runs that a crash left behind. Once a run has ended, nothing of it still runs or writes.",
  examples: ["pawl run wait T0001", "pawl run wait T1 T2 --for 2m"],
  access: "write",
  cli: { positional: ["run"] },
  input: z.strictObject({
    run: many(line("runs, or tasks for their latest runs", "R", 40), 100),
    for: maybe(line(`how long at most (default: ${USUAL}, at most ${LONGEST}s)`, "TIME", 20)),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const seconds = Math.min(parseDuration(input.for ?? USUAL, "for"), LONGEST);
    const agents = await hands.agents();
    const named = input.run?.length ? input.run : [undefined];
    const ids = await hands.look((reader, at) => named.map((one) => chooseRun(reader, one, at).id));
    let runs = await look(hands, ids);
    for (let left = seconds * 1_000; left > 0 && runs.some(openAttempt); left -= LOOK_MS) {
      if (left === seconds * 1_000 - SILENT_MS)
        hands.say(`Waiting for ${ids.join(", ")}, at most ${seconds}s …`);
      await agents.pause(LOOK_MS);
      if (ids.some((id) => agents.look(id)?.state !== "running")) await settleRuns(hands);
      runs = await look(hands, ids);
    }
    // With --for 0s it is only asked how they stand; so does the supervisor's own command, which must not wait for itself.
    if (seconds > 0 && !runs.some(openAttempt)) await untilAtRest(hands, ids);
    const all = runs.map((one) => standingOf(one, agents.look(one.id)));
    const undecided = runs.some((one) => openAttempt(one) !== undefined);
    const worst = all.find((one) => one.state !== "succeeded");
    return {
      data: { runs: all },
      ...(undecided ? { undecided: true } : { notReady: worst !== undefined }),
      warnings: all.flatMap((one) => one.warnings),
      next: undecided
        ? { command: `pawl run wait ${ids.join(" ")}`, reason: "still running" }
        : (worst ?? all[0])?.next,
    };
  },

  text: ({ runs }, style) => columns(runs.map((one) => runRow(one, style))),
});

const look = (hands: Hands, ids: readonly string[]): Promise<Run[]> =>
  hands.look((reader, at) => ids.map((id) => chooseRun(reader, id, at)));
