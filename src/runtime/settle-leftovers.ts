import { hasUnlocks } from "../git/guard-files.ts";
import { mayBeOutdated } from "../guard/quick-look.ts";
import { Failure } from "../model/failure.ts";
import type { Hands } from "../ports/hands.ts";
import { hasMarkedClaims, hasOpenRuns, hasUnfinishedMerges } from "../store/unfinished.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

/** What a kill, an agent's end, the clock or a new policy leaves for the next command to do. */
interface Leftover {
  isThere(runtime: Runtime): boolean;
  /** The operation that its events belong to. */
  operation: string;
  /** Loads its code only now, because every command passes here and few find anything; answers with what to tell. */
  settle(hands: Hands): Promise<string[]>;
  /** Said where it cannot be done now, which then keeps nobody from working. */
  failing?: string;
}

/** In the order in which they are settled. */
const LEFTOVERS = {
  merges: {
    isThere: ({ home }) => hasUnfinishedMerges(home),
    operation: "approve",
    settle: async (hands) => (await import("../flows/approve/approve-recover.ts")).recoverMerges(hands),
    failing: "An earlier merge is not settled yet",
  },
  unlocks: {
    isThere: ({ place }) => hasUnlocks(place.commonDir),
    operation: "unlock",
    settle: async (hands) => (await import("../flows/audit/unlocks.ts")).closeExpired(hands),
    failing: "An expired unlock could not be closed yet",
  },
  runs: {
    isThere: ({ home }) => hasOpenRuns(home),
    operation: "run",
    settle: async (hands) => {
      const ended = await (await import("../flows/run/run-settle.ts")).settleRuns(hands);
      return ended.map(({ id, status }) => `${id} has ended: ${status}.`);
    },
    failing: "The end of a run could not be recorded yet",
  },
  claims: {
    isThere: ({ home }) => hasMarkedClaims(home),
    operation: "start",
    settle: async (hands) => (await import("../flows/claims/settle-claim.ts")).settleClaims(hands),
    failing: "A claim that a killed command left could not be settled yet",
  },
  guards: {
    isThere: ({ place }) => mayBeOutdated(place.commonDir),
    operation: "install",
    settle: async (hands) => (await import("../flows/guard/activate-guard.ts")).renewGuards(hands),
  },
} satisfies Record<string, Leftover>;

const ALL = Object.keys(LEFTOVERS) as (keyof typeof LEFTOVERS)[];

/** Answers with what to tell about it. */
export async function settleLeftovers(runtime: Runtime, which = ALL): Promise<string[]> {
  const said: string[] = [];
  for (const leftover of which.map((name): Leftover => LEFTOVERS[name])) {
    if (!leftover.isThere(runtime)) continue;
    const later: string[] = [];
    try {
      said.push(...(await leftover.settle(handsFor(leftover.operation, runtime, later))));
    } catch (error) {
      if (!(error instanceof Failure) || leftover.failing === undefined) throw error;
      said.push(`${leftover.failing}: ${error.message}`);
    }
    said.push(...later);
  }
  return said;
}
