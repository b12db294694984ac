import { join } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { tipFile } from "../git/tip-files.ts";

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
  const [known, , allowed] = (textIfPresent(tipFile(commonDir, ref)) ?? "").trim().split(" ");
  return tip !== undefined && tip !== "" && (tip === known || tip === allowed);
}

export interface Tripped {
  ref: string;
  /** Where it was found, and where it was last seen. */
  found: string;
  known: string;
}

/** Protected branches that moved while the guard was switched off. */
export function readTripped(commonDir: string): Tripped[] {
  const dir = join(commonDir, "pawl", "tripped");
  return namesIfPresent(dir).flatMap((name) => {
    const [found, known, ref] = (textIfPresent(join(dir, name)) ?? "").trim().split(" ");
    return found && known && ref ? [{ ref, found, known }] : [];
  });
}
