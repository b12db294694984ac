import type { Site } from "./sites.ts";

/** Where a branch is published. */
export interface Upstream {
  remote: string;
  /** What the branch is called there, without `refs/heads/`. */
  ref: string;
  /** The remote-tracking ref in this repository, `refs/remotes/…`. */
  tracking: string;
}

export type Pushed =
  | { ok: true }
  | {
      ok: false;
      /**
       * `rejected`: the remote has moved on. `refused`: a hook or a rule on either side said no. `unreachable`: nobody
       * answered, or we were not let in.
       */
      reason: "rejected" | "unreachable" | "refused";
      said: string;
    };

/** Transfers over a network. They use the user's own settings and credential helpers, and never ask for anything. */
export interface Remotes {
  /** What the branch's settings say, else `origin` if there is one; undefined when the branch has no place to go. */
  remoteOf(site: Site, branch: string): Promise<Upstream | undefined>;
  fetch(site: Site, remote: string, progress: (line: string) => void): Promise<void>;
  push(site: Site, remote: string, refspecs: string[], progress: (line: string) => void): Promise<Pushed>;
}
