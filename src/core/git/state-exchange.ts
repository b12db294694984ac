/** What each side has of the state's branch; undefined for a side that has none yet. */
export interface BothTips {
  ours: string | undefined;
  theirs: string | undefined;
}

/** One file that both sides have, and not the same one; no `base` when each side made it by itself. */
export interface Divergence {
  path: string;
  base: string | undefined;
  ours: string;
  theirs: string;
}

/** A task's folder that means another task here than there: the same id was given twice. */
export interface TakenTwice {
  task: string;
  /** Who has changed it since both last agreed; `both` needs a human, the others were settled by one. */
  by: "ours" | "theirs" | "both";
}

/** What the two sides differ in. Files that only one side has need no thought: nothing is ever dropped. */
export interface Comparison extends BothTips {
  /** Their files that are to be put into place as they are. */
  incoming: string[];
  diverged: Divergence[];
  takenTwice: TakenTwice[];
  /** Our side has something that theirs does not. */
  outgoing: boolean;
}

/** What was decided about a comparison. */
export interface Merged {
  comparison: Comparison;
  /** Texts for files that both sides changed. */
  texts: { path: string; record: string; rev: number; before: string; text: string; about: string }[];
  /** Tasks whose folder is to be theirs; ours is set aside, and stays in the history. */
  replaced: string[];
  /** Tasks whose folder stays ours, whatever theirs has below it. */
  kept: string[];
}

/** The state's branch, and the same branch on the project's own remote. */
export interface StateExchange {
  /** The remote to use; throws when there is none, or none of this name. */
  remote(named: string | undefined): Promise<string>;
  /** Commits what the state folder holds, and gets what the remote has. */
  gather(remote: string, progress: (line: string) => void): Promise<BothTips>;
  compare(tips: BothTips): Promise<Comparison>;
  /** Puts everything in place under the store's lock, and joins the histories. False when somebody was faster. */
  apply(merged: Merged): Promise<boolean>;
  /** False when the remote has moved on meanwhile. */
  publish(remote: string, progress: (line: string) => void): Promise<boolean>;
  /** Calls this repository by the name that its own state gives it. */
  adoptName(name: string): void;
}
