import { mcpCommand } from "../mcp/command.ts";
import { parseInput } from "../model/input.ts";
import { VERSION } from "../model/version.ts";
import type { ServingCommand } from "./commands.ts";

export const mcp: ServingCommand = {
  ...mcpCommand,
  async serve(input, io) {
    const { tools, agent } = parseInput(mcpCommand.input, input);
    const { serve } = await import("../mcp/serve.ts");
    await serve({ tier: tools ?? "core", agent, env: io.env, version: VERSION });
  },
};
