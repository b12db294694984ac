import { NeedsFullYaml } from "../model/record.ts";
import type { Runtime } from "./open.ts";

/** A hand-styled record needs the full YAML parser; it is loaded only then, and the reading starts over. */
export async function withYaml<T>(runtime: Runtime, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NeedsFullYaml)) throw error;
    await runtime.loadYaml();
    return read();
  }
}
