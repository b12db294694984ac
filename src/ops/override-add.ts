import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { line, maybe, prose } from "../model/input.ts";
import { procedure } from "./operation.ts";

export const overrideAdd = procedure({
  id: "override.add",
  summary: "Add a skill of your own, written for every agent",
  details:
    "Writes .pawl/overrides/skills/NAME/override.md and renders it into every agent's folder. Without --text it\nstarts as a few lines to fill in: edit them, then run `pawl install`.",
  examples: ["pawl override add release-notes", "pawl override add release-notes --text notes.md"],
  access: "write",
  cli: { positional: ["name"], files: ["text"] },
  input: z.strictObject({
    name: line("its name: lower-case letters, digits and dashes", "NAME", 64),
    text: maybe(prose("the whole skill with its header; a file, or - for standard input", "FILE")),
  }),
  rehearse: (hands, { name, text }) => rehearseOverride(hands, { do: "add", name, text }),
  perform: (hands, { name, text }) => changeOverride(hands, { do: "add", name, text }, name),
  text: describeOverride,
});
