import { settleRuns } from "../flows/run/run-settle.ts";
import { Failure } from "../model/failure.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

/** Writes down what has ended since. What cannot be written now is told, and keeps nobody from working. */
export async function settleOpenRuns(runtime: Runtime): Promise<string[]> {
  const said: string[] = [];
  const hands = handsFor("run", runtime, said);
  try {
    const ended = await settleRuns(hands);
    return [...ended.map(({ id, status }) => `${id} has ended: ${status}.`), ...said];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [`The end of a run could not be recorded yet: ${error.message}`, ...said];
  }
}
