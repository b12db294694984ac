import type { CheckRun } from "./ports.ts";
import type { Site } from "./sites.ts";

/** One branch that moves; `old` is what it must still be at. */
export interface BranchMove {
  site: Site;
  branch: string;
  old: string;
  new: string;
}

/** What a set of moves is for: whoever finds it unfinished learns from this which records to write. */
export type Purpose =
  /** The commits tell our own record from one that came to the same number elsewhere. */
  | { kind: "approval"; task: string; approval: string; commits: string[] }
  /** A new list of approvers, told by the record of an unlock. */
  | { kind: "approvers"; unlock: string; move: { old: string; new: string } }
  | {
      kind: "refresh";
      task: string;
      run: string;
      refreshed: { repo: string; from: string; to: string; base: string; overlap: boolean }[];
    };

/** Moves of branches, in all repositories or in none, from the journal on. */
export interface Undertaking {
  purpose: Purpose;
  /**
   * Moves the branches and brings every checkout of them along. When it throws before it was `decided`, `undo` brings
   * everything back; after that, only another attempt to settle it can finish it.
   */
  carryOut(): Promise<void>;
  /** From here on there is no way back, only forward. */
  decided(): boolean;
  /** Takes everything back; may be repeated. Answers what the user has to be told. */
  undo(): Promise<string[]>;
  /** The records tell it now, so the journal may go. */
  close(): Promise<void>;
}

/** What became of moves that a killed process left. */
export interface Settled {
  purpose: Purpose;
  outcome: "done" | "undone";
  notes: string[];
  close(): Promise<void>;
}

interface NewCommit {
  tree: string;
  parents: string[];
  message: string;
}

/** What a commit has to pass, and what the policy adds to the environment of it. */
export interface RequiredCommands {
  commands: readonly string[][];
  env: Readonly<Record<string, string>>;
}

/** Makes merges without a working tree, and moves branches to them under a journal. */
export interface Merges {
  /** The tree of a merge, made as objects only; or the files that conflict. */
  merge(
    site: Site,
    ours: string,
    theirs: string,
  ): Promise<{ tree: string } | { conflicts: string[]; said: string }>;
  /** The tree of a commit with one file replaced or added. */
  withFile(site: Site, commit: string, path: string, text: string): Promise<string>;
  /** A commit by whoever git says the user is here, on no branch yet; refused where git does not know. */
  commit(site: Site, what: NewCommit): Promise<string>;
  /** Refuses where git does not know who the user is. */
  checkIdentity(site: Site): Promise<void>;
  /** sha256 of the whole difference between two commits, as a binary patch with full ids and without renames. */
  diffDigest(site: Site, from: string, to: string): Promise<string>;
  /** Holds the new commits and writes the journal; nothing has moved yet. */
  begin(name: string, purpose: Purpose, reflog: string, moves: readonly BranchMove[]): Promise<Undertaking>;
  /** One at a time on this machine; waits for the others. */
  exclusively<T>(act: () => Promise<T>): Promise<T>;
  /** Like `exclusively`, but undefined at once when somebody alive is at it. */
  ifNobodyElse<T>(act: () => Promise<T>): Promise<T | undefined>;
  /** Finishes or takes back what killed processes left. Only inside one of the two above. */
  settle(say: (line: string) => void): Promise<Settled[]>;
  /** Runs commands on exactly this commit, in a worktree that is made beside `near` and removed again. */
  tryOut(site: Site, commit: string, near: string, wanted: RequiredCommands): Promise<CheckRun[]>;
}
