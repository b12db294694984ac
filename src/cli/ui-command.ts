import { parseInput } from "../model/input.ts";
import { uiCommand } from "../web/command.ts";
import type { ServingCommand } from "./commands.ts";

export const ui: ServingCommand = {
  ...uiCommand,
  async serve(input, io) {
    const { port, "no-open": noOpen } = parseInput(uiCommand.input, input);
    const { runUi } = await import("../web/run-ui.ts");
    await runUi({
      cwd: io.cwd,
      env: io.env,
      agentAbove: () => io.agentsAbove?.()[0]?.actor,
      port,
      open: !noOpen,
      say: (text) => io.err(`${text}\n`),
      write: (text) => io.err(text),
      isTerminal: io.atTerminal(),
    });
  },
};
