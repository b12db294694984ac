import { join } from "node:path";
import { runBundled } from "../files/code-cache.ts";
import { DAMAGED, REPAIR } from "../model/damaged-program.ts";

/** The file name of the bundled program, with a digest of its content; the build puts it here. */
declare const PROGRAM: string;

/** Commands that decide, or tell, what may reach a protected branch. */
const DECISIVE = /^(?:approve|approver|audit|doctor|hook|install|remote|ui|uninstall|unlock|upgrade)$/;

try {
  runBundled(
    join(__dirname, PROGRAM),
    process.argv.slice(2).some((word) => DECISIVE.test(word)),
  );
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== DAMAGED) throw error;
  process.stderr.write(`pawl: ${(error as Error).message}\n${REPAIR}\n`);
  process.exitCode = 2;
}
