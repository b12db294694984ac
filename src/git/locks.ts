import { step } from "../model/steps.ts";
import type { Locks } from "../ports/locks.ts";
import { lockBranch, unlockBranch } from "./grants.ts";

export function openLocks(): Locks {
  return {
    later: (seconds) => new Date((Math.floor(Date.now() / 1000) + seconds) * 1000).toISOString(),
    open(site, ref, until, record) {
      step("unlock grant");
      unlockBranch(site.commonDir, ref, Date.parse(until) / 1000, record);
    },
    close(site, ref, record) {
      step("unlock withdraw");
      lockBranch(site.commonDir, ref, record);
    },
  };
}
