import * as z from "zod/mini";
import { renewClaim } from "../flows/claims/renew-claim.ts";
import { chooseRun } from "../flows/run/run-choose.ts";
import { expectOwn, stopRun } from "../flows/run/run-stop.ts";
import { nextAfter } from "../judge/runs/outcome.ts";
import { openAttempt } from "../judge/runs/standing.ts";
import { parseDuration } from "../model/duration.ts";
import { taskOf } from "../model/ids.ts";
import { line, maybe } from "../model/input.ts";
import type { Run } from "../model/records/run.ts";
import type { Hands } from "../ports/hands.ts";
import { procedure } from "./operation.ts";

const USUAL = "10s";

export const runStop = procedure({
  id: "run.stop",
  summary: "Stop an agent and everything it started",
  details:
    "First asks the agent to stop, so that its conversation can continue later; then terminates all of its\nprocesses and kills what remains, including those in sessions of their own. The work is saved, and a handoff\nrecords what pawl saw.",
  examples: ["pawl run stop T0001", "pawl run stop T0001/R1 --grace 30s"],
  access: "write",
  cli: { positional: ["run"] },
  input: z.strictObject({
    run: maybe(line("a run, or a task for its latest run", "R", 40)),
    grace: maybe(line(`how long it may take to stop by itself (default: ${USUAL})`, "TIME", 20)),
  }),

  async rehearse(hands, input) {
    const value = await choose(hands, input.run);
    return openAttempt(value) ? [{ do: "stop", path: value.id }] : [];
  },

  async perform(hands, input) {
    const value = await choose(hands, input.run);
    const grace = parseDuration(input.grace ?? USUAL, "grace");
    const over = openAttempt(value) ? await stopRun(hands, value, grace * 1_000) : value;
    const { status, attempts } = over;
    // Its supervisor may have said its last word to the remote before the records said that the run has ended.
    const warnings = await renewClaim(hands, taskOf(over.id));
    return {
      data: { run: over, was_running: openAttempt(value) !== undefined },
      warnings,
      next:
        status === "succeeded" || status === "failed" || status === "interrupted"
          ? nextAfter(over.id, { status, reason: attempts.at(-1)?.reason })
          : undefined,
    };
  },

  text: ({ run, was_running }, style) => {
    const reason = run.attempts.at(-1)?.reason;
    const how = `${run.status}${reason === undefined ? "" : ` (${reason})`}`;
    return `${style.bold(run.id)} ${was_running ? how : `had already ended: ${how}`}`;
  },
});

async function choose(hands: Hands, named: string | undefined): Promise<Run> {
  const value = await hands.look((reader, at) => chooseRun(reader, named, at));
  await expectOwn(hands, value, "stop");
  return value;
}
