import type * as z from "zod/mini";
import type { Reader, World } from "./ports.ts";

/** Everything an operation may know about the moment it runs in; nothing here is read twice. */
export interface Situation {
  now: string;
  actor: string;
  /** Name of the project, its branch and commit; absent where there is none (detached, unborn). */
  repo: string | undefined;
  branch: string | undefined;
  commit: string | undefined;
  clone: string;
  sha256(text: string): string;
}

/** A change to one record. The runner applies all effects of a plan or none. */
export type Effect =
  | { do: "create"; record: string; rev: number; path: string; text: string; about: string }
  | { do: "replace"; record: string; rev: number; path: string; before: string; text: string; about: string };

export interface Next {
  command: string;
  reason: string;
}

export interface Plan<Data> {
  data: Data;
  effects?: Effect[];
  /** The one command that makes sense now. */
  next?: Next | undefined;
  warnings?: string[];
  /** Exit 1 although nothing went wrong: a gate is not ready, a check did not give the wanted result. */
  notReady?: boolean;
}

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export interface CommandLine {
  /** Fields that may be given by position, in order; the last may be a list that takes all the rest. */
  positional?: readonly string[];
  /** The list field that takes the words after `--`. */
  rest?: string;
  /** Lists that an empty value clears; everywhere else an empty value is a mistake. */
  clears?: readonly string[];
  /** Fields whose value is a file to read, or `-` for standard input. */
  files?: readonly string[];
}

export interface Operation<S extends z.ZodMiniObject, Observed, Facts, Data> {
  id: string;
  summary: string;
  /** Whole paragraphs for `--help`: what it is for, what it refuses. */
  details?: string;
  examples: readonly string[];
  input: S;
  cli?: CommandLine;
  /** `read` never creates or changes anything, not even the state folder. */
  access: "read" | "write";
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
  text(data: Data, style: Style): string;
}

// biome-ignore lint/suspicious/noExplicitAny: the registry holds operations of every input and result
export type AnyOperation = Operation<any, any, any, any>;

export function operation<S extends z.ZodMiniObject, Facts, Data, Observed = undefined>(
  spec: Operation<S, Observed, Facts, Data>,
): Operation<S, Observed, Facts, Data> {
  return spec;
}
