import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../model/environment.ts";
import { files } from "./attempt/folder.ts";
import { supervise } from "./supervise.ts";

/** Told by its one word which attempt to go on with, or on standard input which one to begin; by nothing, none. */
function readOrder(): { path: string; env: Environment } | undefined {
  const [, , path] = process.argv;
  if (path !== undefined) return { path, env: {} };
  try {
    return JSON.parse(readFileSync(0, "utf8"));
  } catch {
    // Whoever started this one ended before it had a use for it.
    return undefined;
  }
}

const order = readOrder();
if (order) {
  const { path } = order;
  // What a person finds in a list of processes, which began before it had anything to say.
  process.title = `pawl: ${path.split("/").slice(-2).join("/")}`;
  // biome-ignore lint/style/noProcessEnv: this is the outside of a process
  supervise(path, { ...process.env, ...order.env }).catch((error: Error) =>
    appendFileSync(join(path, files.log), `${error.stack}\n`),
  );
}
