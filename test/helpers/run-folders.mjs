// Everything that a run of the tests makes lies in folders with the run's name: in memory where there is room, because the
// suite makes thousands of repositories and a disk is slow (`TMPDIR=/tmp npm test` works on the disk); on the disk, for
// programs whose sandbox hides the memory; and in the user's cache folder, for programs that refuse to work in a temporary
// one. `clear-away.mjs` removes all of it when the run has ended, also when it was killed.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 6 * 1024 ** 3;
const clearAway = fileURLToPath(new URL("clear-away.mjs", import.meta.url));

/** Vitest calls this first. `npm test` has opened the folders before; `npx vitest` has not. */
export default function openOwnFolders() {
  return process.env.PAWL_TEST_RUN === undefined ? openRunFolders() : undefined;
}

/** Aims this process's environment at the run's folders. Call what it returns when everything has ended. */
export function openRunFolders() {
  const disk = tmpdir();
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pawl-test-runs");
  const bases = [MEMORY, disk, cache];
  spawnSync(process.execPath, [clearAway, "dead", ...bases], { stdio: ["ignore", "ignore", "inherit"] });
  const name = `pawl-tests-${process.pid}`;
  for (const base of [disk, cache]) makeFolder(join(base, name));
  // Detached, so that neither Ctrl-C nor the kill of the whole group reaches it. It sees this process end by its closed pipe.
  const watcher = spawn(process.execPath, [clearAway, name, ...bases], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = new Promise((done) => watcher.on("exit", done));
  Object.assign(process.env, {
    PAWL_TEST_RUN: name,
    PAWL_TEST_DISK: join(disk, name),
    PAWL_TEST_CACHE: join(cache, name),
    TMPDIR: process.env.TMPDIR === undefined ? (folderInMemory(name) ?? join(disk, name)) : join(disk, name),
  });
  return () => {
    watcher.stdin.end();
    return ended;
  };
}

/** Like /tmp it lets other users in: some tests are also run as one. */
const makeFolder = (folder) => mkdirSync(folder, { recursive: true, mode: 0o755 });

function folderInMemory(name) {
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
