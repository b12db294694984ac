import type { Claim } from "../model/claim.ts";

/** A claim as a remote has it. */
export interface FoundClaim {
  task: string;
  commit: string;
  /** Undefined where it cannot be understood. */
  claim: Claim | undefined;
}

/** What this clone last knew of a claim; the remote may know better. */
export interface SeenClaim {
  remote: string;
  /** Undefined while it could not be told to the remote. */
  commit: string | undefined;
  claim: Claim;
  /** It is of this clone, or of another one on this machine that shares its state. */
  ours: boolean;
  seen: string;
}

export interface ClaimPush {
  task: string;
  /** What the remote is expected to have there; undefined for nothing. */
  old: string | undefined;
  /** Undefined gives it back. */
  claim: Claim | undefined;
}

export type ClaimPushed =
  /** `commit` is undefined after one was given back. */
  | { ok: true; commit: string | undefined }
  /** The remote has something else there. */
  | { ok: false };

/** Claims on the remote that the state is exchanged with, and what is known of them here. */
export interface Claims {
  /** How this machine is called by others. */
  machine: string;
  /** The remote that this clone has exchanged its state with; nobody else would know the tasks. */
  sharedWith(): string | undefined;
  share(remote: string): void;
  /** Throws where the remote cannot be reached. */
  look(remote: string, progress: (line: string) => void): Promise<FoundClaim[]>;
  /** The remote compares and swaps. Throws where it cannot be reached, or takes no claims. */
  push(remote: string, wish: ClaimPush, progress: (line: string) => void): Promise<ClaimPushed>;
  remembered(): SeenClaim[];
  remember(seen: Omit<SeenClaim, "seen">): void;
  forget(task: string): void;
  /** Said before a claim may change: whoever comes after a kill makes claim and records agree. */
  mark(task: string): void;
  unmark(task: string): void;
  marked(): string[];
  /** Nothing of it is left in this clone. */
  forgetAll(): void;
}
