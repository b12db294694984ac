import * as z from "zod/mini";
import { columns, indent } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const overrideList = procedure({
  id: "override.list",
  summary: "The changes of pawl's skills and settings in this repository",
  details: "Each with what became of it, and with what changed in pawl's own text since it was made.",
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
        reason: "when you have seen what changed",
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
