import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { tryAcquire } from "../../src/files/intent-lock.ts";
import { testPrograms } from "../helpers/optional-program.ts";

/**
 * The agents' real programs, from npm, in exact versions. They are no dependencies of ours: they lie in the user's
 * cache folder (PAWL_TEST_PROGRAMS names another), are fetched by the first test that asks, and stay there.
 */
export type ProgramName = "claude" | "codex" | "copilot";

export interface Programs {
  /** The file to start, for each program. */
  path: Readonly<Record<ProgramName, string>>;
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
const MANIFEST = new URL("./programs.json", import.meta.url);

/** A file may wait this long in its `beforeAll`: fetching 900 MB can take minutes. */
export const PROGRAMS_TIMEOUT_MS = PATIENCE_MS;

let ready: Promise<Programs> | undefined;

export function realPrograms(): Promise<Programs> {
  ready ??= prepare();
  return ready;
}

async function prepare(): Promise<Programs> {
  const text = readFileSync(MANIFEST, "utf8");
  const wanted = JSON.parse(text) as Record<ProgramName, Wanted>;
  const digest = createHash("sha256")
    .update(`${text}${process.platform}-${process.arch}`)
    .digest("hex")
    .slice(0, 12);
  const base = testPrograms();
  const folder = join(base, digest);
  const cacheHome = join(folder, "cache");
  const entries = Object.entries(wanted).map(([name, { package: from, bin }]) => [
    name,
    join(folder, "node_modules", from, bin),
  ]);
  const programs: Programs = { path: Object.fromEntries(entries), cacheHome };
  if (!existsSync(join(folder, "checked"))) {
    const release = await waitForTurn(join(base, `${digest}.lock`));
    try {
      if (!existsSync(folder)) await install(folder, wanted);
      if (!existsSync(join(folder, "checked"))) await check(folder, programs, wanted);
    } finally {
      release();
    }
  }
  return programs;
}

async function waitForTurn(lock: string): Promise<() => void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(200)) {
    const release = tryAcquire(lock);
    if (release) return release;
  }
  throw new Error(`Somebody else has been installing the agents' programs for too long: ${lock}`);
}

/** Beside its place first, so that an interrupted installation is not taken for a finished one. */
async function install(folder: string, wanted: Record<string, Wanted>): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const dependencies = Object.fromEntries(Object.values(wanted).map((one) => [one.package, one.version]));
  writeFileSync(join(unfinished, "package.json"), JSON.stringify({ private: true, dependencies }));
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], {
    cwd: unfinished,
    timeout: PATIENCE_MS,
    shell: process.platform === "win32",
  });
  for (const one of Object.values(wanted))
    if (one.prepare)
      await run(process.execPath, [one.prepare], { cwd: join(unfinished, "node_modules", one.package) });
  renameSync(unfinished, folder);
}

/** Each program says its version, once; for Copilot this is also when it unpacks itself. */
async function check(folder: string, programs: Programs, wanted: Record<ProgramName, Wanted>): Promise<void> {
  for (const [name, { version }] of Object.entries(wanted)) {
    const home = join(tmpdir(), `pawl-programs-${process.pid}-${name}`);
    mkdirSync(home, { recursive: true });
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CACHE_HOME: programs.cacheHome,
      COPILOT_AUTO_UPDATE: "false",
    };
    const { stdout } = await run(programs.path[name as ProgramName], ["--version"], {
      env,
      timeout: 120_000,
    });
    rmSync(home, { recursive: true, force: true });
    if (!stdout.includes(version)) throw new Error(`${name} should be ${version} and says: ${stdout}`);
  }
  writeFileSync(join(folder, "checked"), "");
}
