import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explainTemporary } from "../model/temporary.ts";

/** A new folder of ours among the temporary ones, with these in it; whoever makes it removes it. */
export function makeScratch(purpose: string, folders: readonly string[] = []): string {
  try {
    const scratch = mkdtempSync(join(tmpdir(), `pawl-${purpose}-`));
    for (const one of folders) mkdirSync(join(scratch, one));
    return scratch;
  } catch (error) {
    throw explainTemporary(error, tmpdir());
  }
}
