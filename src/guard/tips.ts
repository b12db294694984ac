import { existsSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { namesIfPresent, textIfPresent } from "../files/read.ts";

/** Slashes make folders, and the guard can make none without starting a program; no ref may have a tilde. */
const tipFile = (commonDir: string, ref: string) =>
  join(commonDir, "pawl", "tips", ref.slice("refs/heads/".length).replaceAll("/", "~"));

/** Makes a protected branch known with the value that it has now; one that is known already keeps its own. */
export function keepTip(commonDir: string, ref: string, tip: string): void {
  const path = tipFile(commonDir, ref);
  if (!existsSync(path)) replaceFile(path, `${tip} ${ref} ${tip}\n`);
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
