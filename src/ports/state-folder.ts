/** The records of this repository as a whole. */
export interface StateFolder {
  /** The records belong to another repository, which this one is only linked to. */
  foreign: boolean;
  /** How it is called in messages. */
  shown: string;
  /** What it holds beyond what an installation writes about itself. */
  count(): { tasks: number; others: number };
  /** What is wrong with the history of the records; undefined when it is whole. */
  damage(): Promise<string | undefined>;
  /** Goes back to the last whole commit, and commits what the records are now. */
  repair(): Promise<string>;
  /** Puts records back as the state's history last had them, if an event tells of that text; answers with those it found. */
  bringBack(paths: readonly string[]): Promise<string[]>;
  /** Moves files that are no records out of the way, to where they can be found. */
  setAside(paths: readonly string[]): { path: string; to: string }[];
  /** Throws where something would be removed that is not this repository's own state. */
  checkRemovable(): void;
  /** Removes the records, their history, saved diffs, and every trace of them in the git directory. */
  remove(): void;
}
