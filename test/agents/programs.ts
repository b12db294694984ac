import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { tryAcquire } from "../../src/files/intent-lock.ts";
import { testPrograms } from "../helpers/optional-program.ts";

/**
 * The agents' real programs, from npm, in exact versions. They are no dependencies of ours: they lie in the user's
 * cache folder (PAWL_TEST_PROGRAMS names another), each version in a folder of its own, are fetched by the first test
 * that asks, and stay there.
 */
export const PROGRAMS = ["claude", "codex", "copilot", "gemini", "opencode"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

export interface Programs {
  /** The file to start, for each program. */
  path: Readonly<Record<ProgramName, string>>;
  /** Folders for the PATH, in which npm put each program under the name that people type. */
  folders: readonly string[];
  /** XDG_CACHE_HOME for every run: Copilot unpacks 235 MB into it once, instead of once for each throw-away home. */
  cacheHome: string;
}

interface Wanted {
  package: string;
  version: string;
  bin: string;
  /** What npm would run after installing; run by us, because newer versions of npm ask before they run such scripts. */
  prepare?: string;
}

const run = promisify(execFile);
const PATIENCE_MS = 10 * 60_000;
/** `npm run agents:latest` names another list: the newest of each, in place of the pinned ones. */
const MANIFEST = process.env.PAWL_TEST_PROGRAMS_LIST ?? new URL("./programs.json", import.meta.url);

/** A file may wait this long in its `beforeAll`: fetching 1.3 GB can take minutes. */
export const PROGRAMS_TIMEOUT_MS = PATIENCE_MS;

let ready: Promise<Programs> | undefined;

export function realPrograms(): Promise<Programs> {
  ready ??= prepare();
  return ready;
}

const pinnedVersions = (): Readonly<Record<ProgramName, Wanted>> =>
  JSON.parse(readFileSync(MANIFEST, "utf8"));

async function prepare(): Promise<Programs> {
  const base = testPrograms();
  const cacheHome = join(base, "cache");
  const path: Partial<Record<ProgramName, string>> = {};
  const folders: string[] = [];
  for (const [name, wanted] of Object.entries(pinnedVersions())) {
    const folder = join(base, `${name}-${wanted.version}-${process.platform}-${process.arch}`);
    const program = join(folder, "node_modules", wanted.package, wanted.bin);
    path[name as ProgramName] = program;
    folders.push(join(folder, "node_modules", ".bin"));
    if (existsSync(join(folder, "checked"))) continue;
    const release = await waitForTurn(`${folder}.lock`);
    try {
      if (!existsSync(folder)) await install(folder, wanted);
      if (!existsSync(join(folder, "checked"))) await check(folder, program, wanted, cacheHome);
    } finally {
      release();
    }
  }
  return { path: path as Programs["path"], folders, cacheHome };
}

async function waitForTurn(lock: string): Promise<() => void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(200)) {
    const release = tryAcquire(lock);
    if (release) return release;
  }
  throw new Error(`Somebody else has been installing the agents' programs for too long: ${lock}`);
}

/** Beside its place first, so that an interrupted installation is not taken for a finished one. */
async function install(folder: string, wanted: Wanted): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const dependencies = { [wanted.package]: wanted.version };
  writeFileSync(join(unfinished, "package.json"), JSON.stringify({ private: true, dependencies }));
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], {
    cwd: unfinished,
    timeout: PATIENCE_MS,
    shell: process.platform === "win32",
  });
  if (wanted.prepare)
    await run(process.execPath, [wanted.prepare], { cwd: join(unfinished, "node_modules", wanted.package) });
  renameSync(unfinished, folder);
}

/** The program says its version, once; for Copilot this is also when it unpacks itself. */
async function check(folder: string, program: string, { version }: Wanted, cacheHome: string): Promise<void> {
  const home = join(tmpdir(), `pawl-programs-${process.pid}`);
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CACHE_HOME: cacheHome,
    COPILOT_AUTO_UPDATE: "false",
  };
  const { stdout } = await run(program, ["--version"], { env, timeout: 120_000 });
  rmSync(home, { recursive: true, force: true });
  if (!stdout.includes(version)) throw new Error(`${program} should be ${version} and says: ${stdout}`);
  writeFileSync(join(folder, "checked"), "");
}
