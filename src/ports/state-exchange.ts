import type { Situation } from "./operation.ts";

/** What each side has of the state's branch; undefined for a side that has none yet. */
export interface BothTips {
  ours: string | undefined;
  theirs: string | undefined;
}

/** One file that both sides have, and not the same one. */
export interface Divergence {
  path: string;
  /** What both once had; undefined when each side made it by itself, or when there is more than one such text. */
  base: string | undefined;
  /** Undefined for what is not text, and cannot be merged. */
  ours: string | undefined;
  theirs: string | undefined;
  /** Both sides made it since they last agreed: the same id was given twice. Not known where they never agreed. */
  fresh: boolean | undefined;
}

/** A record of ours that got another id, because theirs was published under the first one. */
export interface Renumbered {
  from: string;
  to: string;
}

/** A task's folder that means another task here than there: the same id was given twice. */
export interface TakenTwice {
  task: string;
  /** Who has changed it since both last agreed; `both` needs a human, the others were settled by one. */
  by: "ours" | "theirs" | "both";
}

/** What the two sides differ in. What only one side has needs no thought: nothing is ever dropped. */
export interface Comparison extends BothTips {
  /** Their files that are to be put into place as they are. */
  incoming: string[];
  diverged: Divergence[];
  takenTwice: TakenTwice[];
}

/** A text that takes the place of ours, because it says what both sides said. */
export interface MergedText {
  path: string;
  /** Of which record it is; undefined for a log. */
  record: string | undefined;
  rev: number;
  before: string;
  text: string;
  about: string;
}

/** What was decided about a comparison. */
export interface Merged {
  comparison: Comparison;
  /** Files of theirs that take the place of ours, beside the incoming ones. */
  taken: string[];
  texts: MergedText[];
  /** Tasks whose whole folder is to be theirs; ours is set aside, and stays in the history. */
  replaced: string[];
}

/** The state's branch, and the same branch on the project's own remote. */
export interface StateExchange {
  /** The remote to use; throws when there is none, or none of this name. */
  remote(named: string | undefined): Promise<string>;
  /** Where a push to it would go. */
  address(remote: string): Promise<string>;
  /** The remote that is known to have the state; undefined where it was never shared. */
  sharedWith(): Promise<string | undefined>;
  /** A human was asked whether to publish this clone's records, and has not said yes. */
  isHeldBack(): boolean;
  holdBack(held: boolean): void;
  /** Commits what the state folder holds, and gets what the remote has. */
  gather(remote: string, progress: (line: string) => void): Promise<BothTips>;
  /** Commits what the state folder holds. Theirs is what its branch had before somebody took it back; undefined where nobody did. */
  takenBack(): Promise<BothTips | undefined>;
  compare(tips: BothTips): Promise<Comparison>;
  /**
   * Gives our records at these paths the next free ids, with everything of ours that speaks of them; theirs keep the ids.
   * None when that has been done: then ours may be replaced. Undefined when somebody was faster.
   */
  renumber(
    comparison: Comparison,
    paths: readonly string[],
    at: Situation,
  ): Promise<Renumbered[] | undefined>;
  /** Puts everything in place under the store's lock, and joins the histories. False when somebody was faster. */
  apply(merged: Merged, at: Situation): Promise<boolean>;
  /** `behind` when the remote has moved on meanwhile. */
  publish(
    remote: string,
    tips: BothTips,
    progress: (line: string) => void,
  ): Promise<"pushed" | "nothing" | "behind">;
  /** Calls the home repository by the name that its own state gives it, unless it was given one here. */
  adoptName(name: string): Promise<void>;
  /** A command that shows a file as a commit of the state has it. */
  showFile(commit: string, path: string): string;
}
