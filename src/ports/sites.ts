/** A repository that a task may touch, as this machine knows it. */
export interface Site {
  name: string;
  /** The state belongs to this one. */
  home: boolean;
  /** Shared by all linked worktrees of the repository; absolute. */
  commonDir: string;
  /** Top of its main worktree; undefined for a bare repository. */
  mainRoot: string | undefined;
}

/** The repository that a path is in, and whose state it uses. */
export interface Found extends Site {
  /** It has been pointed at this very state. */
  linked: boolean;
  /** It keeps records of its own, or those of yet another repository. */
  otherState: string | undefined;
}

/** The repositories that share this state, on this machine. */
export interface Sites {
  /** The one we stand in, whether it is the home of the state or linked to it. */
  here(): Site;
  /** All of them, the home first. */
  all(): Site[];
  /** Links whose folder is not there any more. */
  lost(): { name: string; commonDir: string }[];
  /** Throws when this machine does not know where it is. */
  named(name: string): Site;
  /** The absolute path of a worktree that a run's record names, and the other way round. */
  locate(site: Site, worktree: string): string;
  relate(site: Site, path: string): string;
  find(path: string): Found | undefined;
  /** Points it at this state, and remembers where it is. May be repeated. */
  link(site: Pick<Site, "commonDir">, name: string): void;
  unlink(name: string): void;
}
