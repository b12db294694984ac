import type { Agents } from "./agents.ts";
import type { GitHands } from "./git-hands.ts";
import type { Body, Plan, Situation } from "./operation.ts";
import type { Reader, World } from "./ports.ts";
import type { Signatures } from "./signatures.ts";
import type { Viewed } from "./viewed.ts";

/** When an event was written that is about something outside the store. */
export type Phase = "before" | "after" | "failed";

interface RecordOptions {
  phase?: Phase;
  /** Commits the state with these words. */
  milestone?: string;
}

/** What a procedure works with. Every change of a record still is a plan that a pure function made. */
export interface Hands {
  world: World;
  git: GitHands;
  /** The same from another folder, such as a task's worktree. */
  elsewhere(folder: string): Pick<Hands, "world" | "situation">;
  /** As pawl itself, for what it saw and nobody claims, whoever runs this command. */
  itself(): Hands;
  /** Starting agents and looking after them; loaded when it is used. */
  agents(): Promise<Agents>;
  /** The store as it is now; a new one for every look. */
  reader(): Reader;
  situation(access: "read" | "write"): Promise<Situation>;
  /** Now, or so many minutes later, as records write it. */
  time(minutesLater?: number): string;
  /**
   * Reads, decides and applies one change of the store; begins again when another process was faster. `decide` must be
   * pure but for the reader it is given.
   */
  record<Data>(
    decide: (reader: Reader, at: Situation) => Plan<Data>,
    options?: RecordOptions,
  ): Promise<Plan<Data>>;
  /** Reads that may meet a hand-styled record; the full parser is loaded when it is needed. */
  look<T>(read: (reader: Reader, at: Situation) => T, access?: "read" | "write"): Promise<T>;
  /** The same over records that a commit has, which nobody can write to. */
  overRecords<T>(
    texts: ReadonlyMap<string, string | undefined>,
    use: (hands: Hands) => Promise<T>,
  ): Promise<T>;
  /** Whether the state says nothing but that pawl was installed here. */
  isStateForgettable(): Promise<boolean>;
  /** Removes such a state, its history and every trace of it in the git directory. */
  forgetState(): Promise<boolean>;
  /** Which files of saved diffs this clone's human has looked at. */
  viewed(): Promise<Viewed>;
  sha256(text: string): Promise<string>;
  /** Signing, and checking what was signed; loaded when it is used. */
  signatures(): Promise<Signatures>;
  /** An answer that was made from exactly this before; only for telling, never for deciding. */
  recall(name: string, from: string): string | undefined;
  remember(name: string, from: string, answer: string): void;
  /** The agent whose environment this is, whatever anybody claims; undefined for a human's own. */
  agent: string | undefined;
  /** How that is known: which variable of which process says so. */
  agentSeen: string | undefined;
  /** Something long for whoever is asked: in the user's pager, where there is a terminal for one. */
  page(body: Body): Promise<void>;
  /** A line of progress, for whoever waits. */
  say(line: string): void;
  /**
   * What a human types on the terminal; undefined when there is no terminal to type on. An empty question asks nothing
   * and waits for nothing: it only tells whether there is one.
   */
  ask(question: string): Promise<string | undefined>;
}
