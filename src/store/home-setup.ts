import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { replaceFile } from "../files/durable.ts";
import { lineIfReadable } from "../files/read.ts";
import { readClone } from "./home.ts";
import type { Home } from "./layout.ts";

/** Says where the state is, relative to our own folder, so that a moved repository still finds its own. */
export function writeHome(home: Home): void {
  const path = join(home.local, "home");
  if (lineIfReadable(path) === undefined) replaceFile(path, `${relative(home.local, home.state)}\n`);
}

/**
 * Each clone writes its own event log. The inode of our folder tells a copied repository from the one it was
 * copied from, so that the two do not write the same log.
 */
export function ensureClone(local: string): string {
  const known = readClone(local);
  if (known) return known;
  const id = randomBytes(4).toString("hex");
  replaceFile(join(local, "clone"), `${id} ${statSync(local).ino}\n`);
  return id;
}
