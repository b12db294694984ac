import type { Route } from "./remotes.ts";
import type { Site } from "./sites.ts";

/**
 * Whether hooks may stop demanding what the policy has dropped: never, only when the policy comes from a branch that is
 * where it went before the guard's eyes, or whatever the policy says.
 */
export type Loosening = "never" | "explained" | "always";

export interface GuardActivation {
  /** Patterns of branches that are protected now. */
  patterns: string[];
  /** The protected branches, at what they were when they began to be guarded. */
  tips: { ref: string; commit: string }[];
  /** Hooks that were there before and go on running. */
  previous: string[];
  /** Paths that were written or removed; none when everything was in place. */
  changed: string[];
  notes: string[];
}

/** Something that keeps the guard from holding, or that changed since it was put in place. */
export interface GuardProblem {
  code:
    | "not_active"
    | "override"
    | "silent"
    | "file_changed"
    | "outdated"
    | "not_chained"
    | "taken_over"
    | "policy_changed"
    | "policy_stricter"
    | "policy_unreadable"
    | "node_missing"
    | "program_missing"
    | "tripped"
    | "unlocked"
    | "overtaken"
    | "unsupported";
  /** The worktree, file or branch it is about. */
  where: string;
  message: string;
  /** The one command that puts it right; absent where none does. */
  command?: string;
}

/** An approved merge at the tip of a protected branch, which a remote does not have. */
export interface MergeAhead {
  branch: string;
  remote: string;
  /** The task that it is the merge of; a fast-forward does not tell. */
  task: string | undefined;
  /** The remote has gone on without it: neither pull nor push helps, and the merge has to be made once more. */
  overtaken: boolean;
}

export interface GuardState {
  /** The guard was activated in this repository and not deactivated since. */
  installed: boolean;
  problems: GuardProblem[];
}

/** The hooks of a repository: putting them in place, taking them away, seeing whether they hold. */
export interface Guard {
  /** Hooks let in what these remotes have. May be repeated, and is the repair too. Hooks never get looser unless that is asked for. */
  activate(site: Site, remotes: readonly Route[], loosening?: Loosening): GuardActivation;
  /** The same for a guard that is there: what its hooks start stays what it was, while that can be started. */
  renew(site: Site, remotes: readonly Route[], loosening: Loosening): GuardActivation;
  /** Throws where it could not be put in place; asked before anything else is changed. */
  expectSupported(site: Site): void;
  /** The policy may be another one than the hooks were made from; found out by looking at a few files. */
  mayBeOutdated(site: Site): boolean;
  /** What `activate` would do, without doing it. */
  rehearse(site: Site): { do: string; path: string }[];
  deactivate(site: Site): { removed: string[]; notes: string[] };
  rehearseDeactivation(site: Site): { do: string; path: string }[];
  /** Looks at everything that an activation would write, and has git itself ask the guard in every worktree. */
  inspect(site: Site): GuardState;
}
