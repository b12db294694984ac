import type * as z from "zod/mini";
import type { Command, Described, Plan } from "../ports/operation.ts";

/** A command of the command line itself: the same in a repository and outside, and of no use to other surfaces. */
export interface OwnCommand<S extends z.ZodMiniObject = z.ZodMiniObject, Data = unknown>
  extends Described<S, Data> {
  answer(input: z.output<S>, commands: readonly Command[]): Plan<Data>;
}

export const ownCommands: Readonly<Record<string, () => Promise<OwnCommand>>> = {
  completions: async () => (await import("./completions/command.ts")).completions as OwnCommand,
};

/** Commands that start another surface; they describe themselves here, and are carried out there. */
export const surfaces: Readonly<Record<string, () => Promise<Command>>> = {
  mcp: async () => (await import("../mcp/command.ts")).mcpCommand,
  ui: async () => (await import("../web/command.ts")).uiCommand,
};
