import { basename, dirname } from "node:path";

/** Where the state of one repository is, and where its generated files are. */
export interface Home {
  /** The state repository's work tree: the records. */
  state: string;
  /** How that folder is called in messages: relative where it can be. */
  shown: string;
  /** `<git common dir>/pawl`: per clone, untracked, shared by all worktrees. */
  local: string;
  /** The git directory of the state repository. */
  gitDir: string;
  clone: string;
}

/** Files inside the state folder that are about this machine and this moment; the state repository ignores them. */
export const LOCAL = ".local";

export const lockDir = (home: Home) => `${home.state}/${LOCAL}/lock`;
export const stagingDir = (home: Home) => `${home.state}/${LOCAL}/tmp`;
export const journalDir = (home: Home) => `${home.state}/${LOCAL}/journal`;
export const keysDir = (home: Home) => `${home.state}/${LOCAL}/keys`;
export const rescuedDir = (home: Home) => `${home.state}/${LOCAL}/rescued`;
/** A lock per task, held as long as its worktrees are being made or removed. */
export const heldDir = (home: Home) => `${home.state}/${LOCAL}/held`;
/** Journals of merges that are under way, or that a killed process left. */
export const mergingDir = (home: Home) => `${home.state}/${LOCAL}/merging`;
/**
 * What agents' runs leave while they run, beside the state's history: the same from every repository that shares the
 * state, and out of reach of whoever deletes the records' folder.
 */
export const runsDir = (home: Home) => besideHistory(home, "runs");
/** What was last seen of claims on the remote, and what commands are about to do with them. */
export const claimsDir = (home: Home) => besideHistory(home, "claims");

const besideHistory = ({ gitDir }: Home, name: string) =>
  basename(gitDir) === "state.git" ? `${dirname(gitDir)}/${name}` : `${gitDir}/pawl-${name}`;
/** The common directory of the repository that the state belongs to. */
export const homeCommonDir = ({ gitDir, local }: Home) =>
  basename(gitDir) === "state.git" ? dirname(dirname(gitDir)) : dirname(local);
