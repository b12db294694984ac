import { settleClaims } from "../flows/claims/settle-claim.ts";
import { Failure } from "../model/failure.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

/** Makes claims agree with the records after a kill. What cannot be done now is told, and keeps nobody from working. */
export async function settleMarkedClaims(runtime: Runtime): Promise<string[]> {
  const said: string[] = [];
  try {
    return [...(await settleClaims(handsFor("start", runtime, said))), ...said];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`A claim that a killed command left could not be settled yet: ${error.message}`, ...said];
  }
}
