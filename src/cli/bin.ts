import { join } from "node:path";
import { runBundled } from "../files/code-cache.ts";

/** The file name of the bundled program, with a digest of its content; the build puts it here. */
declare const PROGRAM: string;

runBundled(join(__dirname, PROGRAM));
