import { closeExpired } from "../flows/audit/unlocks.ts";
import { Failure } from "../model/failure.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

/** Closes protected branches whose time is over. What cannot be closed now is told, and keeps nobody from working. */
export async function closeUnlocks(runtime: Runtime): Promise<string[]> {
  const said: string[] = [];
  const hands = handsFor("unlock", runtime, said);
  try {
    return [...(await closeExpired(hands)), ...said];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`An expired unlock could not be closed yet: ${error.message}`, ...said];
  }
}
