import { copyFileSync, statSync, utimesSync } from "node:fs";

/** Git trusts an entry only if its file is older than the index, so a copy must keep the index's own time. */
export function copyIndex(from: string, to: string): void {
  const { atime, mtime } = statSync(from);
  copyFileSync(from, to);
  utimesSync(to, atime, mtime);
}
