import { join } from "node:path";
import { printIdentity, seeProcesses } from "../../files/process-identity.ts";
import type { RunReason } from "../../model/records/attempt.ts";
import { step } from "../../model/steps.ts";
import { dropIndexLocks, endProcesses } from "../end-processes.ts";
import { markedProcesses } from "../processes.ts";
import {
  type AttemptSpec,
  type ExitFile,
  files,
  makeOnce,
  ownerFile,
  owners,
  putOnce,
  readExit,
  readGuard,
} from "./folder.ts";
import { giveUp, isGivenUp, isRebooted, isSupervised, seeState } from "./state.ts";

/** What outlives its agent has nothing to finish. */
const SWEEP_MS = 400;

const self = () => printIdentity(seeProcesses().self);

/**
 * Does whatever a crash left to do, and says how the attempt stands then. Safe to run at any time and by several at
 * once: each step has one winner, and the others find its result.
 */
export async function settleAttempt(
  path: string,
  spec: AttemptSpec,
): Promise<"starting" | "running" | "orphaned" | "ended"> {
  for (;;) {
    const seen = seeState(path, spec);
    switch (seen) {
      case "starting":
      case "running":
      case "orphaned":
        return seen;
      case "ended":
        await sweep(path, spec);
        return "ended";
      case "unowned":
        step("attempt give up");
        putOnce(join(path, files.owner), giveUp(self()));
        break;
      case "never":
        // Making the folder asks whether an agent got going, and forbids it, in one step.
        step("attempt forbid");
        if (makeOnce(join(path, files.started))) writeExit(path, { code: null, lost: "never_started" });
        break;
      case "lost":
        if (spec.stopCommand) await endProcesses(spec, readGuard(path), SWEEP_MS);
        await sweep(path, spec);
        step("attempt lost");
        writeExit(path, { code: null, lost: isRebooted(path) ? "rebooted" : "guard_lost" });
        break;
    }
  }
}

async function sweep(path: string, spec: AttemptSpec): Promise<void> {
  if (markedProcesses(spec.mark).length > 0) await endProcesses(spec, readGuard(path), SWEEP_MS);
  await dropIndexLocks(spec);
}

/** The first one who writes it is believed; a status is never overwritten. */
export function writeExit(
  path: string,
  exit: { code: number | null; lost?: RunReason; by?: ExitFile["by"] },
): boolean {
  const { code, lost, by = "settler" } = exit;
  return putOnce(join(path, files.exit), JSON.stringify({ code, by, lost, at: new Date().toISOString() }));
}

/** Takes the place of nobody, or of a supervisor that is dead; false when somebody else was faster, or closed it. */
export function takeOver(path: string): boolean {
  const before = owners(path);
  const last = before.at(-1);
  if (last !== undefined && (isGivenUp(last) || isSupervised(path, last))) return false;
  return putOnce(join(path, ownerFile(before.length + 1)), self());
}

/** True once nobody supervises an attempt that has ended. Asking closes it, so that nobody ever will again. */
export function isAtRest(path: string): boolean {
  if (!readExit(path)) return false;
  for (;;) {
    const all = owners(path);
    const last = all.at(-1);
    if (last !== undefined && isGivenUp(last)) return true;
    if (last !== undefined && isSupervised(path, last)) return false;
    putOnce(join(path, ownerFile(all.length + 1)), giveUp(self()));
  }
}
