import type { Site } from "./sites.ts";

/** Where a branch is published. */
export interface Upstream {
  remote: string;
  /** What the branch is called there, without `refs/heads/`. */
  ref: string;
  /** The remote-tracking ref in this repository, `refs/remotes/…`. */
  tracking: string;
}

type Pushed =
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

/** The way to a remote, as git's settings have it now. Nothing in it is a secret. */
export interface Route {
  name: string;
  /** Where fetches go, after everything that git rewrites. */
  address: string;
  /** Where pushes go: each of them moves the remote-tracking ref too. */
  push: string[];
  /** Settings and variables that decide who answers there (`key=value`), such as another program in place of ssh. */
  settings: string[];
}

/** Transfers over a network. They use the user's own settings and credential helpers, and never ask for anything. */
export interface Remotes {
  /** What the branch's settings say, else `origin` if there is one; undefined when the branch has no place to go. */
  remoteOf(site: Site, branch: string): Promise<Upstream | undefined>;
  routes(site: Site): Promise<Route[]>;
  /** Why a human may not trust what answers there, in words that follow its name; undefined when a human may. */
  untrustworthy(site: Site, route: Route): string | undefined;
  /** What this clone remembers of the ways that a human confirmed. Whether one really did, the records tell. */
  remembered(site: Site): Route[];
  remember(site: Site, routes: readonly Route[]): void;
  fetch(site: Site, remote: string, progress: (line: string) => void): Promise<void>;
  push(site: Site, remote: string, refspecs: string[], progress: (line: string) => void): Promise<Pushed>;
}
