import type { Site } from "./sites.ts";

/** What keeps a branch from being moved safely, each with its own code and the act that clears it. */
export interface Obstacle {
  code: string;
  message: string;
  hint: string;
  details: Record<string, unknown>;
}

/** A branch and where it would go: from the commit it must still be at, to a commit or tree. */
export interface Movement {
  branch: string;
  from: string;
  to: string;
}

interface CommitLine {
  id: string;
  subject: string;
}

/** What a merge brings, for a human who has to say yes to it. */
export interface Story {
  commits: CommitLine[];
  /** How many commits there are; `commits` holds the latest ones. */
  total: number;
  /** The lines of a diffstat. */
  stat: string[];
}

/** A branch's work, and the base that may have it: `from` is where the work began. */
export interface Landing {
  tip: string;
  from: string;
  base: string;
}

export interface Landed {
  how: "merge" | "fast-forward" | "squash" | "rebase";
  /** The commits of the base that brought it. */
  commits: string[];
}

/** Looks at repositories that a task returns to. None of them changes a byte of the user's. */
export interface Targets {
  /** Why this repository cannot be merged by us at all, such as ids of another length; undefined when it can. */
  unsupported(site: Site, branch: string): Promise<Obstacle | undefined>;
  /** The commit at the tip of a full ref name. */
  tip(site: Site, ref: string): Promise<string | undefined>;
  treeOf(site: Site, commit: string): Promise<string>;
  /** Whether `ancestor` is part of `commit`. */
  contains(site: Site, commit: string, ancestor: string): Promise<boolean>;
  /** Whether going back from `head` by first parents comes to `base`. */
  isStraight(site: Site, base: string, head: string): Promise<boolean>;
  /** How many commits in between change this file, also where a later one changes it back. */
  timesChanged(site: Site, base: string, head: string, path: string): Promise<number>;
  /** How many commits only the one and only the other has. */
  apart(site: Site, left: string, right: string): Promise<{ left: number; right: number }>;
  /** Paths that differ between where two commits parted and the second of them, both names of a renamed file. */
  changedSince(site: Site, other: string, commit: string): Promise<string[]>;
  /** Whether the base has the work, as its own commits or in another form; undefined when it does not. */
  landed(site: Site, landing: Landing): Promise<Landed | undefined>;
  /** Brings a branch forward to what its remote-tracking ref has, as `git pull --ff-only` would, with its checkout. */
  follow(site: Site, branch: string, tracking: string): Promise<void>;
  /** The difference between two commits as text; binary files are only named. */
  patch(site: Site, base: string, head: string): Promise<string>;
  story(site: Site, base: string, head: string): Promise<Story>;
  /** Folders in which this branch is checked out. */
  checkouts(site: Site, branch: string): Promise<string[]>;
  /**
   * Everything of the user's that stands in the way of this movement in any checkout of the branch: edits, files at
   * added paths (ignored ones too), an operation in progress, a lock.
   */
  obstacles(site: Site, movement: Movement): Promise<Obstacle[]>;
}
