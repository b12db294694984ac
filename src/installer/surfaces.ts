import { renderSkills, upstreamSkills } from "../render/skills.ts";
import type { AgentName, Flag } from "./adapter.ts";
import { ADAPTERS, wantedFiles } from "./adapters.ts";
import { hookLauncher, programLauncher } from "./launchers.ts";
import type { Wanted } from "./wanted.ts";

/** Installed unless somebody says otherwise. */
export const USUAL_AGENTS: readonly AgentName[] = ["claude", "codex", "copilot"];
export const FLAGS: readonly Flag[] = ["vscode-local"];

export const isAgent = (name: string): name is AgentName => name in ADAPTERS;
export const isFlag = (name: string): name is Flag => FLAGS.some((one) => one === name);

export interface SurfaceChoices {
  version: string;
  profile: "all" | "skills";
  agents: readonly AgentName[];
  flags: readonly Flag[];
}

const CONFIG = `# What pawl goes by in this project; every line is optional.
# The gates use the copy that is committed on the protected branch.

# How much ceremony a new task needs: light, standard or strict.
# profile: standard

# What \`pawl verify\` runs and the gates require.
# checks:
#   test: npm test

# By default the remote's default branch, else main and master.
# protected: [main]
`;

/** Every file, block and entry that an installation is to have: the same for the same choices, on every machine. */
export function wantedSurfaces({ version, profile, agents, flags }: SurfaceChoices): Wanted[] {
  const skills = upstreamSkills(ADAPTERS.generic);
  const folders = new Map(agents.map((agent) => [ADAPTERS[agent].skills.dir, ADAPTERS[agent]]));
  const rendered = [...folders.values()].flatMap((adapter) => renderSkills(adapter, skills));
  const surfaces = wantedFiles(agents, flags, skills)
    .filter((file) => profile === "all" || file.mode === "block")
    .map((file): Wanted => {
      if (file.mode === "entry") return { ...file, template: JSON.stringify(file.entries) };
      if (file.mode === "own") return { ...file, template: file.text };
      const { mode, path, text, comment, unlessLine } = file;
      return { mode, path, body: text, comment, template: text, unlessLine };
    });
  return [
    ...ownFolder(version, profile),
    ...rendered.map(({ path, text, template }): Wanted => ({ mode: "own", path, text, template })),
    ...surfaces,
  ];
}

function ownFolder(version: string, profile: SurfaceChoices["profile"]): Wanted[] {
  const own = (name: string, { text, template }: { text: string; template: string }): Wanted => ({
    mode: "own",
    path: `.pawl/${name}`,
    text,
    template,
  });
  return [
    { mode: "own", path: ".pawl/config.yaml", text: CONFIG, template: CONFIG, seed: true },
    own(".gitignore", { text: "state/\n", template: "state/\n" }),
    own("pawl.mjs", programLauncher(version)),
    ...(profile === "all" ? [own("hook.cjs", hookLauncher(version))] : []),
  ];
}
