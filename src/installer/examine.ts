import { existsSync } from "node:fs";
import { join } from "node:path";
import { differences } from "../files/check-environment.ts";
import type { Environment } from "../model/environment.ts";
import { REPAIR } from "../model/guard-policy.ts";
import { LEDGER_FILE, POLICY_FILE } from "../model/paths.ts";
import { firstFew } from "../model/text.ts";
import { compareVersions, HOW_TO_GET } from "../model/version.ts";
import type { Diagnosis } from "../ports/doctor.ts";
import type { FileStep, OverrideListing } from "../ports/installation.ts";
import type { Tree } from "./plan/installed-tree.ts";
import type { Ledger } from "./plan/ledger.ts";
import { lookAt } from "./plan/look.ts";
import { packageDigest } from "./runtime/package.ts";
import { changedFiles, type Manifest, readManifest, runtimeOf } from "./runtime/runtime-copy.ts";

/** What keeps the installed files from being what the ledger says. */
export function examineFiles(steps: readonly FileStep[]): Diagnosis[] {
  return steps.flatMap(({ do: what, path: where, why }): Diagnosis[] => {
    // It follows the others.
    if (where === LEDGER_FILE) return [];
    const problem = { level: "problem", where } as const;
    switch (what) {
      case "create":
        return [
          { ...problem, code: "file_missing", message: "It was installed and is gone.", command: REPAIR },
        ];
      case "update":
        return [
          {
            ...problem,
            code: "file_outdated",
            message: "It differs from what pawl would write now.",
            command: REPAIR,
          },
        ];
      case "remove":
        return [{ ...problem, code: "file_obsolete", message: "It is no longer needed.", command: REPAIR }];
      case "refuse":
        return [{ ...problem, code: "file_in_the_way", message: sentence(why), command: "pawl install" }];
      case "keep":
        if (why !== "you edited it" || where === POLICY_FILE) return [];
        return [editedFile(where, sentence(why))];
      default:
        return [];
    }
  });
}

/** An edit in place is kept, but no upgrade reaches it; for a skill there is a way that both survive. */
function editedFile(where: string, why: string): Diagnosis {
  const skill = /(?:^|\/)skills\/([^/]+)\/SKILL\.md$/.exec(where)?.[1];
  const note = { code: "file_edited", level: "note", where } as const;
  if (skill === undefined) return { ...note, message: `${why} Upgrades leave it alone.` };
  const message = `${why} Upgrades skip it. To keep the edit and still get later changes of pawl's text, make it an override.`;
  return { ...note, message, command: `pawl override skill ${skill} --from-edit` };
}

const sentence = (why = "") =>
  `${why.charAt(0).toUpperCase()}${why.slice(1)}${/[.!?]$/.test(why) ? "" : "."}`;

/** The clone's own copy of the program: there, whole, and not older than what is installed. */
export function examineRuntime(commonDir: string, ledger: Ledger | undefined, built: boolean): Diagnosis[] {
  const folder = runtimeOf(commonDir);
  const manifest = readManifest(folder);
  const where = folder;
  const version = ledger?.pawl;
  const command = built ? REPAIR : HOW_TO_GET;
  if (!manifest) {
    if (!ledger) return [];
    const message = "This clone has no copy of pawl: hooks and launchers do nothing here.";
    return [{ code: "runtime_missing", level: "problem", where, message, command }];
  }
  const damaged = changedFiles(folder);
  if (damaged.length > 0) {
    const message = `The clone's copy of pawl is damaged: ${damaged.slice(0, 3).join(", ")}.`;
    return [{ code: "runtime_damaged", level: "problem", where, message, command }];
  }
  if (version !== undefined && manifest.version === version) return examinePackage(where, manifest, ledger);
  if (version === undefined) return [];
  const message = `The clone's copy of pawl is ${manifest.version}; the files were installed by ${version}.`;
  return compareVersions(manifest.version, version) < 0
    ? [{ code: "runtime_older", level: "problem", where, message, command: HOW_TO_GET }]
    : [{ code: "runtime_newer", level: "note", where, message, command: "pawl upgrade" }];
}

/** The same version may be another build: everybody runs the one that the project names, or somebody says otherwise. */
function examinePackage(where: string, manifest: Manifest, ledger: Ledger | undefined): Diagnosis[] {
  const named = ledger?.package;
  if (named === undefined || named === packageDigest(manifest)) return [];
  const message = `The clone's copy of pawl ${manifest.version} is not the package that ${LEDGER_FILE} names. To make this one the project's instead: pawl upgrade`;
  return [{ code: "runtime_another", level: "problem", where, message, command: HOW_TO_GET }];
}

/** Every `pawl …` in a skill has to be a command; one of the user's own may name one that is none. */
export function examineCommands(tree: Tree, ledger: Ledger, commands: readonly string[]): Diagnosis[] {
  const known = new Set([...commands, ...commands.map((id) => id.split(".")[0] ?? "")]);
  return ledger.files
    .filter((one) => one.path.endsWith("/SKILL.md"))
    .flatMap(({ path }) => {
      const text = lookAt(tree.root, path).text ?? "";
      const named = [
        ...text.matchAll(/`(?:node \.pawl\/pawl\.[cm]js|pawl) ([a-z][\w-]*)(?: ([a-z][\w-]*))?[^`]*`/g),
      ];
      const unknown = named.filter(([, first = "", second]) => !isCommand(known, first, second));
      const [one] = unknown;
      if (!one) return [];
      const message = `It names a command that pawl does not have: ${one[0]}.`;
      return [{ code: "unknown_command", level: "note" as const, where: path, message }];
    });
}

function isCommand(known: ReadonlySet<string>, first: string, second: string | undefined): boolean {
  if (second !== undefined && known.has(`${first}.${second}`)) return true;
  return known.has(first);
}

/** Words of the user's own still name the launcher of 0.1.0, which an upgrade has replaced. */
export function examineOldLauncher(tree: Tree, ledger: Ledger): Diagnosis[] {
  const older = ".pawl/pawl.mjs";
  if (existsSync(join(tree.root, older))) return [];
  return ledger.files
    .filter(({ path }) => /(?:\/SKILL|^AGENTS|^CLAUDE)\.md$/.test(path))
    .filter(({ path }) => lookAt(tree.root, path).text?.includes(older))
    .map(({ path: where }) => ({
      code: "old_launcher",
      level: "note",
      where,
      message: `It names ${older}, which is .pawl/pawl.cjs now. Change that name in your text or your override.`,
    }));
}

/** The launchers are what agents start; without them nothing else is reached. */
export function examineLaunchers(tree: Tree, ledger: Ledger): Diagnosis[] {
  const named = ledger.files.filter((one) => /^\.pawl\/(?:pawl|hook)\.[cm]js$/.test(one.path));
  return named
    .filter((one) => !existsSync(join(tree.root, one.path)))
    .map(({ path: where }) => ({
      ...({ code: "launcher_missing", level: "problem", where } as const),
      message: "Agents start pawl through it, but it is gone.",
      command: REPAIR,
    }));
}

export function examineOverrides(overrides: readonly OverrideListing[]): Diagnosis[] {
  const words: Record<string, string> = {
    merged: "Pawl's own text changed and was merged into yours. `pawl upgrade` writes the result.",
    conflict: "Pawl's own text changed in the same place as yours. Yours is in use.",
    upstream_changed: "Pawl's own text changed since you made it. Yours is in use.",
    upstream_has_one: "Pawl now has a skill of that name. Yours is in use.",
    upstream_gone: "Pawl no longer has this skill. Yours is in use.",
  };
  return overrides.flatMap(({ state, path: where }) => {
    const message = words[state];
    if (message === undefined) return [];
    return [
      { code: `override_${state}`, level: "note" as const, where, message, command: "pawl override list" },
    ];
  });
}

/** Which tools checks run with, where that is not what this shell has. */
export function examineEnvironment(local: string, env: Environment, installed: boolean): Diagnosis[] {
  const found = differences(local, env);
  if (!found)
    return installed
      ? [
          {
            code: "environment_not_kept",
            level: "note",
            where: "checks",
            message:
              "Checks run with their caller's PATH. When a human runs this, pawl uses that human's PATH for all checks in this clone.",
            command: REPAIR,
          },
        ]
      : [];
  return found.map(({ name, kept, here }) => ({
    code: "environment_differs",
    level: "note",
    where: name,
    message: `${describeDifference(kept, here)} To use your own shell's for checks, run this in it.`,
    command: REPAIR,
  }));
}

const MOST_FOLDERS = 3;

/** Of two lists of folders, what only one of them has; whole PATHs are nothing that anybody compares by eye. */
function describeDifference(kept: string | undefined, here: string | undefined): string {
  const [before, now] = [kept, here].map((text) => text?.split(":") ?? []) as [string[], string[]];
  if (before.length < 2 || now.length < 2)
    return `Checks run with ${shown(kept)}, as it was when a human installed pawl; this shell has ${shown(here)}.`;
  const more = before.filter((one) => !now.includes(one));
  const less = now.filter((one) => !before.includes(one));
  if (more.length + less.length === 0)
    return "Checks look through the same folders as this shell, in the order that they had when a human installed pawl.";
  return [
    "Checks run with the folders that a human's shell had when pawl was installed.",
    ...(more.length > 0 ? [`This shell lacks ${firstFew(more, MOST_FOLDERS)}.`] : []),
    ...(less.length > 0 ? [`Only this shell has ${firstFew(less, MOST_FOLDERS)}.`] : []),
  ].join(" ");
}

const shown = (value: string | undefined) => (value === undefined ? "none" : `"${value}"`);
