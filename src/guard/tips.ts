import { replaceFile } from "../files/durable.ts";
import { textIfPresent } from "../files/read.ts";
import { guardedTip, tipFile } from "../git/guard-files.ts";

/**
 * Makes a protected branch known with the value that it has now; one that is known already keeps its own. Noted again in
 * a repository that was copied, or where a human asks for it, it counts as seen there now.
 */
export function keepTip(commonDir: string, ref: string, tip: string, again: boolean): void {
  const path = tipFile(commonDir, ref);
  const text = `${tip} ${ref} ${tip}\n`;
  const known = textIfPresent(path);
  if (known === undefined || (again && known === text)) replaceFile(path, text);
}

/** The branch is where it went before the guard's eyes. */
export function isKnownTip(commonDir: string, ref: string, tip: string | undefined): boolean {
  const known = guardedTip(tipFile(commonDir, ref));
  return tip !== undefined && (tip === known?.was || tip === known?.allowed);
}
