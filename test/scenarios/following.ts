import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { parseLine } from "../../src/cli/arguments.ts";
import { findCommand } from "../../src/cli/command-words.ts";
import { noteBeginning } from "../../src/files/sessions.ts";
import { toolName } from "../../src/mcp/tools.ts";
import { agentsIn } from "../../src/model/actor.ts";
import { operations } from "../../src/ops/index.ts";
import { call, connect } from "../helpers/mcp-server.ts";
import { onTerminal, type Typed } from "../helpers/pseudo-terminal.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { commandsIn, shellWords } from "../installer/render/commands.ts";

/** What a step gave: whether it ended as the step wants it, and all that was told. */
export interface Outcome {
  ok: boolean;
  text: string;
}

export type Part = number | "Use" | "Excuses" | "Gate" | "After the gate" | "Stop";

export interface Following {
  who?: "author" | "reviewer";
  /** Which of the part's commands, by how it begins, closing quote included; the only one where it is left out. */
  begins?: string;
  /** What stands in place of a placeholder, or of another word of the example. */
  with?: Record<string, string>;
}

const AGENTS = {
  author: { CODEX_SESSION_ID: "author-1" },
  reviewer: { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "reviewer-1" },
};

export const SURFACES = ["command line", "MCP"] as const;

/** A project that has nothing to do with npm: its tests are a shell script. */
const FILES = {
  "src/upload.sh": "tries=1\n",
  check:
    '[ ! -e test/upload ] || grep -q "$(cat test/upload)" src/upload.sh || { echo "upload failed"; exit 1; }\n',
};
const ONE_TEST = ["sh", "check", "upload"];

/** Somebody who knows nothing but the installed skills, and does what they say, on one surface. */
export class Follower {
  readonly path: string;
  readonly #surface: (typeof SURFACES)[number];
  readonly #root: string;
  readonly #env: Record<string, string>;
  readonly #clients: Partial<Record<"author" | "reviewer", Client>> = {};
  /** Where the author works, from the moment that a step said so. */
  worktree: string;
  /** Every command that was followed, by its skill. */
  readonly followed = new Set<string>();

  constructor(surface: (typeof SURFACES)[number], program: string, config: string) {
    this.#surface = surface;
    this.#root = makeTemporaryFolder(`followed by ${surface}`);
    const { path, env } = makeRepository(this.#root);
    this.path = this.worktree = path;
    this.#env = env;
    for (const [file, text] of Object.entries({ ...FILES, ".pawl/config.yaml": config }))
      this.save(file, text);
    this.commit();
    execFileSync(process.execPath, [program, "install", "--yes", "--commit"], {
      cwd: path,
      env,
      stdio: "pipe",
    });
    for (const agent of Object.values(AGENTS).flatMap(agentsIn)) noteBeginning(join(path, ".git"), agent, 0);
  }

  get #launcher(): string {
    return join(this.path, ".pawl", "pawl.cjs");
  }

  async close(): Promise<void> {
    for (const client of Object.values(this.#clients)) await client.close();
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  /** What an agent's own tools do: files and commits in the place where it works. */
  save(file: string, text: string): void {
    mkdirSync(dirname(join(this.worktree, file)), { recursive: true });
    writeFileSync(join(this.worktree, file), text);
  }

  commit(): void {
    for (const args of [
      ["add", "-A"],
      ["commit", "-qm", "Step"],
    ])
      execFileSync("git", args, { cwd: this.worktree, env: this.#env, stdio: "pipe" });
  }

  human(argv: readonly string[], typed: string): Promise<Typed> {
    return onTerminal(this.#launcher, { path: this.path, env: this.#env }, argv, typed);
  }

  async follow(skill: string, part: Part, how: Following = {}): Promise<Outcome> {
    const said = commandsIn(this.#textOf(skill, part)).map((one) => `${one}\``);
    const all = said.filter((one) => one.startsWith(how.begins ?? "pawl ")).map((one) => one.slice(0, -1));
    const [command] = all;
    if (command === undefined || (!how.begins && all.length > 1))
      throw new Error(`${skill} ${part}: ${all.length} commands: ${all.join("; ")}`);
    this.followed.add(`${skill}: ${command}`);
    const words = shellWords(command).flatMap((word) => filledIn(word, how.with ?? {}));
    const who = how.who ?? "author";
    return this.#surface === "MCP"
      ? this.#overMcp(words.slice(1), who)
      : this.#onCommandLine(words.slice(1), who);
  }

  #onCommandLine(words: string[], who: "author" | "reviewer"): Outcome {
    const { status, stdout, stderr } = spawnSync(process.execPath, [this.#launcher, ...words], {
      cwd: this.worktree,
      env: { ...this.#env, ...AGENTS[who] },
      encoding: "utf8",
      timeout: 60_000,
    });
    return { ok: status === 0, text: stdout + stderr };
  }

  /** The same words as the tool of the same name: what the server tells every agent about hints and skills. */
  async #overMcp(words: string[], who: "author" | "reviewer"): Promise<Outcome> {
    const found = findCommand(Object.keys(operations), words);
    if ("group" in found) throw new Error(`"${words.join(" ")}" names a group`);
    const load = operations[found.id];
    if (!load) throw new Error(`no operation ${found.id}`);
    const { input } = parseLine(await load(), found.rest);
    // The server stands where the agent was started, at the root of the project.
    const place = { program: this.#launcher, cwd: this.path, env: { ...this.#env, ...AGENTS[who] } };
    this.#clients[who] ??= await connect(place);
    const { text, data, failed } = await call(this.#clients[who], toolName(found.id), input);
    return { ok: !failed && isWanted(found.id, input, data), text };
  }

  #textOf(skill: string, part: Part): string {
    const text = readFileSync(join(this.path, ".agents/skills", skill, "SKILL.md"), "utf8");
    const found = PATTERNS[typeof part === "number" ? "step" : part](part).exec(text)?.[0];
    if (found === undefined) throw new Error(`${skill} has no ${part}`);
    return found;
  }
}

const heading = (name: Part) => new RegExp(`^## ${name}\\n+[^\\n]*(?:\\n(?!#|\\n[^-])[^\\n]*)*`, "m");
const PATTERNS: Record<Exclude<Part, number> | "step", (part: Part) => RegExp> = {
  step: (number) => new RegExp(`^${number}\\. .*(?:\\n\\n(?:- .*\\n)+)?`, "m"),
  // Everything before the first heading: when to use it.
  Use: () => /-->\n[\s\S]*?(?=^## |^1\. )/m,
  Excuses: heading,
  Gate: heading,
  "After the gate": () => /^For `[a-z_]+` run .*$/m,
  Stop: () => /^(?:## )?Stop\b[\s\S]*/m,
};

/** Whoever follows a skill puts words of their own in every bracket. */
function filledIn(word: string, own: Record<string, string>): string[] {
  if (own[word] !== undefined) return [own[word]];
  if (word === "<task>") return ["T0001"];
  if (word === "<path>") return ["src/upload.sh"];
  if (word === "<command>") return ONE_TEST;
  return [/^<.*>$/.test(word) ? word.slice(1, -1) : word];
}

/** What the command line says with its exit code. */
function isWanted(id: string, input: Record<string, unknown>, data: unknown): boolean {
  const { check, evidence } = (data ?? {}) as {
    check?: { ready: boolean };
    evidence?: { exit_code: number } | { exit_code: number }[];
  };
  if (id === "check") return check?.ready === true;
  if (id !== "verify") return true;
  return [evidence ?? []].flat().every((one) => (one.exit_code === 0) !== (input.red === true));
}
