import { join } from "node:path";
import { runBundled } from "../files/code-cache.ts";

/** The file name of the bundled hook, with a digest of its content; the build puts it here. */
declare const HOOK: string;

try {
  runBundled(join(__dirname, HOOK));
} catch {
  // An installation that was cut off; some agents take a failing hook for a refusal of every tool.
  process.exitCode = 0;
}
