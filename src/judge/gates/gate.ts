/** What keeps a task from its next stage, who settles it, and how. */
export interface Reason {
  code: string;
  message: string;
  /** The record or path it is about. */
  record: string | undefined;
  repo?: string | undefined;
  /** The check of the policy that it is about. */
  check?: string | undefined;
  owner: "author" | "reviewer" | "human";
  command: string;
}

export const STAGES = ["plan", "review", "close", "manage"] as const;
export type Stage = (typeof STAGES)[number];

/** One repository of the task, as git sees it now. */
export interface RepoState {
  name: string;
  branch: string;
  base_branch: string;
  /**
   * False if the base is not a protected branch; where nothing at all is guarded it is true, and that is
   * reported elsewhere.
   */
  guarded: boolean;
  /** The policy says that nothing has to be checked. */
  unchecked: boolean;
  head: string;
  tree: string;
  /** The tip of the base branch. */
  base: string;
  /** The checks that the policy names, run or not. */
  required: string[];
  /** Whether anything differs from the base; if not, the repository is neither checked nor merged. */
  changed: boolean;
}

/** Exactly what a passed close stage is bound to: the receipt without who and when. */
export interface Seal {
  repos: { name: string; head: string; tree: string; base: string }[];
  records: string;
  proofs: { path: string; sha256: string }[];
  digest: string;
}

export interface GateResult {
  task: string;
  stage: Stage;
  ready: boolean;
  reasons: Reason[];
  repos: RepoState[];
  /** Set only if the close stage passed. */
  seal: Seal | undefined;
}
