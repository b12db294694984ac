import type * as z from "zod/mini";
import { type Group, groups, operations } from "../ops/index.ts";
import type { AnyOperation, Command, Described, Plan } from "../ports/operation.ts";
import type { Io } from "./main.ts";

/** A command of the command line itself: the same in a repository and outside, and of no use to MCP and the page. */
export interface OwnCommand<S extends z.ZodMiniObject = z.ZodMiniObject, Data = unknown>
  extends Described<S, Data> {
  answer(input: z.output<S>, around: Around): Plan<Data> | Promise<Plan<Data>>;
}

/** What a command of the command line may ask of the others. */
export interface Around {
  loadAll(): Promise<Command[]>;
  /** The data that a reading operation answers here without any input. */
  ask(id: string): Promise<unknown>;
}

/** A command that starts MCP or the page, and has nothing of the command line but its start. */
export interface ServingCommand extends Command {
  serve(input: Record<string, unknown>, io: Io): Promise<void>;
}

export type AnyCommand = AnyOperation | OwnCommand | ServingCommand;
type Loader = () => Promise<AnyCommand>;

const ownCommands: Partial<Record<Group, Record<string, Loader>>> = {
  look: {
    ui: async () => (await import("./ui-command.ts")).ui,
    schema: async () => (await import("./schema-command.ts")).schema as OwnCommand,
    version: async () => (await import("./version-command.ts")).version as OwnCommand,
  },
  "set up": {
    completions: async () => (await import("./completions/command.ts")).completions as OwnCommand,
    __complete: async () => (await import("./completions/command.ts")).complete as OwnCommand,
    mcp: async () => (await import("./mcp-command.ts")).mcp,
  },
};

/** Everything that can be typed after `pawl`, by id. */
export const commands: Readonly<Record<string, Loader>> = Object.assign(
  Object.create(null),
  operations,
  ...Object.values(ownCommands),
);

/** The ids of the commands in the groups of `pawl --help`. */
export const commandGroups = (): { group: Group; ids: string[] }[] =>
  Object.entries(groups).map(([name, mine]) => {
    const group = name as Group;
    return { group, ids: [...Object.keys(mine), ...Object.keys(ownCommands[group] ?? {})] };
  });

export async function loadCommand(id: string): Promise<AnyCommand> {
  const load = commands[id];
  if (!load) throw new Error(`There is no command "${id}"`);
  return load();
}

export const loadAll = (): Promise<Command[]> => Promise.all(Object.keys(commands).map(loadCommand));
