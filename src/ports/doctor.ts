import type { Hands } from "./hands.ts";

/** One thing that somebody should know about this installation. */
export interface Diagnosis {
  /** A stable name for scripts. */
  code: string;
  /** A problem makes `pawl doctor` exit with 1; a note is worth knowing and nothing more. */
  level: "problem" | "note";
  /** The file, worktree, branch or repository it is about. */
  where: string;
  /** Whole sentences: what is true, and what follows from it. */
  message: string;
  /** The one command that puts it right; absent where none does. */
  command?: string;
}

/** Knows one part of an installation. `pawl doctor` asks one after the other, so that none has to know the others. */
export interface Specialist {
  examine(hands: Hands): Promise<Diagnosis[]>;
  /** Puts right what it can of what it found, and says in words what it did. Must be safe to repeat. */
  repair?(hands: Hands, found: readonly Diagnosis[]): Promise<string[]>;
}
