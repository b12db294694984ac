import { renewGuards as renew } from "../flows/guard/activate-guard.ts";
import type { Runtime } from "./open.ts";
import { handsFor } from "./perform.ts";

export async function renewGuards(runtime: Runtime): Promise<string[]> {
  const said: string[] = [];
  return [...(await renew(handsFor("install", runtime, said))), ...said];
}
