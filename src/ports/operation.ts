import type * as z from "zod/mini";
import type { Style } from "../model/text.ts";
import type { Hands } from "./hands.ts";
import type { Reader, World } from "./ports.ts";

/** `web`: somebody filled in a form on the page. Says where a write came from, and proves nothing about who made it. */
type How = "web";

/** Everything an operation may know about the moment it runs in; nothing here is read twice. */
export interface Situation {
  now: string;
  actor: string;
  /** The surface that they used, where it is not a command or a tool. */
  how: How | undefined;
  /** The agents that this may be, the actor included: none of them may judge its own work. */
  minds: string[];
  /** Name of the project, its branch and commit; absent where there is none (detached, unborn). */
  repo: string | undefined;
  branch: string | undefined;
  commit: string | undefined;
  clone: string;
  /** The task that the worktree we stand in is bound to. */
  bound: string | undefined;
  /** The run that this process says it is part of; nobody else says so. */
  run: string | undefined;
  sha256(text: string): string;
}

/** A change to one record. The runner applies all effects of a plan or none. */
export type Effect =
  | { do: "create"; record: string; rev: number; path: string; text: string; about: string }
  | { do: "replace"; record: string; rev: number; path: string; before: string; text: string; about: string }
  /**
   * A file that belongs to a record, such as a patch: moved into the state from where it was made, whatever was there.
   * `fresh`: only where there is none, because somebody may have made one meanwhile.
   */
  | { do: "attach"; record: string; rev: number; path: string; from: string; fresh?: boolean; about: string };

export interface Next {
  command: string;
  reason: string;
}

/** An answer too big for memory, or in no encoding: pieces that are made while they are printed. */
export type Body = (view: View) => AsyncIterable<Uint8Array>;

/** Where an answer is shown. */
interface View {
  style: Style;
  terminal: boolean;
  /** The terminal's size, which changes with its window; undefined where nobody can tell. */
  size?: () => { columns: number; rows: number } | undefined;
}

export interface Plan<Data> {
  data: Data;
  /** Printed in place of the text; left out of JSON. */
  body?: Body;
  /** The body goes on until something ends, and nobody pages it; how that ended, and what to do then, is asked when it has. */
  live?: { endsWell(): boolean; next?(): Next | undefined };
  effects?: Effect[];
  /** The one command that makes sense now. */
  next?: Next | undefined;
  warnings?: string[];
  /** Exit 1 although nothing went wrong: a gate is not ready, a check did not give the wanted result. */
  notReady?: boolean;
  /** Exit 2: what was asked cannot be told yet. */
  undecided?: boolean;
}

interface CommandLine {
  /** Fields that may be given by position, in order; the last may be a list that takes all the rest. */
  positional?: readonly string[];
  /** The list field that takes the words after `--`. */
  rest?: string;
  /** Lists that an empty value clears; everywhere else an empty value is a mistake. */
  clears?: readonly string[];
  /** Fields whose value is a file to read, or `-` for standard input. */
  files?: readonly string[];
  /** Fields of text that a file may hold: `--plan TEXT`, or `--plan-file FILE`, with `-` for standard input. */
  texts?: readonly string[];
  /** The field whose value is the folder that the command is about, in place of the one we stand in. */
  folder?: string;
}

export interface Described<S extends z.ZodMiniObject, Data> {
  id: string;
  summary: string;
  /** Whole paragraphs for `--help`: what it is for, what it refuses. */
  details?: string;
  examples: readonly string[];
  input: S;
  cli?: CommandLine;
  /** Called by our own hooks; no list of commands shows it. */
  internal?: boolean;
  /** `read` never creates or changes anything, not even the state folder. */
  access: "read" | "write";
  /** Wants to see everything as it is: nothing that waits to be settled is settled before it. */
  asItIs?: true;
  /** A look at runs: what has ended meanwhile is written down before it, as before every write. */
  settlesRuns?: true;
  text(data: Data, style: Style): string;
}

/** Everything that is one look and one change of the store. */
export interface Operation<S extends z.ZodMiniObject, Observed, Facts, Data> extends Described<S, Data> {
  /** The words of the state's commit when this is a step in a task's life; other writes ride along with the next one. */
  milestone?(data: Data): string;
  /**
   * Slow or outward looks (git, running a check), taken once. The reader is for failing early, before the slow part:
   * what it says is read again in `gather`.
   */
  observe?(world: World, input: z.output<S>, situation: Situation, reader: Reader): Promise<Observed>;
  /** For an operation that acts while it observes: what a dry run says it would do. */
  rehearse?(
    world: World,
    input: z.output<S>,
    situation: Situation,
    reader: Reader,
  ): Promise<{ do: string; path: string }[]>;
  /** Reads of the store; repeated when another process was faster, so it must only read. */
  gather(reader: Reader, input: z.output<S>, situation: Situation, observed: Observed): Facts;
  /** Pure: the same input, facts and situation always give the same plan. */
  decide(input: z.output<S>, facts: Facts, situation: Situation): Plan<Data>;
}

/**
 * What cannot be one change of the store, because git moves in between: a record before says what is about to be done,
 * one after says what was. Killed anywhere, the records tell the next command how to go on.
 */
export interface Procedure<S extends z.ZodMiniObject, Data> extends Described<S, Data> {
  /** The same looks and refusals, and then what would be done; changes nothing. */
  rehearse(hands: Hands, input: z.output<S>): Promise<{ do: string; path: string }[]>;
  perform(hands: Hands, input: z.output<S>): Promise<Plan<Data>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the registry holds operations of every input and result
export type SingleOperation = Operation<any, any, any, any>;
// biome-ignore lint/suspicious/noExplicitAny: the registry holds operations of every input and result
export type AnyOperation = SingleOperation | Procedure<any, any>;

/** What help, completions and documentation need of a command, whoever carries it out. */
// biome-ignore lint/suspicious/noExplicitAny: commands of every input and result are described alike
export type Command = Omit<Described<any, any>, "text">;
