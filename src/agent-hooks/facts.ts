/** What is true about a folder, as far as the rules need it. */
export interface Spot {
  /** Top of the worktree; undefined inside git's own folder. */
  root: string | undefined;
  gitDir: string;
  commonDir: string;
  /** Top of the main worktree, where the repository has one. */
  mainRoot: string | undefined;
  /** Undefined when no branch is checked out, or only git could tell. */
  branch: string | undefined;
  /** No commit on it yet. */
  unborn: boolean;
  /** The task that this worktree is bound to. */
  task: string | undefined;
  /** Whether pawl guards this clone: what is not ours is not our business. */
  guarded: boolean;
  /** Protected, and not unlocked by a human just now. */
  isProtected(branch: string): boolean;
}

/** Looks at the world when a rule needs it, so that a command that needs none pays for none. */
export interface Facts {
  /** Where a folder, or the nearest one above it that exists, belongs. */
  spotOf(folder: string): Spot | undefined;
  /** Whether this very session holds the task of a worktree, or another one does while this one holds a task of its own. */
  holding(spot: Spot): "mine" | "another's" | undefined;
  home: string | undefined;
  /** A path without links; its last parts may not exist. */
  real(path: string): string;
}
