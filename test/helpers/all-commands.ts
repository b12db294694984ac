import { ownCommands } from "../../src/cli/own-commands.ts";
import type { Command } from "../../src/core/operation.ts";
import { mcpCommand } from "../../src/mcp/command.ts";
import { operations } from "../../src/ops/index.ts";

/** Everything that can be typed after `pawl`: the operations, and what only the command line has. */
export async function allCommands(): Promise<Command[]> {
  const loaders: (() => Promise<Command>)[] = [...Object.values(operations), ...Object.values(ownCommands)];
  return [...(await Promise.all(loaders.map((load) => load()))), mcpCommand];
}
