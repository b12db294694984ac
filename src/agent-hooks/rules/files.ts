import { dirname, join, relative, resolve, sep } from "node:path";
import type { Facts, Spot } from "../facts.ts";
import type { Refusal } from "../refusal.ts";
import { programOf, type ShellCommand, type ShellWord } from "../shell/command.ts";

/** What of git's own folder decides where branches are and which hooks run. */
const GUARDED = new Set([
  "hooks",
  "refs",
  "reftable",
  "packed-refs",
  "logs",
  "HEAD",
  "config",
  "config.worktree",
  "worktrees",
  "pawl",
]);

/** Programs that change the files they are given: all of them, or only the last. */
const CHANGERS: Readonly<Record<string, "all" | "last">> = {
  rm: "all",
  rmdir: "all",
  unlink: "all",
  shred: "all",
  truncate: "all",
  touch: "all",
  mkdir: "all",
  chmod: "all",
  chown: "all",
  chattr: "all",
  tee: "all",
  mv: "all",
  cp: "last",
  ln: "last",
  install: "last",
  rsync: "last",
};

export function findFileWrite(
  command: ShellCommand,
  spot: Spot | undefined,
  facts: Facts,
): Refusal | undefined {
  for (const word of writtenBy(command)) {
    const path = pathOf(word, command.folder, spot, facts);
    const refusal = path === undefined ? undefined : judgeOwnFiles(path, spot, facts);
    if (refusal) return refusal;
  }
  return spot?.guarded ? findDisabledHook(command) : undefined;
}

/** A hook of the project that cannot be run is switched off. */
function findDisabledHook(command: ShellCommand): Refusal | undefined {
  const words = command.words.map((word) => word.text);
  const hook = words.find((word) => /(?:^|[\\/])\.(?:husky|githooks)[\\/]./.test(word));
  const takesAway = words.some((word) => /^[ugoa]*-[rwst]*x|^[0-7]?[0246]{3}$/.test(word));
  if (programOf(command) !== "chmod" || hook === undefined || !takesAway) return undefined;
  return {
    rule: "Hooks stay on.",
    fact: `Without execute permission ${hook} does not run.`,
    way: "If the hook objects, do what it says or ask the person you work for.",
  };
}

export const RECORDS_RULE =
  "Only pawl writes records: evidence is captured and approvals are given, never written by hand.";
export const RECORDS_WAY =
  "Use the commands: `pawl task update`, `pawl decide`, `pawl verify`, `pawl finding …`, `pawl handoff`.";

/** Files that are nobody's to write by hand: git's own, and the records that pawl keeps. */
function judgeOwnFiles(named: string, spot: Spot | undefined, facts: Facts): Refusal | undefined {
  // A link leads to where it leads, whatever it is called.
  const path = facts.real(named);
  const inGit = placeInGit(path, spot, facts) ?? placeInGit(named, spot, facts);
  if (inGit !== undefined && isGuarded(inGit))
    return {
      rule: "Do not edit git's hooks, refs and settings, or pawl's files beside them, by hand.",
      fact: `This writes to ${inGit === "" ? "the git directory itself" : `${inGit} in the git directory`}.`,
      way: "Move branches with git in the task's worktree (`pawl start`); `pawl doctor` checks the guard.",
    };
  const state = /[\\/]\.pawl(?:[\\/]state(?:[\\/].*)?)?$/.test(path);
  if (!state || !facts.spotOf(path.replace(/[\\/]\.pawl(?:[\\/]state.*)?$/, ""))?.guarded) return undefined;
  return {
    rule: RECORDS_RULE,
    fact: "This writes into .pawl/state.",
    way: RECORDS_WAY,
  };
}

function writtenBy(command: ShellCommand): ShellWord[] {
  const program = programOf(command);
  const operands = command.words.slice(1).filter((word) => !/^-/.test(word.text));
  const how = Object.hasOwn(CHANGERS, program) ? CHANGERS[program] : undefined;
  const changed = how === "all" ? operands : how === "last" ? operands.slice(-1) : [];
  const inPlace = program === "sed" || program === "perl" ? command.words.some(isInPlace) : false;
  const dd = program === "dd" ? operands.filter((word) => word.text.startsWith("of=")).map(withoutKey) : [];
  return [
    ...command.outputs,
    ...changed,
    ...(how ? targetsOf(command) : []),
    ...(inPlace ? operands : []),
    ...dd,
  ];
}

/** What `-t` and `--target-directory` of `cp`, `mv`, `ln` and `install` name. */
function targetsOf({ words }: ShellCommand): ShellWord[] {
  return words.flatMap((word, at): ShellWord[] => {
    const attached = /^(?:-t|--target-directory=)(.+)$/.exec(word.text)?.[1];
    if (attached !== undefined) return [{ ...word, text: attached }];
    return /^-\w*t$|^--target-directory$/.test(word.text) ? words.slice(at + 1, at + 2) : [];
  });
}

const isInPlace = ({ text }: ShellWord) => /^-[a-zA-Z]*i/.test(text) || text.startsWith("--in-place");
const withoutKey = (word: ShellWord): ShellWord => ({ ...word, text: word.text.slice("of=".length) });

/** What git says about itself is the same here; another expansion leaves the path unknown. */
function pathOf(
  { text }: ShellWord,
  folder: string | undefined,
  spot: Spot | undefined,
  { home }: Facts,
): string | undefined {
  const path = text
    .replace(/\$\(git rev-parse [^)]*--git-path ([^)\s]+)\s*\)/, (_all, name: string) =>
      join(spot?.commonDir ?? "", name),
    )
    .replace(
      /\$\(git rev-parse [^)]*--(?:git-dir|git-common-dir|absolute-git-dir)\s*\)/,
      spot?.commonDir ?? "",
    )
    .replace(/\$\(git rev-parse [^)]*--show-toplevel\s*\)|^\$PWD\b|^\$\(pwd\)/, spot?.root ?? "")
    .replace(/^\$\{?GIT_DIR\}?/, spot?.gitDir ?? "")
    .replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home ?? "");
  if (/^[$`]/.test(path)) return undefined;
  return folder === undefined && !path.startsWith("/") ? undefined : resolve(folder ?? "/", path);
}

/** The path inside the git directory of a repository that pawl guards; undefined for all other places. */
function placeInGit(path: string, spot: Spot | undefined, facts: Facts): string | undefined {
  const parts = path.split(sep);
  const at = parts.indexOf(".git");
  if (at > 0 && facts.spotOf(parts.slice(0, at).join(sep) || sep)?.guarded)
    return parts.slice(at + 1).join("/");
  if (!spot?.guarded) return undefined;
  const inside = relative(spot.commonDir, path);
  return inside.startsWith("..") || resolve(inside) === inside ? undefined : inside.split(sep).join("/");
}

function isGuarded(place: string): boolean {
  const [first = ""] = place.split("/");
  if (first === "") return true;
  // A lock that a killed git left behind is removed by hand, as git itself advises.
  return GUARDED.has(first) && (first === "pawl" || !place.endsWith(".lock"));
}

/** A file that a tool of the agent's own writes: inside the task's worktree, and not on a protected branch. */
export function judgeToolWrite(path: string, folder: string, facts: Facts): Refusal | undefined {
  const here = facts.spotOf(folder);
  const own = judgeOwnFiles(path, here, facts);
  if (own) return own;
  const there = facts.spotOf(dirname(path));
  if (!there?.guarded || there.root === undefined) return undefined;
  if (there.task !== undefined) {
    const holding = facts.holding(there);
    if (holding === "mine") return undefined;
    if (holding === "another's") return heldByAnother(there.task, "the file is in its worktree");
    return here?.task ? otherTask(here.task, there.task) : undefined;
  }
  const outside = here?.task !== undefined && here.commonDir === there.commonDir;
  const { branch } = there;
  const isProtected = branch !== undefined && !there.unborn && there.isProtected(branch);
  if (!outside && !isProtected) return undefined;
  if (outside)
    return {
      rule: "A task's files change in its own worktree.",
      fact: `This session works on ${here.task}, and the file is in another worktree.`,
      way: `Write the same file below ${here.root}.`,
      unlessScratch: path,
    };
  return {
    rule: "Do not change files on a protected branch.",
    fact: `${branch} is checked out there.`,
    way: 'Run `pawl start "<what to do>"` and write in the worktree that it creates. A scratch file can go where git ignores it, or where `scratch:` in .pawl/config.yaml allows it.',
    unlessScratch: path,
  };
}

/** A task that another session holds, while this one holds its own. */
export function heldByAnother(task: string, fact: string): Refusal {
  return {
    rule: "A session works only on the task it started or claimed.",
    fact: `Another session holds ${task}, and ${fact}.`,
    way: `If nobody is working on it, take it over: \`pawl start ${task} --claim\`. To report something you saw there: \`pawl finding add "…" --task ${task}\`.`,
  };
}

function otherTask(mine: string, theirs: string): Refusal | undefined {
  if (mine === theirs) return undefined;
  return {
    rule: "A worktree belongs to one task.",
    fact: `This session works on ${mine}, and the file is in the worktree of ${theirs}.`,
    way: `Leave a note for it instead: \`pawl finding add "…" --task ${theirs}\`.`,
  };
}
