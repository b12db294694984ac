import { sha256 } from "../files/digest.ts";
import { POLICY_FILE } from "../model/paths.ts";
import type { AgentName, Flag } from "./adapter.ts";
import { ADAPTERS, type WantedFile, wantedFiles } from "./adapters.ts";
import { printTables } from "./edit/toml-print.ts";
import type { Overrides } from "./overrides/overrides.ts";
import { applySurfaceOverrides, type SurfaceReport } from "./overrides/surface-overrides.ts";
import type { Wanted } from "./plan/wanted.ts";
import { applyOverrides, type OverrideReport } from "./render/overrides.ts";
import { renderSkills, upstreamSkills } from "./render/skills.ts";
import { hookLauncher, packageGetter, programLauncher } from "./runtime/launchers.ts";

/** Installed unless somebody says otherwise. */
export const USUAL_AGENTS: readonly AgentName[] = ["claude", "codex", "copilot"];
const ADAPTERS_FLAGS: readonly Flag[] = ["vscode-local", "allow"];
/** The package itself is tracked with the project. */
export const VENDOR = "vendor";
export const FLAGS: readonly string[] = [...ADAPTERS_FLAGS, VENDOR];

export const isAgent = (name: string): name is AgentName => name in ADAPTERS;
export const isFlag = (name: string): name is Flag => ADAPTERS_FLAGS.some((one) => one === name);

export interface SurfaceChoices {
  version: string;
  profile: "all" | "skills";
  agents: readonly AgentName[];
  flags: readonly Flag[];
  overrides: Overrides;
  /** What `.pawl/config.yaml` begins with. */
  config: string;
  /** The package is in `.pawl/vendor`. */
  vendored: boolean;
}

export interface Surfaces {
  wanted: Wanted[];
  /** What became of each override. */
  skills: OverrideReport[];
  others: SurfaceReport[];
}

let latest: { key: string; surfaces: Surfaces } | undefined;

/** Every file, block and entry that an installation is to have: the same for the same choices, on every machine. */
export function wantedSurfaces(choices: SurfaceChoices): Surfaces {
  // A plan is made before it is shown and again before it is carried out; rendering is the dearest part of it.
  const key = JSON.stringify(choices);
  if (latest?.key !== key) latest = { key, surfaces: render(choices) };
  return latest.surfaces;
}

function render(choices: SurfaceChoices): Surfaces {
  const { profile, agents, flags, overrides } = choices;
  const { skills, reports } = applyOverrides(upstreamSkills(ADAPTERS.generic), overrides.skills, sha256);
  const folders = new Map(agents.map((agent) => [ADAPTERS[agent].skills.dir, ADAPTERS[agent]]));
  const rendered = [...folders.values()].flatMap((adapter) => renderSkills(adapter, skills));
  const chosen = wantedFiles(agents, flags, skills).filter(
    (file) => profile === "all" || file.mode === "block",
  );
  const others = applySurfaceOverrides(chosen, overrides.surfaces, Object.values(ADAPTERS), sha256);
  return {
    wanted: [
      ...ownFolder(choices),
      ...rendered.map(({ path, text, template }): Wanted => ({ mode: "own", path, text, template })),
      ...inOneFile(others.files.map(asWanted)),
    ],
    skills: reports,
    others: others.reports,
  };
}

function asWanted(file: WantedFile): Wanted {
  if (file.mode === "own") return { ...file, template: file.text };
  if (file.mode === "block") {
    const { mode, path, text, comment, unlessLine } = file;
    return { mode, path, body: text, comment, template: text, unlessLine };
  }
  const { mode, path, format, entries } = file;
  const template = JSON.stringify(entries);
  if (format === "json") return { mode, path, entries, template };
  const tables = entries.map(({ at }) => at);
  return { mode: "block", path, comment: "hash", body: printTables(entries, "\n"), tables, template };
}

/** Entries of several kinds in one file are written, and taken out, together. */
function inOneFile(parts: readonly Wanted[]): Wanted[] {
  const byPath = new Map<string, Wanted>();
  for (const part of parts) {
    const known = byPath.get(part.path);
    const both =
      known?.mode === "entry" && part.mode === "entry" ? [...known.entries, ...part.entries] : undefined;
    byPath.set(
      part.path,
      part.mode === "entry" && both ? { ...part, entries: both, template: JSON.stringify(both) } : part,
    );
  }
  return [...byPath.values()];
}

/** A project's own rules may keep packages or folders called vendor out of git, or hand them to a filter; not this one. */
const TRACKED = "!vendor/\n!vendor/*\n";
const AS_IT_IS = "vendor/* -text -diff -merge -filter -ident -working-tree-encoding\n";

function ownFolder({ version, profile, config, vendored }: SurfaceChoices): Wanted[] {
  const same = (text: string) => ({ text, template: text });
  const own = (name: string, { text, template }: { text: string; template: string }): Wanted => ({
    mode: "own",
    path: `.pawl/${name}`,
    text,
    template,
  });
  return [
    { mode: "own", path: POLICY_FILE, text: config, template: config, seed: true },
    own(".gitignore", same(`state/\n${vendored ? TRACKED : ""}`)),
    ...(vendored ? [own(".gitattributes", same(AS_IT_IS))] : []),
    own("pawl.cjs", programLauncher(version)),
    own("get.cjs", packageGetter(version)),
    ...(profile === "all" ? [own("hook.cjs", hookLauncher(version))] : []),
  ];
}
