import claudeData from "../../adapters/claude/adapter.json" with { type: "json" };
import claudeMd from "../../adapters/claude/claude.md.hbs";
import codexData from "../../adapters/codex/adapter.json" with { type: "json" };
import codexRules from "../../adapters/codex/pawl.rules.hbs";
import copilotData from "../../adapters/copilot/adapter.json" with { type: "json" };
import copilotPrompt from "../../adapters/copilot/prompt.md.hbs";
import cursorData from "../../adapters/cursor/adapter.json" with { type: "json" };
import geminiData from "../../adapters/gemini/adapter.json" with { type: "json" };
import geminiMd from "../../adapters/gemini/gemini.md.hbs";
import genericData from "../../adapters/generic/adapter.json" with { type: "json" };
import agentsMd from "../../adapters/generic/agents.md.hbs";
import opencodeData from "../../adapters/opencode/adapter.json" with { type: "json" };
import opencodePlugin from "../../adapters/opencode/plugin.js.hbs";
import { type Adapter, type AdapterFile, type AgentName, type Flag, readAdapter } from "./adapter.ts";
import { fill } from "./render/engine.ts";
import { type Skill, skillDescription } from "./render/skills.ts";

/** Owns the words of the rendering that all agents but Claude Code share. */
export const SHARED = readAdapter(genericData);

export const ADAPTERS: Readonly<Record<AgentName, Adapter>> = {
  claude: readAdapter(claudeData),
  codex: readAdapter(codexData, SHARED.words),
  copilot: readAdapter(copilotData, SHARED.words),
  gemini: readAdapter(geminiData, SHARED.words),
  opencode: readAdapter(opencodeData, SHARED.words),
  cursor: readAdapter(cursorData, SHARED.words),
  generic: SHARED,
};

/** Templates of blocks and files, as adapters name them. */
const TEMPLATES: Readonly<Record<string, string>> = {
  "claude/claude.md.hbs": claudeMd,
  "codex/pawl.rules.hbs": codexRules,
  "copilot/prompt.md.hbs": copilotPrompt,
  "gemini/gemini.md.hbs": geminiMd,
  "generic/agents.md.hbs": agentsMd,
  "opencode/plugin.js.hbs": opencodePlugin,
};

/** A file to write for these agents: its text is filled in, its choices are made. */
export type WantedFile =
  | { mode: "own"; path: string; text: string }
  | { mode: "block"; path: string; text: string; comment: "html" | "hash"; unlessLine?: string | undefined }
  | Pick<Extract<AdapterFile, { mode: "entry" }>, "mode" | "path" | "format" | "surface" | "entries">;

/**
 * Everything but the skills that these agents need, each part once: adapters that share one say the same about it. A file
 * that holds both our server and our hooks is two parts.
 */
export function wantedFiles(
  agents: readonly AgentName[],
  flags: readonly Flag[],
  skills: readonly Skill[],
): WantedFile[] {
  const chosen = agents
    .flatMap((agent) => ADAPTERS[agent].files)
    .filter((file) => file.unless === undefined || !agents.includes(file.unless))
    .filter((file) => file.when === undefined || flags.includes(file.when));
  const wanted = new Map<string, WantedFile>();
  for (const file of chosen)
    for (const one of fillFile(file, skills))
      wanted.set(one.mode === "entry" ? `${one.path} ${one.surface}` : one.path, one);
  return [...wanted.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Where any adapter puts something; a ledger may come from anybody's branch, and speaks of no other file. */
export function isOurPlace({ mode, path }: { mode: AdapterFile["mode"]; path: string }): boolean {
  const files = Object.values(ADAPTERS).flatMap((adapter) => adapter.files);
  const isNamed = files.some((file) => (file.mode === "own") === (mode === "own") && covers(file.path, path));
  if (mode !== "own") return isNamed;
  const folders = Object.values(ADAPTERS).map(({ skills }) => `${skills.dir}/`);
  return (
    isNamed ||
    /^\.pawl\/(?:vendor\/pawl-[\w.-]+\.tgz|[^/]+)$/.test(path) ||
    folders.some((folder) => path.startsWith(folder))
  );
}

const covers = (named: string, path: string) => {
  const [before = "", after] = named.split("{skill}");
  if (after === undefined) return named === path;
  return path.startsWith(before) && path.endsWith(after) && !path.slice(before.length).includes("/");
};

function fillFile(file: AdapterFile, skills: readonly Skill[]): WantedFile[] {
  if (file.mode === "entry") {
    const { mode, path, format, surface, entries } = file;
    return [{ mode, path, format, surface, entries }];
  }
  const template = TEMPLATES[file.template] ?? "";
  if (file.mode === "block") {
    const { mode, path, comment, unlessLine } = file;
    return [{ mode, path, text: fill(template, {}), comment, unlessLine }];
  }
  if (!file.each) return [{ mode: "own", path: file.path, text: fill(template, {}) }];
  return skills.map((skill) => ({
    mode: "own",
    path: file.path.replace("{skill}", skill.name),
    text: fill(template, {}, { skill: skill.name, description: JSON.stringify(skillDescription(skill)) }),
  }));
}
