import * as z from "zod/mini";
import { columns, indent } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const overrideList = procedure({
  id: "override.list",
  summary: "List this repository's changes to pawl's skills and settings",
  details: "Each with its state and with what has changed in pawl's own text since it was made.",
  examples: ["pawl override list", "pawl override list --json"],
  access: "read",
  input: z.strictObject({}),
  rehearse: async () => [],

  async perform(hands) {
    const overrides = (await hands.git.installation()).overrides();
    const open = overrides.find((one) => one.state !== "applied");
    return {
      data: { overrides },
      next: open && {
        command: `pawl override settle ${open.name}`,
        reason: "once you have looked at the changes",
      },
    };
  },

  text: ({ overrides }, style) => {
    if (overrides.length === 0) return "There are none.";
    const rows = overrides.map(({ name, mode, state }) => [
      style.bold(name),
      mode,
      state.replaceAll("_", " "),
    ]);
    const news = overrides.flatMap(({ diff }) => (diff ? [indent(diff)] : []));
    return [columns(rows), ...news].join("\n\n");
  },
});
