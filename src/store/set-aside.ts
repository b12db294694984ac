import { readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { makeFolder, syncDirectory } from "../files/durable.ts";
import { withLock } from "../files/intent-lock.ts";
import { step } from "../model/steps.ts";
import { recover } from "./journal.ts";
import { type Home, lockDir, rescuedDir } from "./layout.ts";

/**
 * Moves a task's folder out of the way, to where it can still be found, if it holds exactly these files. False when
 * it does not: somebody has changed it since.
 */
export function setAside(
  home: Home,
  task: string,
  files: ReadonlyMap<string, Buffer>,
  mark: string,
): boolean {
  const folder = join(home.state, "tasks", task);
  return withLock(
    lockDir(home),
    () => {
      recover(home);
      const found = filesBelow(folder);
      const isSame = (path: string) => files.get(path)?.equals(readFileSync(join(folder, path)));
      if (found.length !== files.size || !found.every(isSame)) return false;
      makeFolder(rescuedDir(home));
      step("sync set aside");
      renameSync(folder, join(rescuedDir(home), `${task}-${mark}`));
      syncDirectory(join(home.state, "tasks"));
      return true;
    },
    { step },
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    );
}

/** Moves one file out of the way; answers where it is now. */
export function setFileAside(home: Home, path: string): string {
  return withLock(
    lockDir(home),
    () => {
      const to = join(rescuedDir(home), `${path.replaceAll("/", "-")}-${Date.now().toString(36)}`);
      makeFolder(rescuedDir(home));
      step("records set aside");
      renameSync(join(home.state, path), to);
      syncDirectory(dirname(join(home.state, path)));
      return join(home.shown, relative(home.state, to));
    },
    { step },
  );
}
