import { rmSync, statSync } from "node:fs";
import { pause } from "../files/pause.ts";

/** Git holds a lock of a ref or a config for milliseconds; one as old as this was left by a git that was killed. */
const STALE_MS = 1_000;

/**
 * Removes such a lock from what is ours alone. Should its git only have slept, its update fails when it wakes, and
 * whoever removed the lock does the same work again.
 */
export function dropStaleLock(path: string): void {
  const age = ageOf(path);
  if (age !== undefined && (age > STALE_MS || age < 0)) rmSync(path, { force: true });
}

/** Waits until a lock is gone, or is no git's any more and can be removed. */
export async function dropLockOnceStale(path: string): Promise<void> {
  for (let age = ageOf(path); age !== undefined && age >= 0 && age <= STALE_MS; age = ageOf(path))
    await pause(50);
  rmSync(path, { force: true });
}

/** Negative after the clock was set back. */
function ageOf(path: string): number | undefined {
  const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return touched === undefined ? undefined : Date.now() - touched;
}
