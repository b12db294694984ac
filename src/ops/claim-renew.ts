import * as z from "zod/mini";
import { renewClaim } from "../flows/claims/renew-claim.ts";
import { parseTaskId } from "../model/ids.ts";
import { line } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const claimRenew = procedure({
  id: "claim.renew",
  summary: "Tell others that a task is still being worked on here",
  details: "The supervisor of an agent's run calls this every few minutes and when the run ends.",
  examples: ["pawl claim renew T0001"],
  internal: true,
  access: "write",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: line("the task", "T", 40) }),

  rehearse: async (_hands, input) => [{ do: "renew the claim on", path: parseTaskId(input.task) }],

  async perform(hands, input) {
    const task = parseTaskId(input.task);
    return { data: { task }, warnings: await renewClaim(hands, task) };
  },

  text: ({ task }) => task,
});
