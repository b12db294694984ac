import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { choice, flag } from "../model/input.ts";
import { procedure } from "./operation.ts";

const modeOf = ({ disable }: { disable?: boolean | undefined }) =>
  disable ? ("disable" as const) : ("replace" as const);

export const overrideSurface = procedure({
  id: "override.surface",
  summary: "Change or switch off the MCP registration or the agents' own hooks",
  details:
    "Writes .pawl/overrides/mcp.json or hooks.json with pawl's own entries in it: edit them, then run `pawl\ninstall`. With --disable none are written for any agent. Only a human can.",
  examples: ["pawl override surface mcp", "pawl override surface hooks --disable"],
  access: "write",
  cli: { positional: ["surface"] },
  input: z.strictObject({
    surface: choice(["mcp", "hooks"], "which"),
    disable: flag("write none"),
  }),
  rehearse: (hands, input) =>
    rehearseOverride(hands, { do: "surface", surface: input.surface, mode: modeOf(input) }),
  perform: (hands, input) =>
    changeOverride(hands, { do: "surface", surface: input.surface, mode: modeOf(input) }, input.surface),
  text: describeOverride,
});
