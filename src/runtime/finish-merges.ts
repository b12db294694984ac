import { recoverMerges } from "../flows/approve/approve-recover.ts";
import { Failure } from "../model/failure.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

/** Settles what a killed approval or refresh left. What cannot be settled now is told, and keeps nobody from working. */
export async function finishMerges(runtime: Runtime): Promise<string[]> {
  const said: string[] = [];
  const hands = handsFor("approve", runtime, said);
  try {
    return [...(await recoverMerges(hands)), ...said];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`An earlier merge is not settled yet: ${error.message}`, ...said];
  }
}
