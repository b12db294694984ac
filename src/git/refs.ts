import { existsSync } from "node:fs";
import { lineIfReadable, namesIfReadable, textIfPresent, textIfReadable } from "../files/read.ts";
import { readTableLog, readTables, tablesOf } from "./ref-tables.ts";

/*
 * The one module that knows how a repository keeps its refs, HEAD and logs. All of it is read from git's own files,
 * because starting a git costs more than the whole of a read command; only where refs lie in tables is git asked. Shared
 * refs are asked for with the common git directory, HEAD and its log with the worktree's own.
 */

export interface Head {
  branch: string | undefined;
  commit: string | undefined;
}

const HEADS = "refs/heads/";
const REMOTES = "refs/remotes/";
const SYMBOLIC = "ref: ";
/** As deep as git follows one symbolic ref to the next. */
const MOST_HOPS = 5;

/** Refs lie in tables here, which only git can read. */
export const hasTables = (gitDir: string) => existsSync(`${gitDir}/reftable`);

/** The commit that a ref names. */
export function tipOf(commonDir: string, ref: string): string | undefined {
  if (hasTables(commonDir)) return readTables(commonDir).tips.get(ref);
  let name = ref;
  for (let hops = 0; hops <= MOST_HOPS; hops++) {
    const loose = lineIfReadable(`${commonDir}/${name}`);
    const target = symbolic(loose);
    if (target === undefined) return loose && isId(loose) ? loose : packedTip(commonDir, name);
    name = target;
  }
  return undefined;
}

export const hasRef = (commonDir: string, ref: string) => tipOf(commonDir, ref) !== undefined;

const isId = (text: string) => /^[0-9a-f]{40,64}$/.test(text);
const symbolic = (line: string | undefined) =>
  line?.startsWith(SYMBOLIC) ? line.slice(SYMBOLIC.length) : undefined;

const packedRefs = (commonDir: string) => textIfReadable(`${commonDir}/packed-refs`) ?? "";

function packedTip(commonDir: string, ref: string): string | undefined {
  const packed = packedRefs(commonDir);
  const at = packed.indexOf(` ${ref}\n`);
  return at < 0 ? undefined : packed.slice(packed.lastIndexOf("\n", at) + 1, at);
}

/** Where the remotes that have a branch had it when it was last fetched. */
export function fetchedTips(commonDir: string, branch: string): string[] {
  const remotes = hasTables(commonDir)
    ? remotesWith(branch, [...readTables(commonDir).tips.keys(), ""].join("\n"))
    : [...namesIfReadable(`${commonDir}/refs/remotes`), ...remotesWith(branch, packedRefs(commonDir))];
  return [...new Set(remotes)].flatMap((remote) => tipOf(commonDir, `${REMOTES}${remote}/${branch}`) ?? []);
}

/** The list of all refs may be a long one, so that only those of its lines are taken apart that end as they should. */
function remotesWith(branch: string, list: string): string[] {
  const remotes: string[] = [];
  const end = `/${branch}\n`;
  for (let at = list.indexOf(end); at >= 0; at = list.indexOf(end, at + 1)) {
    const remote = list.slice(list.lastIndexOf(REMOTES, at) + REMOTES.length, at);
    if (!/[/\n]/.test(remote)) remotes.push(remote);
  }
  return remotes;
}

/** The ref that a symbolic one, such as HEAD or `refs/remotes/origin/HEAD`, stands for. */
export const targetOf = (gitDir: string, ref: string) =>
  hasTables(gitDir) ? readTables(gitDir).targets.get(ref) : symbolic(lineIfReadable(`${gitDir}/${ref}`));

/** Whether a worktree has this ref checked out, be it through a branch that is only another name of it. */
export function isCheckedOut(at: { gitDir: string; commonDir: string }, ref: string): boolean {
  let target = targetOf(at.gitDir, "HEAD");
  for (let hops = 0; hops < MOST_HOPS && target !== undefined; hops++) {
    if (target === ref) return true;
    target = targetOf(at.commonDir, target);
  }
  return false;
}

/** The branch that a worktree has checked out. */
export const branchOf = (gitDir: string) => branchName(targetOf(gitDir, "HEAD"));

const branchName = (ref: string | undefined) =>
  ref?.startsWith(HEADS) ? ref.slice(HEADS.length) : undefined;

/** What is checked out; undefined where only git could tell. */
export function headOf({ gitDir, commonDir }: { gitDir: string; commonDir: string }): Head | undefined {
  const head = lineIfReadable(`${gitDir}/HEAD`);
  if (head === undefined) return undefined;
  if (hasTables(gitDir)) return { branch: branchOf(gitDir), commit: readTables(gitDir).tips.get("HEAD") };
  const ref = symbolic(head);
  if (ref === undefined) return { branch: undefined, commit: head };
  return { branch: branchName(ref), commit: tipOf(commonDir, ref) };
}

/** Files of which at least one changes with the ref; one without a file of its own is in the packed ones. */
export function filesOf(commonDir: string, ref: string): string[] {
  if (hasTables(commonDir)) return [tablesOf(commonDir)];
  const loose = `${commonDir}/${ref}`;
  return existsSync(loose) ? [loose] : [loose, `${commonDir}/packed-refs`];
}

/** The file that changes with a symbolic ref, which is never packed. */
export const symbolicFileOf = (gitDir: string, ref: string) =>
  hasTables(gitDir) ? tablesOf(gitDir) : `${gitDir}/${ref}`;

/** What keeps everybody else from moving a ref, until the git that made it ends. */
export const lockOf = (gitDir: string, ref: string) =>
  hasTables(gitDir) ? `${tablesOf(gitDir)}.lock` : `${gitDir}/${ref}.lock`;

export interface LoggedChange {
  old: string;
  new: string;
  /** In seconds since 1970. */
  time: number;
  message: string;
}

const logFile = (gitDir: string, ref: string) => `${gitDir}/logs/${ref}`;

/** The log of a ref, oldest first, as it is: git's commands leave out what does not fit together. */
export function logOf(gitDir: string, ref: string): LoggedChange[] | undefined {
  if (hasTables(gitDir)) return tableLog(gitDir, ref);
  return textIfPresent(logFile(gitDir, ref))
    ?.split("\n")
    .flatMap((line) => {
      const match = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*?(\d+) [+-]\d{4}(?:\t(.*))?$/.exec(line);
      if (!match) return [];
      const [, old = "", fresh = "", seconds, message = ""] = match;
      return [{ old, new: fresh, time: Number(seconds), message }];
    });
}

/** The file that git writes whatever it logs of a ref into; where refs lie in tables, all of them have one. */
export const logFileOf = (gitDir: string, ref: string) =>
  hasTables(gitDir) ? tablesOf(gitDir) : logFile(gitDir, ref);

/** Git tells only where each change led to; it came from where the one before had led. */
function tableLog(gitDir: string, ref: string): LoggedChange[] {
  const changes = readTableLog(gitDir, ref).reverse();
  return changes.map(({ commit, time, message }, at) => ({
    old: changes[at - 1]?.commit ?? "0".repeat(commit.length),
    new: commit,
    time,
    message,
  }));
}

/** The files of a worktree that change when something else is checked out or committed there; the last one is the log. */
export const headFiles = (gitDir: string) =>
  hasTables(gitDir)
    ? ([tablesOf(gitDir), tablesOf(gitDir)] as const)
    : ([`${gitDir}/HEAD`, logFile(gitDir, "HEAD")] as const);

/** Where a git directory keeps its refs, in whichever form. */
export const refPlaces = (gitDir: string) =>
  ["refs", "packed-refs", "reftable"].map((name) => `${gitDir}/${name}`);
