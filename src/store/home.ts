import { existsSync, lstatSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { lineIfReadable, namesIfPresent, realpathOr } from "../files/read.ts";
import type { Place } from "../git/discover.ts";
import { hasRef } from "../git/refs.ts";
import { gitDirOf } from "../git/repository-files.ts";
import { Failure } from "../model/failure.ts";
import { FETCHED_STATE_REF, STATE_REF } from "../model/naming.ts";
import { type Home, LOCAL } from "./layout.ts";

/**
 * Where the state of this repository is, the same from every linked worktree; nothing is created. A line in a file leads a
 * linked repository to the state of another one; where a repository has records of its own, no line leads away from them.
 */
export function findHome(at: Pick<Place, "commonDir" | "mainRoot">, cwd: string): Home {
  const local = `${at.commonDir}/pawl`;
  const own = ownState(at);
  const history = `${local}/state.git`;
  const named = lineIfReadable(`${local}/home`);
  const line = named === undefined ? own : resolve(local, named);
  const isOwn = line === own || hasRecords({ state: own, gitDir: history });
  const state = isOwn ? own : line;
  const near = relative(cwd, state);
  return {
    state,
    shown: near !== "" && !near.startsWith("..") && !isAbsolute(near) ? near : state,
    local,
    gitDir: isOwn ? ownHistory(own, history) : historyElsewhere(state, local),
    clone: readClone(local) ?? "",
  };
}

/** Where a repository keeps a state of its own. */
export const ownState = ({ commonDir, mainRoot }: Pick<Place, "commonDir" | "mainRoot">) =>
  mainRoot ? `${mainRoot}/.pawl/state` : `${commonDir}/pawl/state`;

const ownHistory = (state: string, history: string) =>
  existsSync(`${history}/HEAD`) ? history : (gitDirOf(state) ?? history);

/** Somebody has written records into this state. */
export const hasRecords = ({ state, gitDir }: Pick<Home, "state" | "gitDir">) =>
  namesIfPresent(`${state}/tasks`).length > 0 || hasRef(gitDir, STATE_REF);

/** The history of another repository's state; of a folder that is anything else nothing is read, and nothing is written into it. */
function historyElsewhere(state: string, local: string): string {
  if (!existsSync(state)) throw homeMissing(state);
  const history = gitDirOf(state) ?? "";
  const commonDir = dirname(dirname(history));
  const places = [ownState({ commonDir, mainRoot: dirname(commonDir) }), `${commonDir}/pawl/state`];
  if (
    resolve(history) === resolve(commonDir, "pawl/state.git") &&
    places.some((one) => realpathOr(one) === realpathOr(state))
  )
    return history;
  throw new Failure("unreadable", "not_a_state", `${state} is not the state of any repository.`, {
    hint: `Nothing was changed there. ${local}/home points to it; remove that file, or link this repository again from the one that has the state: pawl repo add <this repository>`,
    details: { file: `${local}/home` },
  });
}

/** The state of another repository is never made anew where it used to be: that would be a second, empty one. */
function homeMissing(state: string): Failure {
  return new Failure(
    "unreadable",
    "home_missing",
    `The state that this repository is linked to is not at ${state}.`,
    {
      hint: "Bring its repository back there, or link this one again from where it is now: pawl repo add <this repository>",
      details: { file: state },
    },
  );
}

/** What records lie in: a hostile repository may track a link in place of any of them. */
const FOLDERS = ["tasks", "notes", "repos", "unlocks", "events"];

/** Whether the state folder is there; a link or a file in place of it, or of what it lies in or holds, is never followed. */
export function stateExists(home: Home): boolean {
  const around = lstatOr(dirname(home.state));
  if (around !== "blocked" && around?.isSymbolicLink()) throw misplaced(home, "behind a symbolic link");
  const stat = lstatOr(home.state);
  if (stat === "blocked") throw misplaced(home, "below something that is not a folder");
  if (stat && !stat.isDirectory())
    throw misplaced(home, stat.isSymbolicLink() ? "a symbolic link" : "not a folder");
  for (const name of stat ? FOLDERS : []) {
    const found = lstatOr(`${home.state}/${name}`);
    if (found !== "blocked" && found?.isSymbolicLink())
      throw misplaced(home, `holding a symbolic link, ${name}`);
  }
  return stat !== undefined;
}

/** Nothing is written through a link in the state, wherever below it that lies: it might lead out of the repository. */
export function refuseLinks(home: Home, files: readonly string[]): void {
  const places = new Set([LOCAL, ...files.flatMap((path) => placesOf(path))]);
  for (const place of places) {
    const found = lstatOr(`${home.state}/${place}`);
    if (found !== "blocked" && found?.isSymbolicLink())
      throw misplaced(home, `holding a symbolic link, ${place}`);
  }
}

/** A file below the state, and all folders that it is in. */
const placesOf = (path: string) => path.split("/").map((_, at, all) => all.slice(0, at + 1).join("/"));

function misplaced(home: Home, what: string): Failure {
  return new Failure(
    "unreadable",
    "state_misplaced",
    `${home.shown} is ${what}; it must be the state folder.`,
    {
      hint: "Move what is in the way. Nothing was changed.",
      details: { file: home.state },
    },
  );
}

/** A path below a file is no error of the file system here, but a fact to be told. */
function lstatOr(path: string): Stats | "blocked" | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return "blocked";
    throw error;
  }
}

/** A fresh clone knows the state's branch of its remote, and nothing of it is here yet. */
export function remoteHasState(home: Home): boolean {
  return hasRef(dirname(home.local), FETCHED_STATE_REF);
}

/** The name of this clone, unless its folder is a copy of another one. */
export function readClone(local: string): string | undefined {
  const [id, inode] = (lineIfReadable(`${local}/clone`) ?? "").split(" ");
  return id && Number(inode) === statSync(local, { throwIfNoEntry: false })?.ino ? id : undefined;
}
