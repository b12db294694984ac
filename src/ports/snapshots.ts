import type { RunRepo, RunSnapshot } from "../model/records/run.ts";
import type { Site } from "./sites.ts";

/** One repository's work, saved: a commit that a ref keeps, and a patch that waits to be put beside the run's record. */
export interface SavedWork {
  snapshot: RunSnapshot;
  /** The finished patch in the state's staging folder; whoever asked for it removes it. */
  patch: string;
  warnings: string[];
}

/** A diff that can be read again. */
export interface SavedPatch {
  /** The bytes as they were saved, in pieces. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Per file: what was added and deleted; undefined for a binary file. */
  stat(): Promise<{ path: string; insertions: number | undefined; deletions: number | undefined }[]>;
  close(): void;
}

/** Another way to look at what was saved. */
export interface Remaking {
  /** From this commit on, instead of from where the work began. */
  since?: string | undefined;
  /** Lines that differ in white space alone are no change. */
  ignoreSpace?: boolean | undefined;
}

interface Remade {
  patch: SavedPatch;
  /** What of the snapshot is different for it. */
  facts: Pick<RunSnapshot, "base_head" | "patch_sha256" | "files" | "insertions" | "deletions">;
}

export interface Snapshots {
  /** Saves what is committed and what is not; neither files nor index, HEAD or branches of the user change. */
  save(site: Site, repo: RunRepo, worktree: string, run: string): Promise<SavedWork>;
  /** What would be saved: the worktree, the branch alone, or nothing; throws what `save` would refuse with. */
  source(site: Site, repo: RunRepo, worktree: string): Promise<"worktree" | "branch">;
  /** Removes finished patches that are not needed any more. */
  discard(patches: readonly string[]): void;
  /** The patch at this path of the state folder, if its bytes are the ones that were recorded. */
  open(path: string, sha256: string): Promise<SavedPatch | undefined>;
  /** The diff made again from the commit that the repository keeps, as it was or another way; undefined when it does not. */
  remake(site: Site, snapshot: RunSnapshot, how?: Remaking): Promise<Remade | undefined>;
  /** The lines of a file as the saved commit has them; undefined where the commit is not here, or has no such file. */
  lines(site: Site, snapshot: RunSnapshot, path: string): Promise<string[] | undefined>;
  /** Whether the saved commit itself is here, and not only its patch. */
  keeps(site: Site, snapshot: RunSnapshot): Promise<boolean>;
  /** Whether the branch has other commits than the saved ones; false when that cannot be told. */
  hasMovedOn(site: Site, repo: RunRepo, snapshot: RunSnapshot): Promise<boolean>;
}
