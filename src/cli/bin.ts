import { join } from "node:path";
import { runBundled } from "../files/code-cache.ts";

/** The file name of the bundled program, with a digest of its content; the build puts it here. */
declare const PROGRAM: string;
/** The ids of all operations, each between spaces. */
declare const OPERATIONS: string;

runBundled(join(__dirname, PROGRAM), usedOperation(process.argv[2] ?? "", process.argv[3] ?? ""));

function usedOperation(first: string, second: string): string {
  for (const id of [`${first}.${second}`, first]) if (OPERATIONS.includes(` ${id} `)) return id;
  return "other";
}
