import { join, resolve } from "node:path";
import { removeIfEmpty } from "../files/durable.ts";
import { occupied, textIfPresent } from "../files/read.ts";
import { hooksDir } from "../git/guard-files.ts";
import { step } from "../model/steps.ts";
import { guardedly, lockOf, presentHooks } from "./activate.ts";
import { type Before, readBefore } from "./before.ts";
import { moveHook, setAside } from "./foreign-hooks.ts";
import { isOurs, remove } from "./place.ts";
import { removeSettings } from "./settings.ts";

export interface Deactivation {
  removed: string[];
  /** What was left, and why. */
  notes: string[];
}

/** What is only the guard's; task branches keep their bindings, because the tasks go on. */
const LEDGERS = ["tips", "tripped", "moves", "tables", "remotes", "grants/unlock"];

/** Takes the setting away first, so that git never looks for hooks that are gone, and the memory of it last. */
export function deactivate(commonDir: string): Deactivation {
  const done = guardedly(commonDir, () => {
    const before = readBefore(commonDir);
    const { changed: removed, notes } = removeSettings(commonDir, before);
    notes.push(...removeHooks(commonDir, before, removed));
    for (const name of [...LEDGERS, "stamps", "policy", "previous", "hooks.config", "before"])
      if (remove(join(commonDir, "pawl", name))) removed.push(join(commonDir, "pawl", name));
    return { removed, notes };
  });
  removeIfEmpty(lockOf(commonDir));
  return done;
}

export function rehearseDeactivation(commonDir: string): { do: string; path: string }[] {
  const before = readBefore(commonDir);
  if (!before) return [];
  return [
    { do: "remove our settings from", path: join(commonDir, "config") },
    ...before.written.map((path) => ({ do: "remove", path: resolve(commonDir, path) })),
  ];
}

function removeHooks(commonDir: string, before: Before | undefined, removed: string[]): string[] {
  const notes: string[] = [];
  const own = hooksDir(commonDir);
  const everywhere = [
    ...(before?.written ?? []).map((path) => resolve(commonDir, path)),
    join(commonDir, "hooks", "reference-transaction"),
    join(commonDir, "pawl", "guard"),
    ...presentHooks(commonDir).map((name) => join(own, name)),
  ];
  for (const path of new Set(everywhere)) if (isOurs(textIfPresent(path)) && remove(path)) removed.push(path);
  for (const name of presentHooks(commonDir)) notes.push(giveBack(commonDir, name));
  removeIfEmpty(own);
  if (before?.noHooksDir) removeIfEmpty(join(commonDir, "hooks"));
  return notes;
}

/** What another tool installed in our folder is not ours to delete; where it cannot be moved, it stays. */
function giveBack(commonDir: string, name: string): string {
  const [from, to] = [join(hooksDir(commonDir), name), join(commonDir, "hooks", name)];
  try {
    if (occupied(to)) return setAside(commonDir, name, to);
    step(`guard give back ${name}`);
    moveHook(from, to);
    return `${name} was not ours; it is ${to} now.`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return `${from} is not ours, and could not be moved to ${to} (${code}): it is still there, and git does not run it.`;
  }
}
