import type { AgentName } from "../adapter.ts";
import { ADAPTERS, SHARED } from "../adapters.ts";
import type { Entry, Json } from "../edit/types.ts";
import { printJson } from "../json-text.ts";
import { renderSkills, upstreamSkills } from "../render/skills.ts";
import { SKILLS } from "../render/templates.ts";
import launcher from "./run.cjs.txt";

export interface PluginFile {
  path: string;
  text: string;
}

const NAME = "pawl";
const DESCRIPTION =
  "Durable tasks, captured evidence and reviews that stay, for repositories in which pawl is installed.";
const OWNER = { name: "Pawl" };
/** The agents put the plugin's folder here, in the text or in the environment. */
const RUN = `\${CLAUDE_PLUGIN_ROOT}/run.cjs`;

const README = `# Pawl

${DESCRIPTION}

Pawl keeps tasks, evidence, findings and handoffs of coding agents in the repository itself, and lets a protected branch move
only when a human says so. This plugin provides its skills, hooks and MCP server in every repository that has pawl installed,
and does nothing anywhere else. It runs no file that a repository tracks and contacts nobody.

1. Install pawl into a repository: \`pawl install --profile hooks\`.
2. Start the agent there, and use the skill \`pawl\`: it says which task you are in and what comes next.

Skills: ${Object.keys(SKILLS).join(", ")}.
`;

/**
 * The plugin form: a folder that Claude Code, Codex and Copilot accept as a marketplace with one plugin. Its skills, hooks
 * and server work in every repository that has pawl installed, and do nothing anywhere else.
 */
export function renderPlugin(version: string): PluginFile[] {
  const run = launcher.replaceAll("@VERSION@", version);
  const plugin = { name: NAME, version, description: DESCRIPTION, author: OWNER, license: "MIT" };
  const inside: PluginFile[] = [
    json(".claude-plugin/plugin.json", plugin),
    // Codex prefers its own manifest, and has its own names for tools and its own way to find a server.
    json(".codex-plugin/plugin.json", {
      ...plugin,
      skills: "./skills/",
      hooks: "./hooks/hooks.codex.json",
      mcpServers: "./.mcp.codex.json",
    }),
    json("hooks/hooks.json", hooksOf("claude")),
    json("hooks/hooks.codex.json", hooksOf("codex")),
    json(".mcp.json", server([RUN, "mcp", "claude"])),
    json(".mcp.codex.json", server(["-e", onOneLine(run), "mcp", "codex"])),
    { path: "run.cjs", text: run },
    { path: "README.md", text: README },
    ...skills(),
  ];
  return [
    json(".claude-plugin/marketplace.json", {
      name: NAME,
      owner: OWNER,
      description: DESCRIPTION,
      plugins: [{ name: NAME, source: "./plugins/pawl", description: DESCRIPTION }],
    }),
    json(".agents/plugins/marketplace.json", {
      name: NAME,
      plugins: [
        {
          name: NAME,
          source: { source: "local", path: "./plugins/pawl" },
          policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
          category: "Productivity",
        },
      ],
    }),
    ...inside.map(({ path, text }) => ({ path: `plugins/pawl/${path}`, text })),
  ];
}

/** One rendering for all three, so it is the one without any agent's own words. */
function skills(): PluginFile[] {
  const place = { ...SHARED, skills: { ...SHARED.skills, dir: "skills" } };
  return renderSkills(place, upstreamSkills(SHARED)).map(({ path, text }) => ({ path, text }));
}

/** The same events and matchers as in a repository; only what they start is the plugin's. */
function hooksOf(agent: AgentName): Json {
  const entries = ADAPTERS[agent].files.flatMap((file) =>
    file.mode === "entry" && file.surface === "hooks" ? file.entries : [],
  );
  const command = `run="${RUN}"; command -v node >/dev/null 2>&1 && [ -f "$run" ] || exit 0; exec node "$run" hook ${agent}`;
  return { hooks: Object.fromEntries(entries.map((entry) => [entry.at[1], [withCommand(entry, command)]])) };
}

function withCommand({ value }: Entry, command: string): Json {
  const group = value as { hooks: { [key: string]: Json }[] };
  return { ...group, hooks: group.hooks.map((hook) => ({ ...hook, command })) };
}

function server(args: string[]): Json {
  return { mcpServers: { [NAME]: { command: "node", args } } };
}

/** Codex gives a plugin's server either its folder or the user's, never both: the program itself is an argument. */
function onOneLine(program: string): string {
  return program
    .replaceAll(/^\s*\/\/.*\n/gm, "")
    .replaceAll(/\n\s*/g, " ")
    .trim();
}

function json(path: string, value: Json): PluginFile {
  return { path, text: printJson(value) };
}
