import { ownCommands, surfaces } from "../../src/cli/own-commands.ts";
import { operations } from "../../src/ops/index.ts";
import type { Command } from "../../src/ports/operation.ts";

/** Everything that can be typed after `pawl`: the operations, and what only the command line has. */
export function allCommands(): Promise<Command[]> {
  const loaders: (() => Promise<Command>)[] = [operations, ownCommands, surfaces].flatMap((one) =>
    Object.values<() => Promise<Command>>(one),
  );
  return Promise.all(loaders.map((load) => load()));
}
