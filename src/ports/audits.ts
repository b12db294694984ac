import type { CommitFact, MoveFact, RemoteFact, RemoteWord, Trace } from "./audit-facts.ts";
import type { Site } from "./sites.ts";

/** A protected branch may be one of these; `refs/heads/…`, or in a clone for a check the remote's copy of it. */
export interface BranchTip {
  /** What the branch is called where people work: `refs/heads/main`. */
  ref: string;
  /** Where its commit is read from; not the same in a clone that has only the remote's copy. */
  source: string;
  tip: string;
  standsFor: string | undefined;
}

export interface Branching {
  branches: BranchTip[];
  /** What the remote calls its default branch. */
  defaultBranch: string | undefined;
  /** The branch whose files hold for all: the default one, as far as that is known. */
  base: string | undefined;
  /** `.pawl/config.yaml` as the protected tip has it, and as it lies in the main worktree. */
  committed: string | undefined;
  copy: string | undefined;
  /** `.pawl/lock.json` as the protected tip has it. */
  installed: string | undefined;
}

/** Which commits of a branch are asked for. */
export interface Stretch {
  tip: string;
  /** Commits that are not wanted, and whatever they contain; unknown ones are left out. */
  without: readonly string[];
}

export interface LoggedMove {
  old: string;
  new: string;
  time: string;
  message: string;
}

/** A move that came about before the guard's eyes, and why it was let pass: `created` where the branch began with it. */
export interface PassedMove {
  ref: string;
  old: string;
  new: string;
  why: string;
}

/** One line that a server's hook is given: a ref, from where to where. */
export interface RefUpdate {
  ref: string;
  old: string;
  new: string;
}

/** Looks into the history of branches, past everything that could make git show another one. Changes nothing. */
export interface Audits {
  /** Throws when the history is cut off, so that nobody could tell. */
  checkWhole(site: Site): Promise<void>;
  branching(site: Site, copies: "own" | "remote"): Promise<Branching>;
  resolve(site: Site, name: string): Promise<string | undefined>;
  /** First-parent commits, newest first. */
  history(site: Site, stretch: Stretch): Promise<CommitFact[]>;
  count(site: Site, tip: string): Promise<number>;
  /** Only the ids of the same commits. */
  ids(site: Site, stretch: Stretch): Promise<string[]>;
  contains(site: Site, tip: string, commit: string): Promise<boolean>;
  /** The moves that git wrote down, oldest first; undefined when it keeps no log of this branch. */
  log(site: Site, ref: string): LoggedMove[] | undefined;
  /** When the log was last written, by the clock of this machine; what its entries say, anybody can choose. */
  lastLogged(site: Site, ref: string): string | undefined;
  /** What this clone calls itself in records; undefined before its first write. */
  cloneOf(site: Site): string | undefined;
  /** What the guard last saw each protected branch at, and where it let it go to; none where it is not active. */
  guardedTips(site: Site): { ref: string; was: string; allowed: string }[];
  /** What the guard let pass, the oldest first. */
  passed(site: Site): PassedMove[];
  /** Fills in what a move brought, without what these commits have. */
  follow(
    site: Site,
    move: LoggedMove & Pick<MoveFact, "seen">,
    without: readonly string[],
  ): Promise<MoveFact>;
  /** What these remotes say about a branch, as far as there is a remote-tracking ref of it here. */
  remotes(site: Site, ref: string, remotes: readonly AskedRemote[]): Promise<RemoteAnswer[]>;
  traces(site: Site, wanted: TracesWanted): Promise<Trace[]>;
  guardActive(site: Site): boolean;
  /** The commits up to which all of these have the same history; none when one of them is not here. */
  common(site: Site, commits: readonly string[]): Promise<string[]>;
  /** The tree that everybody's git makes of merging these two; undefined where they conflict or one is not here. */
  mergedTree(site: Site, onto: string, head: string): Promise<string | undefined>;
  /** The text of a file in a commit's tree; undefined where it has none. */
  fileAt(site: Site, commit: string, path: string): Promise<string | undefined>;
  /** The first-parent commits of a stretch that change one of these files, newest first. */
  changing(site: Site, stretch: Stretch, paths: readonly string[]): Promise<string[]>;
  /** Every text that records of a folder have had in the history of the state: of a commit, or of this clone's own. */
  recordVersions(
    site: Site,
    folder: string,
    commit: string | undefined,
  ): Promise<{ path: string; text: string }[]>;
  /** Records and logs that one commit of the state has, and a later one has not, or not all lines of. */
  removedRecords(site: Site, old: string, fresh: string): Promise<string[]>;
  /** Files of the state by their path, from a branch that was fetched; without a text where it is none in UTF-8. */
  stateTexts(
    site: Site,
    commit: string | undefined,
    wanted: (path: string) => boolean,
  ): Promise<{ commit: string; texts: ReadonlyMap<string, string | undefined> } | undefined>;
}

export interface AskedRemote {
  name: string;
  /** What its word is worth before it says anything; undefined for one that has to be asked. */
  word: RemoteWord | undefined;
  /** What is known here; whatever it has beyond that is wanted. */
  beyond: readonly string[];
}

export interface RemoteAnswer extends RemoteFact {
  /** The commit up to which this remote explains anything; undefined when it explains nothing. */
  upTo: string | undefined;
  /** First-parent commits that it has beyond what is known here, the newest first. */
  ahead: CommitFact[];
}

export interface TracesWanted {
  protectedRefs: readonly string[];
  /** Moves that an approval under way may make just now. */
  granted: readonly { ref: string; old: string; new: string }[];
  /** Unlocks that are open, with the second at which each ends. */
  open: readonly { id: string; ref: string; until: string }[];
  /** The records say that the guard was put in place in this clone. */
  guarded: boolean;
}
