import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ProgramName, Programs } from "./programs.ts";
import { baseEnvironment, runProgram } from "./run-agent.ts";

/** A question to a real program that needs no model: what it sees, what it accepts. */
export interface Question {
  folder: string;
  home: string;
  env?: Readonly<Record<string, string>>;
}

/** Nobody listens there: a program that wants to ask the network hears so at once. */
const NOWHERE = "http://127.0.0.1:9";

const SETTINGS: Readonly<Record<ProgramName, (home: string) => Record<string, string>>> = {
  claude: (home) => ({
    ...{ CLAUDE_CONFIG_DIR: join(home, ".claude"), ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: NOWHERE },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" },
  }),
  codex: (home) => ({ CODEX_HOME: join(home, ".codex") }),
  copilot: (home) => ({
    ...{ COPILOT_HOME: join(home, ".copilot"), COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false" },
  }),
  gemini: () => ({ GEMINI_API_KEY: "test", GOOGLE_GEMINI_BASE_URL: NOWHERE }),
  opencode: (home) => ({ XDG_CONFIG_HOME: join(home, ".config"), OPENCODE_DISABLE_AUTOUPDATE: "1" }),
};

const environmentOf = (programs: Programs, name: ProgramName, { home, env }: Question) => ({
  ...baseEnvironment(home, programs),
  ...SETTINGS[name](home),
  ...env,
});

export function askProgram(programs: Programs, name: ProgramName, question: Question, ...args: string[]) {
  mkdirSync(join(question.home, ".codex"), { recursive: true });
  return runProgram(programs.path[name], args, question.folder, environmentOf(programs, name, question));
}

/** As if the user had said so in each program; Claude Code needs no trust to load what a project brings. */
export function trustFolder(home: string, folder: string): void {
  mkdirSync(join(home, ".codex"), { recursive: true });
  mkdirSync(join(home, ".copilot"), { recursive: true });
  const project = `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`;
  writeFileSync(join(home, ".codex", "config.toml"), project);
  writeFileSync(join(home, ".copilot", "config.json"), JSON.stringify({ trustedFolders: [folder] }));
}

/** What Codex says it sees, asked the way an editor asks it. */
export async function askCodexServer<Answer>(
  programs: Programs,
  question: Question,
  method: "skills/list" | "hooks/list",
): Promise<Answer> {
  mkdirSync(join(question.home, ".codex"), { recursive: true });
  const child = spawn(programs.path.codex, ["app-server"], {
    cwd: question.folder,
    env: environmentOf(programs, "codex", question),
    stdio: ["pipe", "pipe", "ignore"],
    timeout: 60_000,
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const clientInfo = { name: "test", title: "test", version: "0" };
  send({ id: 1, method: "initialize", params: { clientInfo } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line);
      if (message.id === 1) {
        send({ method: "initialized" });
        send({ id: 2, method, params: { cwds: [question.folder] } });
      }
      if (message.id === 2) return message.result.data[0] as Answer;
    }
    throw new Error(`codex app-server ended without an answer to ${method}`);
  } finally {
    child.kill();
  }
}
