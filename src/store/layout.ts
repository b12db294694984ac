import { basename, dirname } from "node:path";
import { pathBelow } from "../files/path-below.ts";

/** Where the state of one repository is, and where its generated files are. */
export interface Home {
  /** The memory repository's work tree: the records. */
  state: string;
  /** How that folder is called in messages: relative where it can be. */
  shown: string;
  /** `<git common dir>/pawl`: per clone, untracked, shared by all worktrees. */
  local: string;
  /** The git directory of the memory repository. */
  gitDir: string;
  clone: string;
}

/** Files inside the state folder that are about this machine and this moment; the memory repository ignores them. */
export const LOCAL = ".local";

export const lockDir = (home: Home) => pathBelow(home.state, LOCAL, "lock");
export const stagingDir = (home: Home) => pathBelow(home.state, LOCAL, "tmp");
export const journalDir = (home: Home) => pathBelow(home.state, LOCAL, "journal");
export const keysDir = (home: Home) => pathBelow(home.state, LOCAL, "keys");
export const rescuedDir = (home: Home) => pathBelow(home.state, LOCAL, "rescued");
/** A lock per task, held as long as its worktrees are being made or removed. */
export const heldDir = (home: Home) => pathBelow(home.state, LOCAL, "held");
/** Journals of merges that are under way, or that a killed process left. */
export const mergingDir = (home: Home) => pathBelow(home.state, LOCAL, "merging");
/**
 * What agents' runs leave while they run, beside the state's history: the same from every repository that shares the
 * state, and out of reach of whoever deletes the records' folder.
 */
export const runsDir = (home: Home) => besideHistory(home, "runs");
/** What was last seen of claims on the remote, and what commands are about to do with them. */
export const claimsDir = (home: Home) => besideHistory(home, "claims");

const besideHistory = ({ gitDir }: Home, name: string) =>
  basename(gitDir) === "state.git" ? pathBelow(dirname(gitDir), name) : pathBelow(gitDir, `pawl-${name}`);
/** The common directory of the repository that the state belongs to. */
export const homeCommonDir = ({ gitDir, local }: Home) =>
  basename(gitDir) === "state.git" ? dirname(dirname(gitDir)) : dirname(local);
