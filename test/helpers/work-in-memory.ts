import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The suite makes and removes thousands of repositories, and a disk makes each wait for it. Where memory can hold them,
 * they are made there; TMPDIR=/tmp npm test works on the disk, as does a machine that lacks the room.
 */
const MEMORY = "/dev/shm";
const OURS = /^pawl-(\d+)$/;
const ENOUGH_BYTES = 6 * 1024 ** 3;

/** Vitest calls it before it starts its workers, and what it answers after they have ended. */
export default function workInMemory(): (() => void) | undefined {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return undefined;
  forgetDead();
  const folder = join(MEMORY, `pawl-${process.pid}`);
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  // As /tmp does, it lets other users in: some tests are also run as one.
  mkdirSync(folder, { mode: 0o755 });
  if (!runsPrograms(folder)) {
    remove();
    return undefined;
  }
  process.env.PAWL_TEST_DISK = tmpdir();
  process.env.TMPDIR = folder;
  return remove;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES && freemem() > ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** Some systems let nothing be run from there. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}

/** A run that was killed has left its folder, and nobody else would give the memory back. */
function forgetDead(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(OURS.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
