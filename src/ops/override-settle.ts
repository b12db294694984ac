import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { line } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const overrideSettle = procedure({
  id: "override.settle",
  summary: "Record that an override takes pawl's newest text into account",
  details:
    "When pawl's own text changes, `pawl override list` shows the change until somebody has looked at it. Edit the\noverride if it needs to change, then settle it.",
  examples: ["pawl override settle tdd"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({ name: line("the skill, mcp or hooks", "NAME", 64) }),
  rehearse: (hands, { name }) => rehearseOverride(hands, { do: "settle", name }),
  perform: (hands, { name }) => changeOverride(hands, { do: "settle", name }, name),
  text: describeOverride,
});
