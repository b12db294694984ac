import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeScratch } from "../files/scratch-folder.ts";
import type { Home } from "../store/layout.ts";

/** Records that a commit has, in a folder of their own for as long as somebody reads them. */
export async function inFolder<T>(
  texts: ReadonlyMap<string, string | undefined>,
  use: (home: Home) => Promise<T>,
): Promise<T> {
  const folder = realpathSync(makeScratch("records"));
  const state = join(folder, "state");
  try {
    mkdirSync(state);
    for (const [path, text] of texts) {
      if (text === undefined) continue;
      mkdirSync(dirname(join(state, path)), { recursive: true });
      writeFileSync(join(state, path), text);
    }
    const local = join(folder, "local");
    return await use({ state, shown: "pawl/state", local, gitDir: join(local, "state.git"), clone: "" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
