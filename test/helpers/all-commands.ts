import { loadAll } from "../../src/cli/commands.ts";

/** Everything that can be typed after `pawl`: the operations, and what only the command line has. */
export const allCommands = loadAll;
