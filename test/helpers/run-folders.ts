import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Everything that a run of the tests makes lies in folders with the run's name: in memory where there is room, because
 * the suite makes thousands of repositories and a disk is slow (`TMPDIR=/tmp npm test` works on the disk); on the disk, for programs
 * whose sandbox hides the memory; and in the user's cache folder, for programs that refuse to work in a temporary one.
 * `clear-away.mjs` removes all of it when the run has ended, also when it was killed.
 */
const MEMORY = "/dev/shm";
const DISK = tmpdir();
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pawl-test-runs");
const BASES = [MEMORY, DISK, CACHE];
const ENOUGH_BYTES = 6 * 1024 ** 3;
const clearAway = fileURLToPath(new URL("clear-away.mjs", import.meta.url));

/** Vitest calls this before it starts its workers, and what it returns after they have ended. */
export default function openRunFolders(): () => Promise<void> {
  // `npm test` starts vitest with a channel; when that closes, npm or its script was killed.
  process.on("disconnect", () => process.exit(1));
  process.channel?.unref();
  spawnSync(process.execPath, [clearAway, "dead", ...BASES], { stdio: ["ignore", "ignore", "inherit"] });
  const name = `pawl-tests-${process.pid}`;
  const [disk, cache] = [join(DISK, name), join(CACHE, name)];
  for (const folder of [disk, cache]) makeFolder(folder);
  // Detached, so that neither Ctrl-C nor the kill of the whole group reaches it: it sees this process end by its closed pipe.
  const watcher = spawn(process.execPath, [clearAway, name, ...BASES], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise<void>((done) => watcher.on("exit", () => done()));
  Object.assign(process.env, {
    PAWL_TEST_RUN: name,
    PAWL_TEST_DISK: disk,
    PAWL_TEST_CACHE: cache,
    TMPDIR: process.env.TMPDIR === undefined ? (folderInMemory(name) ?? disk) : disk,
  });
  return () => {
    watcher.stdin.end();
    return ended;
  };
}

/** Like /tmp it lets other users in: some tests are also run as one. */
const makeFolder = (folder: string) => mkdirSync(folder, { recursive: true, mode: 0o755 });

function folderInMemory(name: string): string | undefined {
  const folder = join(MEMORY, name);
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES || freemem() < ENOUGH_BYTES) return undefined;
    makeFolder(folder);
    // Some systems let no program be run from there.
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(program).status === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
