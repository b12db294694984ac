import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { line } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const overrideSettle = procedure({
  id: "override.settle",
  summary: "Say that an override was made with pawl's newest text in mind",
  details:
    "After pawl's own text changed, `pawl override list` shows what is new until somebody has looked at it. Edit the override\nif it has to change, then settle it.",
  examples: ["pawl override settle tdd"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({ name: line("the skill, mcp or hooks", "NAME", 64) }),
  rehearse: (hands, { name }) => rehearseOverride(hands, { do: "settle", name }),
  perform: (hands, { name }) => changeOverride(hands, { do: "settle", name }, name),
  text: describeOverride,
});
