import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, removeIfEmpty, syncDirectory, syncFile } from "../files/durable.ts";
import { withLock } from "../files/intent-lock.ts";
import { namesIfPresent } from "../files/read.ts";
import { step } from "../model/steps.ts";
import { recover } from "./journal.ts";
import { type Home, LOCAL, lockDir } from "./layout.ts";

/** Nobody has written a record here yet. */
export function isEmptyState(home: Home): boolean {
  const names = namesIfPresent(home.state).filter((name) => name !== ".git" && name !== LOCAL);
  return names.every((name) => name === "tasks") && namesIfPresent(join(home.state, "tasks")).length === 0;
}

/**
 * Fills a state that has no record with a whole one, folder by folder; record by record it would take minutes where
 * there are many. False when somebody wrote a record meanwhile. Killed in between, what is missing is still missing,
 * and the next exchange brings it.
 */
export function placeWhole(home: Home, folder: string, joined: () => void): boolean {
  syncFiles(folder);
  return withLock(
    lockDir(home),
    () => {
      recover(home);
      if (!isEmptyState(home)) return false;
      for (const name of readdirSync(folder).filter((one) => !one.startsWith("."))) {
        step("sync place");
        if (name === "tasks") removeIfEmpty(join(home.state, "tasks"));
        renameSync(join(folder, name), join(home.state, name));
      }
      makeFolder(join(home.state, "tasks"));
      syncDirectory(home.state);
      step("sync ref");
      joined();
      return true;
    },
    { step },
  );
}

/** A rename must never be on the disk before what it names. */
function syncFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncFiles(path);
    if (entry.isFile()) syncFile(path);
  }
}
