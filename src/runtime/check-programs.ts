import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { findProgram, programIn } from "../files/find-program.ts";

/** A file that a check runs, and what it was at that time. */
export interface CheckProgram {
  name: string;
  path: string;
  sha256: string;
}

/** The program of a command, and for a line that is given to a shell what it begins with. */
export function programsOf(argv: readonly string[], cwd: string, path = ""): CheckProgram[] {
  const [command = "", option, line = ""] = argv;
  const isShell = /(?:^|\/)(?:sh|bash|dash|zsh)$/.test(command) && option === "-c";
  const names = [command, ...(isShell ? [programIn(line)] : [])];
  return [...new Set(names)].flatMap((name) => {
    const found = findProgram(name, cwd, path);
    const sha256 = found && digestOf(found);
    return found && sha256 ? [{ name, path: found, sha256 }] : [];
  });
}

function digestOf(path: string): string | undefined {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(1 << 20);
  try {
    const file = openSync(path, "r");
    try {
      for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer))
        hash.update(buffer.subarray(0, size));
    } finally {
      closeSync(file);
    }
  } catch {
    // A program may be run without being readable.
    return undefined;
  }
  return hash.digest("hex");
}
