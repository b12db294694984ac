import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProgramName, Programs } from "./programs.ts";
import { type RecordedRequest, type Step, startModel, type ToolCall } from "./scripted-model.ts";

/** How a scripted model reaches the same things in each program. */
export interface Dialect {
  /** A command for the program's shell tool. */
  shell(command: string): ToolCall;
  /** A tool of our MCP server. */
  mcp(tool: string, input: Record<string, unknown>): ToolCall;
  /** What a person types to use a skill, and the call by which the model loads it where typing is not enough. */
  skill(name: string): { prompt: string; load: Step[] };
  /** The tools of our server that are offered in a request. */
  offered(request: RecordedRequest): string[];
  /** Nobody is asked anything, and nothing is fenced in: only what pawl put there can refuse. */
  unattended: { args: readonly string[]; env?: Readonly<Record<string, string>> };
}

// biome-ignore lint/suspicious/noExplicitAny: tools are other programs' JSON
type Tool = any;
const toolsOf = ({ body }: RecordedRequest): Tool[] => body.tools ?? [];
const withoutPrefix = (names: string[], prefix: string) =>
  names.filter((name) => name?.startsWith(prefix)).map((name) => name.slice(prefix.length));

export const dialects: Readonly<Record<ProgramName, Dialect>> = {
  claude: {
    shell: (command) => ({ name: "Bash", input: { command, description: "a command" } }),
    mcp: (tool, input) => ({ name: `mcp__pawl__${tool}`, input }),
    skill: (name) => ({ prompt: `/${name}`, load: [] }),
    // Since 2.1.3xx it names them in the conversation, and gives their schemas when the model asks for one.
    offered: ({ text }) =>
      [...text.matchAll(/\bmcp__(?:plugin_pawl_)?pawl__(\w+)/g)].map(([, tool = ""]) => tool),
    // It refuses this option to root, unless it is told that there is nothing to lose.
    unattended: { args: ["--dangerously-skip-permissions"], env: { IS_SANDBOX: "1" } },
  },
  codex: {
    shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
    mcp: (tool, input) => ({ namespace: "mcp__pawl", name: tool, input }),
    skill: (name) => ({ prompt: `Please use $${name}.`, load: [] }),
    offered: (request) =>
      toolsOf(request)
        .filter((tool) => tool.name === "mcp__pawl")
        .flatMap((tool) => tool.tools.map((one: Tool) => one.name)),
    unattended: { args: ["--dangerously-bypass-approvals-and-sandbox"] },
  },
  copilot: {
    shell: (command) => ({ name: "bash", input: { command, description: "a command" } }),
    mcp: (tool, input) => ({ name: `pawl-${tool}`, input }),
    skill: (name) => ({
      prompt: `Use the skill ${name}.`,
      load: [{ call: { name: "skill", input: { skill: name } } }],
    }),
    offered: (request) =>
      withoutPrefix(
        toolsOf(request).map((tool) => tool.function?.name),
        "pawl-",
      ),
    unattended: { args: ["--yolo"] },
  },
  gemini: {
    shell: (command) => ({ name: "run_shell_command", input: { command, description: "a command" } }),
    mcp: (tool, input) => ({ name: `mcp_pawl_${tool}`, input }),
    skill: (name) => ({
      prompt: `Use the skill ${name}.`,
      load: [{ call: { name: "activate_skill", input: { name } } }],
    }),
    offered: (request) =>
      withoutPrefix(
        toolsOf(request).flatMap((tool) => (tool.functionDeclarations ?? []).map((one: Tool) => one.name)),
        "mcp_pawl_",
      ),
    unattended: { args: ["--approval-mode", "yolo"] },
  },
  opencode: {
    shell: (command) => ({ name: "bash", input: { command, description: "a command" } }),
    mcp: (tool, input) => ({ name: `pawl_${tool}`, input }),
    // As a command; its tool for skills first fetches ripgrep from the network.
    skill: (name) => ({ prompt: `/${name}`, load: [] }),
    offered: (request) =>
      withoutPrefix(
        toolsOf(request).map((tool) => tool.function?.name),
        "pawl_",
      ),
    unattended: { args: [] },
  },
};

export interface AgentRun {
  /** Where the program is started. */
  folder: string;
  /** The repository's top, which is the folder that is trusted. */
  root?: string;
  /** A throw-away home: no credentials, no settings of whoever runs the tests. */
  home: string;
  prompt: string;
  script: readonly Step[];
  /** More words for the program's command line. */
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface AgentResult {
  code: number | null;
  out: string;
  err: string;
  requests: RecordedRequest[];
  /** What the model read in the n-th request. */
  read(at: number): string;
  /** What was new to it there. */
  news(at: number): string;
}

const PATIENCE_MS = 90_000;

/** Runs one real program, once, against a model that follows the script. */
export async function runAgent(programs: Programs, name: ProgramName, run: AgentRun): Promise<AgentResult> {
  const model = await startModel(run.script);
  try {
    const { args, env } = STARTS[name](run, model.url);
    const result = await runProgram(programs.path[name], [...args, ...(run.args ?? [])], run.folder, {
      ...baseEnvironment(run.home, programs),
      ...env,
      ...run.env,
    });
    const { requests } = model;
    return {
      ...result,
      requests,
      read: (at) => requests[at]?.text ?? "",
      news: (at) => requests[at]?.news ?? "",
    };
  } finally {
    await model.close();
  }
}

/** Only what a program needs: nothing inherited names another agent, a provider, or this user's settings. */
export function baseEnvironment(home: string, { cacheHome }: Programs): Record<string, string> {
  return {
    ...{ PATH: process.env.PATH ?? "", HOME: home, XDG_CACHE_HOME: cacheHome, LC_ALL: "C.UTF-8", TZ: "UTC" },
    ...{ GIT_CONFIG_NOSYSTEM: "1", NO_COLOR: "1", SHELL: "/bin/bash" },
  };
}

type Start = (run: AgentRun, url: string) => { args: string[]; env: Record<string, string> };

const STARTS: Readonly<Record<ProgramName, Start>> = {
  claude: ({ home, prompt }, url) => ({
    args: ["-p", prompt],
    env: {
      ...{ CLAUDE_CONFIG_DIR: join(home, ".claude"), ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" },
    },
  }),

  codex({ home, prompt, folder, root = folder }, url) {
    const settings = [
      'model = "scripted-1"',
      'model_provider = "scripted"',
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      ...[...new Set([root, folder])].map(
        (path) => `[projects.${JSON.stringify(path)}]\ntrust_level = "trusted"`,
      ),
    ];
    const file = join(home, ".codex", "config.toml");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${settings.join("\n")}\n`);
    return {
      args: ["exec", "--dangerously-bypass-hook-trust", prompt],
      env: { CODEX_HOME: join(home, ".codex"), SCRIPTED_KEY: "test" },
    };
  },

  copilot: ({ home, prompt, folder, root = folder }, url) => {
    const file = join(home, ".copilot", "config.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ trustedFolders: [root, folder] }));
    return {
      args: ["-p", prompt, "--no-auto-update", "-s"],
      env: {
        ...{ COPILOT_HOME: join(home, ".copilot"), COPILOT_OFFLINE: "true", COPILOT_MODEL: "scripted-1" },
        ...{ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: "test" },
      },
    };
  },

  gemini: ({ home, prompt, folder, root = folder }, url) => {
    const trusted = Object.fromEntries([root, folder].map((path) => [path, "TRUST_FOLDER"]));
    writeJson(join(home, ".gemini", "settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" } },
    });
    writeJson(join(home, ".gemini", "trustedFolders.json"), trusted);
    return {
      args: ["-p", prompt, "-m", "gemini-2.5-flash"],
      env: { GEMINI_API_KEY: "test", GOOGLE_GEMINI_BASE_URL: url },
    };
  },

  opencode: ({ home, prompt, folder }, url) => {
    const models = { "scripted-1": { name: "scripted", tool_call: true } };
    const options = { baseURL: `${url}/v1`, apiKey: "test" };
    const provider = { npm: "@ai-sdk/openai-compatible", name: "scripted", options, models };
    writeJson(join(home, ".config", "opencode", "opencode.json"), {
      model: "scripted/scripted-1",
      autoupdate: false,
      provider: { scripted: provider },
    });
    // It finds the project by this variable, not by where it was started.
    const place = { PWD: folder, XDG_CONFIG_HOME: join(home, ".config"), XDG_DATA_HOME: join(home, "data") };
    const quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
    const [, command] = /^\/([a-z-]+)$/.exec(prompt) ?? [];
    return { args: ["run", ...(command ? ["--command", command] : [prompt])], env: { ...place, ...quiet } };
  },
};

function writeJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}

export function runProgram(command: string, args: string[], cwd: string, env: Record<string, string>) {
  return new Promise<{ code: number | null; out: string; err: string }>((done, fail) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    // A whole process group: npm's small start scripts do not pass a kill on to the real program.
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), PATIENCE_MS);
    child.on("error", fail);
    child.on("close", (code) => {
      clearTimeout(timer);
      done({ code, out, err });
    });
  });
}
