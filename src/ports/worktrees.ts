import type { Site } from "./sites.ts";

/** A worktree as git knows it, whether its folder is still there or not. */
export interface KnownWorktree {
  path: string;
  /** Its own git directory, relative to the common one: `worktrees/<id>`, or `.` for the main worktree. */
  gitDir: string;
  branch: string | undefined;
  /** Its folder is there. */
  present: boolean;
  /** Why git keeps it from being removed, possibly without words; undefined when nothing does. */
  lock: string | undefined;
  /** The task that it is bound to. */
  task: string | undefined;
}

/** Everything about a repository that decides whether work can begin or end there. */
export interface RepositoryLook {
  /** What we cannot work with, in words; then everything else is empty. */
  unsupported: string | undefined;
  /** Local branches and their commits. */
  heads: ReadonlyMap<string, string>;
  /** Remote-tracking branches such as `origin/main`. */
  remotes: ReadonlyMap<string, string>;
  /** What the remote calls its default branch. */
  defaultBranch: string | undefined;
  worktrees: readonly KnownWorktree[];
}

/** One repository's part of a task: which branch it is done on, and where. */
export interface Workplace {
  site: Site;
  task: string;
  branch: string;
  /** Absolute. */
  path: string;
}

/** What keeps a worktree from being removed, and what would go with it. */
export interface RemovalLook {
  standing: boolean;
  /** A merge, rebase, bisect or the like that was begun there and not ended. */
  operation: string | undefined;
  /** Programs that run there. */
  processes: string[];
  /** Submodules that have a repository of their own there. */
  submodules: string[];
  /** Repositories in ignored folders: their commits are saved nowhere else. */
  nested: string[];
  ignored: number;
}

export type FoundWorktree =
  /** `linked` is false for a folder that does not say that it is the worktree: it may be anything. */
  | { state: "in place"; worktree: KnownWorktree; linked: boolean }
  | { state: "aside" | "doomed"; worktree: KnownWorktree }
  | { state: "gone"; worktree: KnownWorktree | undefined };

/** What is in a worktree, to the byte; `whole` is false when a tree of git's cannot hold all of it. */
export interface Content {
  tree: string;
  whole: boolean;
  head: string;
  /** The content is that of the commit. */
  committed: boolean;
  /** Something is staged that is neither in the commit nor in the files. */
  staged: boolean;
}

/**
 * Making and removing the places where a task's work is done. Every act may be repeated, and goes on where a killed
 * process stopped.
 */
export interface Worktrees {
  /** Keeps others from starting or finishing the same task meanwhile; undefined when somebody does so now. */
  hold(task: string): (() => void) | undefined;
  /** Whether the worktrees of this clone are on this machine. */
  isOurs(clone: string): boolean;

  look(site: Site): Promise<RepositoryLook>;
  /** The worktree we stand in; undefined inside a bare repository. */
  here(): KnownWorktree | undefined;
  /** The absolute path of what a template gave. */
  place(site: Site, path: string): string;
  occupied(path: string): boolean;
  /** Something of ours is in the main worktree that a branch from this commit would not have. */
  lacks(site: Site, commit: string, path: string): Promise<boolean>;
  mergeBase(site: Site, one: string, other: string): Promise<string | undefined>;
  contains(site: Site, commit: string, inside: string): Promise<boolean>;
  isDirty(path: string): Promise<boolean>;
  /** When anybody last staged, committed or switched something there. */
  lastSign(site: Site, worktree: KnownWorktree): string | undefined;
  content(path: string): Promise<Content>;
  /** A ref keeps exactly this commit, and it has this tree. */
  isKept(site: Site, ref: string, commit: string, tree: string): Promise<boolean>;
  /** `leaving`: whoever runs this may stand there, in a shell of their own. */
  beforeRemoval(site: Site, worktree: KnownWorktree, leaving: boolean): Promise<RemovalLook>;

  /** The branch at this commit; one that is there already must be at it. */
  makeBranch(place: Workplace, commit: string): Promise<void>;
  /** The worktree of the branch, complete at its final path; answers with what went less than well. */
  build(place: Workplace): Promise<string[]>;
  /** Brings what was saved without being committed into the files of a new worktree; nothing is staged. */
  putBack(place: Workplace, saved: { commit: string }): Promise<void>;
  /** Ties worktree, branch and task together, and locks the worktree unless somebody has. */
  bind(place: Workplace): Promise<void>;
  /** Says in the worktree who holds its task; undefined while that is a run of pawl's own. */
  noteHolder(place: Workplace, holder: string | undefined): void;
  /** Takes back what `bind` did, and nothing else. */
  release(place: Workplace): Promise<void>;
  lockAs(place: Workplace, reason: string): Promise<void>;
  /** Takes back what was made since `commit`; what somebody `used` meanwhile stays. */
  undo(place: Workplace, commit: string): Promise<"undone" | "used">;
  /** Makes git forget a worktree whose folder is gone. */
  forget(site: Site, worktree: KnownWorktree): Promise<void>;
  /** Where it is and how far a removal has come; a `doomed` one was proved to be saved and only has to go. */
  whereabouts(place: Workplace): FoundWorktree;
  /** Moves it to where nobody works, so that what is proved there stays true; and back. */
  setAside(place: Workplace): Promise<void>;
  bringBack(place: Workplace): Promise<void>;
  /** Marks what was set aside as saved: from now on nobody asks again what is in it. */
  doom(place: Workplace): void;
  /** Removes what was marked. */
  discard(place: Workplace): Promise<void>;
  /** Deletes the branch if it is still at this commit and no other worktree has it. */
  deleteBranch(place: Workplace, commit: string): Promise<boolean>;
}
