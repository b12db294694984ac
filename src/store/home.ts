import { lstatSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { Failure } from "../core/failure.ts";
import type { Home } from "./layout.ts";

interface Whereabouts {
  commonDir: string;
  /** Top of the main worktree; undefined for a bare repository with worktrees around it. */
  mainRoot: string | undefined;
}

/** Where the state of this repository is, the same from every linked worktree; nothing is created. */
export function findHome(at: Whereabouts, cwd: string): Home {
  const local = join(at.commonDir, "pawl");
  const fallback = at.mainRoot ? join(at.mainRoot, ".pawl", "state") : join(local, "state");
  const named = readLine(join(local, "home"));
  const state = named === undefined ? fallback : resolve(local, named);
  const near = relative(cwd, state);
  return {
    state,
    shown: near !== "" && !near.startsWith("..") && !isAbsolute(near) ? near : state,
    local,
    gitDir: gitDirOf(state) ?? join(local, "state.git"),
    clone: readClone(local) ?? "",
  };
}

/** Whether the state folder is there; a link or a file in its place is told, never followed. */
export function stateExists(home: Home): boolean {
  const stat = lstatSync(home.state, { throwIfNoEntry: false });
  if (!stat) return false;
  if (stat.isDirectory()) return true;
  throw new Failure(
    "unreadable",
    "state_misplaced",
    `${home.shown} is ${stat.isSymbolicLink() ? "a symbolic link" : "not a folder"}, where the state folder belongs.`,
    {
      hint: "Move it away. The state itself may be a link's target: point at it with a real folder instead.",
      details: { file: home.state },
    },
  );
}

/** The name of this clone, unless its folder is a copy of another one. */
export function readClone(local: string): string | undefined {
  const [id, inode] = (readLine(join(local, "clone")) ?? "").split(" ");
  return id && Number(inode) === statSync(local, { throwIfNoEntry: false })?.ino ? id : undefined;
}

function gitDirOf(state: string): string | undefined {
  const dotGit = join(state, ".git");
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return dotGit;
  const target = stat && /^gitdir: (.*)$/m.exec(readFileSync(dotGit, "utf8"))?.[1]?.trim();
  return target ? resolve(state, target) : undefined;
}

export function readLine(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
