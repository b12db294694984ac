import type { Audits } from "./audits.ts";
import type { Branches } from "./branches.ts";
import type { Claims } from "./claims.ts";
import type { Guard } from "./guard.ts";
import type { Installation } from "./installation.ts";
import type { Locks } from "./locks.ts";
import type { Merges } from "./merges.ts";
import type { Remotes } from "./remotes.ts";
import type { Rescues } from "./rescues.ts";
import type { Sites } from "./sites.ts";
import type { Snapshots } from "./snapshots.ts";
import type { StateExchange } from "./state-exchange.ts";
import type { StateFolder } from "./state-folder.ts";
import type { Targets } from "./targets.ts";
import type { Worktrees } from "./worktrees.ts";

/** What a procedure may do with git, each part loaded when it is used. */
export interface GitHands {
  sites(): Promise<Sites>;
  remotes(): Promise<Remotes>;
  snapshots(): Promise<Snapshots>;
  stateExchange(): Promise<StateExchange>;
  stateFolder(): Promise<StateFolder>;
  /** The newest commit of the records that pawl made here, where their branch was taken back behind it. */
  lostRecords(): Promise<string | undefined>;
  branches(): Promise<Branches>;
  claims(): Promise<Claims>;
  guard(): Promise<Guard>;
  installation(): Promise<Installation>;
  worktrees(): Promise<Worktrees>;
  targets(): Promise<Targets>;
  merges(): Promise<Merges>;
  audits(): Promise<Audits>;
  locks(): Promise<Locks>;
  rescues(): Promise<Rescues>;
}
