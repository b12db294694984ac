import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLeaseOver, parseIdentity, seeProcesses } from "../../files/process-identity.ts";
import type { AttemptState } from "../../ports/agents.ts";
import { isMarked, markedProcesses } from "../processes.ts";
import { type AttemptSpec, files, modifiedAt, owners, readExit, readGuard } from "./folder.ts";

/** How long a launcher may take between the folder and its supervisor; a loaded machine only costs patience. */
const START_PATIENCE_MS = 3_000;
/** Wakes the supervisor, so that it looks for a request at once. */
export const NUDGE = "SIGUSR2";
const GIVEN_UP = "given up";

/**
 * What the folder shows, before anything is done about it. `unowned`: nobody supervises it, and nobody will. `lost`:
 * neither supervisor nor guard is left. `orphaned`: the guard still waits for the agent.
 */
export type SeenState = AttemptState | "unowned" | "lost" | "never";

export function seeState(path: string, spec: Pick<AttemptSpec, "mark">): SeenState {
  if (readExit(path)) return "ended";
  const all = owners(path);
  const owner = all.at(-1);
  if (owner === undefined) {
    const age = Date.now() - (modifiedAt(path) ?? 0);
    return age < START_PATIENCE_MS ? "starting" : "unowned";
  }
  if (isSupervised(path, owner)) return "running";
  if (!existsSync(join(path, files.started))) return "never";
  const guard = readGuard(path);
  // A guard that made the folder and has not said its pid yet is known by its mark.
  const waits = guard === 0 ? markedProcesses(spec.mark).length > 0 : isMarked(guard, spec.mark);
  return waits ? "orphaned" : "lost";
}

/** Whoever gives an attempt up takes the place of its supervisor, so that none can come any more. */
export const giveUp = (who: string) => `${GIVEN_UP} ${who}`;
export const isGivenUp = (owner: string) => owner.startsWith(GIVEN_UP);

/**
 * False for a supervisor that is dead, and for an attempt that was given up. Locally the identity tells; what another
 * pid namespace or host supervises is alive while its beat is.
 */
export function isSupervised(path: string, owner: string): boolean {
  const identity = parseIdentity(owner);
  if (!identity) return false;
  const liveness = seeProcesses().livenessOf(identity);
  if (liveness !== "unknowable") return liveness === "alive";
  const beat = modifiedAt(join(path, files.beat));
  return beat !== undefined && !isLeaseOver(beat);
}

/** The machine was started anew since the supervisor began: whatever it watched is gone. */
export function isRebooted(path: string): boolean {
  const identity = parseIdentity(owners(path).at(-1)?.replace(`${GIVEN_UP} `, "") ?? "");
  return identity !== undefined && identity.boot !== seeProcesses().self.boot;
}
