import { join } from "node:path";
import { runBundled } from "../files/code-cache.ts";

/** The file name of the bundled program, with a digest of its content; the build puts it here. */
declare const PROGRAM: string;

/** Commands that decide, or tell, what may reach a protected branch. */
const DECISIVE = /^(?:approve|approver|audit|doctor|hook|install|remote|ui|uninstall|unlock|upgrade)$/;

runBundled(
  join(__dirname, PROGRAM),
  process.argv.slice(2).some((word) => DECISIVE.test(word)),
);
