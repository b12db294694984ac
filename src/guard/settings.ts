import { join, resolve } from "node:path";
import { type AnyText, anyText, isFolder, textIfPresent } from "../files/read.ts";
import { isOn } from "../git/config-file.ts";
import { hooksDir } from "../git/guard-files.ts";
import { worktreesOf } from "../git/repository-files.ts";
import { addedEnds, type Before, readBefore } from "./before.ts";
import {
  type Displaced,
  foreignLine,
  hasHook,
  missingEnds,
  NOTHING_OF_OURS,
  type OwnSettings,
  switchesWorktreesOn,
  withOurs,
  withOwnValue,
  withoutOwnValue,
} from "./config-text.ts";
import { configOf, type Edit, editConfig } from "./edit-config.ts";
import { findHookManagers, type HookManager } from "./hook-managers.ts";
import { ask, type GuardedSite } from "./policy.ts";

/** Which settings make git use our hooks here, and what they take the place of. */
export interface Settings {
  own: OwnSettings;
  displaced: Displaced;
  /** The value that git would take without us, as it is written; undefined for git's own folder. */
  previousPath: string | undefined;
  /** Git takes our folder wherever no worktree has a setting of its own. */
  winning: boolean;
  ignoreCase: boolean;
  managers: HookManager[];
}

export function readSettings(site: GuardedSite, configHooks: boolean): Settings {
  const { commonDir, mainRoot } = site;
  const { text } = anyText(configOf(commonDir));
  const said = whatGitSays(site);
  const earlier = readBefore(commonDir);
  const ours = said.paths.some((one) => one.plain && isOurFolder(one.value));
  const line = foreignLine(text) ?? (ours ? earlier?.line : undefined) ?? null;
  const foreign = said.paths.filter((one) => one.scope !== "worktree" && !isOurFolder(one.value)).at(-1);
  const managers = mainRoot === undefined ? [] : findHookManagers(mainRoot);
  const previousPath =
    foreign?.scope === "local" || line === null ? foreign?.value : (earlier?.hooksPath ?? undefined);
  const local = line !== null || foreign?.scope === "local";
  const irreplaceable = foreign?.scope === "local" && foreignLine(text) === undefined;
  const perWorktree =
    said.mayDiffer &&
    mainRoot !== undefined &&
    (managers.length > 0 || irreplaceable || (local && isFolder(resolve(mainRoot, previousPath ?? ""))));
  const mindsTheValue = !local && managers.some((one) => !one.setsPath);
  const extension = perWorktree || reliedOn(commonDir);
  return {
    own: {
      local: !(perWorktree && mindsTheValue),
      perWorktree,
      extension,
      hook: configHooks || hasHook(text),
    },
    displaced: {
      line,
      addedEnds: earlier ? addedEnds(earlier) : missingEnds(text),
      extension: earlier?.extension === true || (extension && !switchesWorktreesOn(text)),
    },
    previousPath,
    winning: said.paths.filter(isShared).at(-1)?.value === hooksDir(commonDir).replaceAll("\\", "/"),
    ignoreCase: said.ignoreCase,
    managers,
  };
}

/** What only the main worktree takes is told of that worktree, unless it is ours. */
const isShared = (one: Said["paths"][number]) => one.scope !== "worktree" || isOurFolder(one.value);

/** Also that of a repository which was moved or copied since. */
const isOurFolder = (value: string) => /(?:^|\/)pawl\/hooks$/.test(value);

interface Said {
  /** What `core.hooksPath` is said to be, in the order in which git reads it. */
  paths: { value: string; scope: string; plain: boolean }[];
  ignoreCase: boolean;
  /** Worktrees may have settings of their own here. */
  mayDiffer: boolean;
}

/** By one git, without a single command's own settings. */
function whatGitSays(site: GuardedSite): Said {
  const keys = "^(core\\.(hookspath|ignorecase|bare|worktree)|extensions\\.worktreeconfig)$";
  const args = ["config", "-z", "--show-scope", "--show-origin", "--type=path", "--get-regexp", keys];
  const words = ask(site, args).out.split("\0");
  const said: Said = { paths: [], ignoreCase: false, mayDiffer: true };
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [scope = "", origin = "", entry = ""] = words.slice(at, at + 3);
    const end = entry.indexOf("\n");
    const [key, value] = end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    const yes = isOn(value);
    if (key === "core.ignorecase") said.ignoreCase = yes;
    // What is said of the repository's place would be said of every worktree's.
    else if (key === "core.worktree" || (key === "core.bare" && yes)) said.mayDiffer = false;
    else if (key === "extensions.worktreeconfig" && !yes) said.mayDiffer = false;
    else if (key === "core.hookspath" && scope !== "command")
      said.paths.push({ value, scope, plain: scope === "local" && /(?:^|[/:])config$/.test(origin) });
  }
  return said;
}

/** The git directory of every worktree, the common one first: each may have settings of its own. */
const gitDirs = (commonDir: string) =>
  worktreesOf({ commonDir, mainRoot: undefined })
    .filter(({ id, root }) => id === "." || root !== undefined)
    .map(({ gitDir }) => gitDir);

const ownFile = (gitDir: string) => join(gitDir, "config.worktree");

/** Somebody else has settings for a single worktree. */
const reliedOn = (commonDir: string) =>
  gitDirs(commonDir).some((dir) => withoutOwnValue(textIfPresent(ownFile(dir)) ?? "") !== "");

/** The files whose text has to change, and how: those of single worktrees first, because one setting brings all into force. */
function edits(commonDir: string, { own, displaced }: Pick<Settings, "own" | "displaced">) {
  const dirIn = ({ encoding }: AnyText) => Buffer.from(hooksDir(commonDir)).toString(encoding);
  const single: Edit = (file) =>
    own.perWorktree ? withOwnValue(file.text, dirIn(file)) : withoutOwnValue(file.text);
  const whole: Edit = (file) => withOurs(file.text, dirIn(file), own, displaced);
  const shared = { path: configOf(commonDir), edit: whole };
  const worktrees = gitDirs(commonDir).map((gitDir) => ({ path: ownFile(gitDir), edit: single }));
  return own.perWorktree ? [...worktrees, shared] : [shared, ...worktrees];
}

/** The files in which something of ours is missing or too much. */
export function unsettled(commonDir: string, settings: Settings): string[] {
  return edits(commonDir, settings)
    .filter(({ path, edit }) => {
      const file = anyText(path);
      return edit(file) !== file.text;
    })
    .map((one) => one.path);
}

/** Makes the configuration say this much of ours; the paths that changed. */
export function applySettings(commonDir: string, settings: Pick<Settings, "own" | "displaced">): string[] {
  return edits(commonDir, settings)
    .filter(({ path, edit }) => editConfig(commonDir, path, edit))
    .map((one) => one.path);
}

/** Whatever a line of ours stood in for comes back. */
export function removeSettings(
  commonDir: string,
  before: Before | undefined,
): { changed: string[]; notes: string[] } {
  const { line = null, extension = false } = before ?? {};
  const kept = extension && reliedOn(commonDir);
  const own = { ...NOTHING_OF_OURS, extension: kept };
  const ends = before ? addedEnds(before) : 0;
  return {
    changed: applySettings(commonDir, { own, displaced: { line, addedEnds: ends, extension } }),
    notes: kept
      ? ["extensions.worktreeConfig stays on, because some worktrees have settings that rely on it."]
      : [],
  };
}
