import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { line } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const overrideRemove = procedure({
  id: "override.remove",
  summary: "Remove an override and use pawl's own text again",
  details:
    "NAME is a skill, mcp or hooks. This deletes its file and what you wrote in it; git's history still has it.",
  examples: ["pawl override remove tdd", "pawl override remove mcp"],
  access: "write",
  cli: { positional: ["name"] },
  input: z.strictObject({ name: line("the skill, mcp or hooks", "NAME", 64) }),
  rehearse: (hands, { name }) => rehearseOverride(hands, { do: "remove", name }),
  perform: (hands, { name }) => changeOverride(hands, { do: "remove", name }, name),
  text: describeOverride,
});
