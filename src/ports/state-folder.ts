/** The records of this repository as a whole. */
export interface StateFolder {
  /** The records belong to another repository, which this one is only linked to. */
  foreign: boolean;
  /** How it is called in messages. */
  shown: string;
  /** What it holds beyond what an installation writes about itself. */
  count(): { tasks: number; others: number };
  /** Removes the records, their history, saved diffs, and every trace of them in the git directory. */
  remove(): void;
}
