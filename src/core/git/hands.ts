import type { Branches } from "./branches.ts";
import type { Sites } from "./sites.ts";

/** What a procedure may do with git, each part loaded when it is used. */
export interface GitHands {
  sites(): Promise<Sites>;
  branches(): Promise<Branches>;
}
