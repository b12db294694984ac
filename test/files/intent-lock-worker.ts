/** Run by intent-lock.test.ts in processes of their own, as compiled JavaScript: `node worker.cjs <role> <arguments…>`. */
import { existsSync, openSync, readdirSync, readSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { tryLock, withLock } from "../../src/files/intent-lock.ts";
import { viewProcesses } from "../../src/files/process-identity.ts";

const [role = "", ...args] = process.argv.slice(2);
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const pause = (ms: number) => Atomics.wait(sleeper, 0, 0, ms);
const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`);
const COUNTER_WIDTH = 10;
/** A worker whose test runner was killed must not go on for ever. */
const LIFETIME_MS = 60_000;

/** Adds one to a shared counter, again and again, in two steps that lose updates unless the lock excludes the others. */
function contend(dir: string, id: string, longestPauseMs: number): void {
  const counter = openSync(join(dir, "counter"), "r+");
  const journal = openSync(join(dir, "journal"), "a");
  const acknowledged = openSync(join(dir, "acknowledged"), "a");
  const maybePause = () => Math.random() < 0.5 && longestPauseMs > 0 && pause(Math.random() * longestPauseMs);
  const section = () => {
    writeSync(journal, `enter ${id}\n`);
    const buffer = Buffer.alloc(COUNTER_WIDTH);
    readSync(counter, buffer, 0, COUNTER_WIDTH, 0);
    const value = Number(buffer.toString());
    maybePause();
    // One write of a fixed width, so that a kill leaves the old or the new number and never half of one.
    writeSync(counter, String(value + 1).padStart(COUNTER_WIDTH, "0"), 0);
    maybePause();
    writeSync(journal, `leave ${id} ${value}\n`);
  };
  writeSync(journal, `ready ${id}\n`);
  while (!existsSync(join(dir, "stop")) && performance.now() < LIFETIME_MS) {
    withLock(join(dir, "the lock"), section, { step: maybePause, waitMs: 25_000 });
    writeSync(acknowledged, `${id}\n`);
    maybePause();
  }
}

function hold(lock: string): void {
  withLock(lock, () => {
    say("held");
    pause(LIFETIME_MS);
  });
}

function crash(lock: string, fatal: number): void {
  let steps = 0;
  withLock(lock, () => {}, {
    step: () => {
      steps++;
      if (steps === fatal) process.kill(process.pid, "SIGKILL");
    },
  });
  say(steps);
}

function once(lock: string): void {
  try {
    withLock(lock, () => say("entered"), { waitMs: 300 });
  } catch (error) {
    const { name, kind, code, message, hint, exitCode } = error as Record<string, unknown>;
    say({ name, kind, code, message, hint, exitCode });
  }
}

/** Everybody tries at the same moment, which only spinning on the clock brings about; says who got in. */
function tryTogether(dir: string, startAt: number, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    while (performance.timeOrigin + performance.now() < startAt + round * 4);
    tryLock(join(dir, `round ${round}`), () => say(round));
  }
}

/** Renews a lease the way a holder does whose clock is a minute behind ours. */
function renew(lock: string): void {
  const [name = ""] = readdirSync(lock);
  say("renewing");
  while (performance.now() < LIFETIME_MS) {
    const then = (Date.now() - 60_000) / 1000;
    utimesSync(join(lock, name), then, then);
    pause(10);
  }
}

function seeInit(): void {
  const view = viewProcesses("/nonexistent");
  say({ init: view.livenessOf({ ...view.self, pid: 1 }), self: view.self });
}

const [first = "", second = "", third = ""] = args;
const roles: Record<string, () => void> = {
  contend: () => contend(first, second, Number(third)),
  hold: () => hold(first),
  crash: () => crash(first, Number(second)),
  once: () => once(first),
  "try-together": () => tryTogether(first, Number(second), Number(third)),
  renew: () => renew(first),
  "see-init": seeInit,
};
roles[role]?.();
