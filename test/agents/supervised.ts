import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AttemptSpec, attemptNumbers, owners, readSpec } from "../../src/agents/attempt/folder.ts";
import { markedProcesses, send } from "../../src/agents/processes.ts";
import { parseIdentity, seeProcesses } from "../../src/files/process-identity.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { terminalFor } from "../helpers/pseudo-terminal.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import type { Programs } from "./programs.ts";
import { baseEnvironment } from "./run-agent.ts";

/** The programs that `pawl run` knows. */
export type SupervisedName = "claude" | "codex" | "copilot";

/** What a command said. */
interface Said {
  code: number;
  out: string;
  err: string;
  /** The envelope of a call with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

/** A project with pawl in it, in which `pawl run` starts the real programs against a scripted model. */
export interface RunProject {
  path: string;
  env: Record<string, string>;
  /** As a person at the keyboard would: no agent is recognised in its environment. */
  pawl(...argv: string[]): Promise<Said>;
  /** A command that goes on until it is ended. */
  start(...argv: string[]): { said(): string; end(): void };
  /** The same on a terminal of its own, which can be closed under it. */
  onTerminal(...argv: string[]): { said(): string; close(): Promise<void> };
  git(...args: string[]): string;
  /** Removes what the programs know of earlier conversations. */
  forgetSessions(): void;
  /** Whether a conversation that holds this is on disk, so that its program can go on with it. */
  hasSaved(words: RegExp): boolean;
  /** The model that the programs started next will ask; each its own, where several are named. */
  aimAt(url: string | Readonly<Record<SupervisedName, string>>): void;
  attempt(run: string, number?: number): { path: string; spec: AttemptSpec };
  read(path: string): string;
  /** Processes that carry the mark of an attempt. */
  left(run: string, number?: number): number;
  waitFor(what: string, isSo: () => boolean, seconds?: number): Promise<void>;
  remove(): void;
}

const folders = { state: ".pawl/state", runs: ".git/pawl/runs" };
/** Where the programs keep their conversations, in their home. */
const CONVERSATIONS = [".claude/projects", ".codex/sessions", ".copilot/session-state"];

export function makeRunProject(
  name: string,
  programs: Programs | undefined,
  config = "",
  files: Readonly<Record<string, string>> = {},
): RunProject {
  const built: BuiltProgram = buildProgram();
  const root = newRoot(name);
  const repository = makeRepository(root);
  const { path } = repository;
  const env: Record<string, string> = { ...repository.env };
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: path, env, encoding: "utf8", stdio: "pipe" }).trim();
  const spawnPawl = (argv: readonly string[]) =>
    new Promise<Said>((done) => {
      execFile(
        process.execPath,
        [built.pawl, ...argv],
        { cwd: path, env, encoding: "utf8" },
        (error, out, err) => {
          const code = error ? Number(error.code ?? 70) : 0;
          done({ code, out, err, json: argv.includes("--json") && out !== "" ? JSON.parse(out) : undefined });
        },
      );
    });
  mkdirSync(join(path, ".pawl"), { recursive: true });
  writeFileSync(join(path, ".pawl/config.yaml"), `profile: light\n${config}`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  git("add", "-A");
  git("commit", "-qm", "Configure");
  execFileSync(process.execPath, [built.pawl, "install", "--commit", "--yes"], {
    cwd: path,
    env,
    stdio: "pipe",
  });
  if (programs) prepareHomes(root, path, programs, env);
  const attempt = (run: string, number = 1) => {
    const folder = join(path, folders.runs, run.replace("/", "."), `a${number}`);
    return { path: folder, spec: JSON.parse(readText(join(folder, "spec.json"))) as AttemptSpec };
  };
  return {
    path,
    env,
    git,
    attempt,
    start(...argv) {
      const child = spawn(process.execPath, [built.pawl, ...argv], { cwd: path, env });
      let said = "";
      child.stdout.on("data", (chunk) => {
        said += chunk;
      });
      return { said: () => said, end: () => child.kill() };
    },
    pawl: (...argv) => spawnPawl(argv),
    onTerminal: (...argv) => openTerminal([process.execPath, built.pawl, ...argv], path, env),
    forgetSessions() {
      for (const folder of CONVERSATIONS) rmSync(join(root, folder), { recursive: true, force: true });
    },
    hasSaved: (words) =>
      CONVERSATIONS.flatMap((folder) => conversationsIn(join(root, folder))).some((file) =>
        words.test(readText(file)),
      ),
    aimAt: (url) => aim(root, path, env, url),
    read: (file) => readText(join(path, folders.state, file)),
    left: (run, number) => markedProcesses(attempt(run, number).spec.mark).length,
    async waitFor(what, isSo, seconds = 60) {
      for (const end = Date.now() + seconds * 1_000; !isSo(); await sleep(50))
        if (Date.now() > end) throw new Error(`Not within ${seconds} s: ${what}`);
    },
    remove() {
      endEverything(join(path, folders.runs));
      built.remove();
      rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** A terminal ends as a window does that is closed: everybody on it gets a hangup. */
function openTerminal(words: readonly string[], cwd: string, env: Record<string, string>) {
  const [command, args] = terminalFor(words);
  const child = spawn(command, args, {
    cwd,
    env: { ...env, TERM: "dumb" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = new Promise<void>((done) => child.on("close", () => done()));
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  return {
    said: () => said,
    close() {
      child.kill("SIGKILL");
      return closed;
    },
  };
}

/** A test that failed may have left agents at work: the supervisors first, because they would write about the rest. */
function endEverything(runs: string): void {
  const attempts = (existsSync(runs) ? readdirSync(runs) : []).flatMap((run) =>
    attemptNumbers(join(runs, run)).map((number) => join(runs, run, `a${number}`)),
  );
  for (const path of attempts) {
    const owner = parseIdentity(owners(path).at(-1) ?? "");
    if (owner && seeProcesses().livenessOf(owner) === "alive") send(owner.pid, "SIGKILL");
    const mark = readSpec(path)?.mark;
    if (mark !== undefined) for (const { pid } of markedProcesses(mark)) send(pid, "SIGKILL");
  }
}

/** All three write a conversation as lines of JSON; what else lies beside it is not enough to go on with. */
const conversationsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".jsonl"))
        .map((file) => join(folder, file))
    : [];
const readText = (file: string) => execFileSync("cat", [file], { encoding: "utf8" });

/** Not in the temporary folder: Codex places no helpers there. */
const newRoot = (name: string) => makeTemporaryFolder(name, process.env.PAWL_TEST_CACHE);

/** Empty homes, and the programs on the PATH as npm puts them there. */
function prepareHomes(root: string, path: string, programs: Programs, env: Record<string, string>): void {
  Object.assign(env, baseEnvironment(root, programs));
  env.PATH = [...programs.folders, env.PATH].join(":");
  Object.assign(env, {
    ...{ CLAUDE_CONFIG_DIR: join(root, ".claude"), ANTHROPIC_API_KEY: "test" },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" },
    ...{ CODEX_HOME: join(root, ".codex"), SCRIPTED_KEY: "test" },
    ...{ COPILOT_HOME: join(root, ".copilot"), COPILOT_OFFLINE: "true", COPILOT_MODEL: "scripted-1" },
    COPILOT_PROVIDER_API_KEY: "test",
  });
  for (const folder of [".codex", ".copilot"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, ".copilot/config.json"), JSON.stringify({ trustedFolders: [path] }));
}

function aim(
  root: string,
  path: string,
  env: Record<string, string>,
  where: string | Readonly<Record<SupervisedName, string>>,
): void {
  const urls = typeof where === "string" ? { claude: where, codex: where, copilot: where } : where;
  env.ANTHROPIC_BASE_URL = urls.claude;
  env.COPILOT_PROVIDER_BASE_URL = `${urls.copilot}/v1`;
  const settings = [
    'model = "scripted-1"',
    'model_provider = "scripted"',
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = "${urls.codex}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    `[projects.${JSON.stringify(path)}]`,
    'trust_level = "trusted"',
  ];
  writeFileSync(join(root, ".codex/config.toml"), `${settings.join("\n")}\n`);
}
