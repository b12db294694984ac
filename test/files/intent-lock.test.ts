import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, type TestContext, test } from "vitest";
import { tryAcquire, tryLock, withLock } from "../../src/files/intent-lock.ts";
import {
  type ProcessIdentity,
  parseIdentity,
  printIdentity,
  viewProcesses,
} from "../../src/files/process-identity.ts";
import { Failure } from "../../src/model/failure.ts";

let root: string;
let worker: string;
let dir: string;
let lock: string;
let caseNumber = 0;
const children = new Set<ChildProcess>();
const { self, livenessOf } = viewProcesses();
const hasProc = self.startTime !== "0";

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pawl lock ")));
  chmodSync(root, 0o755);
  worker = join(root, "worker.cjs");
  const bundle = await rolldown({
    input: join(import.meta.dirname, "intent-lock-worker.ts"),
    platform: "node",
  });
  await bundle.write({ file: worker, format: "cjs" });
  await bundle.close();
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

beforeEach(() => {
  dir = join(root, `case ${++caseNumber}`);
  lock = join(dir, "the lock");
  mkdirSync(dir);
});

afterEach(async () => {
  const abandoned = [...children];
  for (const child of abandoned) child.kill("SIGKILL");
  await Promise.all(abandoned.map(exited));
});

/** Leaves an intent behind as that process would have; returns its path. */
function plant(owner: ProcessIdentity, ageMs = 0, random = "0123456789ab"): string {
  mkdirSync(lock, { recursive: true });
  const path = join(lock, `${printIdentity(owner)}.${random}`);
  writeFileSync(path, "", { flag: "wx" });
  const then = (Date.now() - ageMs) / 1000;
  utimesSync(path, then, then);
  return path;
}

function failureOf(act: () => unknown): Failure {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

function startWorker(...args: string[]): ChildProcess {
  return start([process.execPath, worker, ...args], ["ignore", "pipe", "inherit"]);
}

function start(command: string[], stdio: ("ignore" | "pipe" | "inherit")[]): ChildProcess {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

function runWorker(command: string[], options: { uid?: number } = {}) {
  const [program = "", ...rest] = command;
  const { stdout, stderr, signal } = spawnSync(program, rest, { encoding: "utf8", cwd: "/", ...options });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { said: lines[0] === undefined ? undefined : JSON.parse(lines[0]), lines, stderr, signal };
}

const firstLine = (child: ChildProcess) =>
  new Promise<string>((resolve) => child.stdout?.once("data", (data) => resolve(String(data).trim())));
const exited = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once("exit", () => resolve()));

function pauseSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe("one process", () => {
  test("creates the directory, shows one intent inside, leaves none", () => {
    const deep = join(dir, "a", "b", "the lock");
    const seen = withLock(deep, () => readdirSync(deep));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^[0-9a-f]{8}\.\d+\.\d+\.\d+\.[0-9a-f]{12}$/);
    expect(seen[0]?.split(".")[2]).toBe(String(process.pid));
    expect(readdirSync(deep)).toEqual([]);
  });

  test("a critical section that throws releases and rethrows the same error", () => {
    const boom = new Error("boom");
    const fail = () => {
      expect(readdirSync(lock)).toHaveLength(1);
      throw boom;
    };
    for (const take of [withLock, tryLock]) {
      expect(() => take(lock, fail)).toThrow(boom);
      expect(readdirSync(lock)).toEqual([]);
    }
    expect(withLock(lock, () => "again", { waitMs: 0 })).toBe("again");
  });

  test("an asynchronous critical section is refused, because it would run unlocked", () => {
    expect(() => withLock(lock, async () => 1)).toThrow(/asynchronous/);
    expect(readdirSync(lock)).toEqual([]);
  });

  test("nesting throws at once, also under another spelling of the path and inside tryAcquire", () => {
    const started = performance.now();
    const alias = join(dir, "alias");
    for (const inner of [lock, join(dir, ".", "x", "..", "the lock"), alias]) {
      const nested = () => {
        if (!existsSync(alias)) symlinkSync(lock, alias);
        withLock(inner, () => "inside twice");
      };
      expect(() => withLock(lock, nested)).toThrow(/already held by this process/);
    }
    expect(withLock(lock, () => [tryLock(lock, () => 1), tryAcquire(lock)])).toEqual([undefined, undefined]);
    const release = tryAcquire(lock);
    expect(() => withLock(lock, () => 1)).toThrow(/already held by this process/);
    expect(release).toBeDefined();
    release?.();
    expect(withLock(lock, () => withLock(join(dir, "other"), () => "two locks"))).toBe("two locks");
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(readdirSync(lock)).toEqual([]);
  });

  test("tryAcquire holds until released, and releasing twice is harmless", () => {
    const release = tryAcquire(lock);
    expect(readdirSync(lock)).toHaveLength(1);
    expect(tryAcquire(lock)).toBeUndefined();
    release?.();
    release?.();
    expect(readdirSync(lock)).toEqual([]);
    expect(tryLock(lock, () => 7)).toEqual({ value: 7 });
  });

  test("tryAcquire renews its lease while the event loop turns", { tags: ["proof"] }, async () => {
    const release = tryAcquire(lock);
    const [name = ""] = readdirSync(lock);
    const old = Date.now() / 1000 - 9;
    utimesSync(join(lock, name), old, old);
    await delay(2_800);
    expect(Date.now() - statSync(join(lock, name)).mtimeMs).toBeLessThan(2_800);
    release?.();
    expect(readdirSync(lock)).toEqual([]);
  });

  test("files that are not intents are neither obeyed nor removed", () => {
    mkdirSync(lock);
    const id = printIdentity(self);
    const huge = printIdentity({ ...self, pid: 4294967297 });
    const junk = [
      ".DS_Store",
      "README.md",
      id,
      `${id}.0123456789AB`,
      `${id}.0123456789ab.tmp`,
      `x${id}.0123456789ab`,
    ];
    junk.push(`${huge}.0123456789ab`, `${self.boot}.1.0.1.0123456789ab`, "0123456789ab");
    for (const name of junk) writeFileSync(join(lock, name), "keep");
    expect(withLock(lock, () => "in", { waitMs: 0 })).toBe("in");
    expect(readdirSync(lock).sort()).toEqual(junk.sort());
  });
});

describe("the intent or its directory disappears", () => {
  /** Runs `act` at the given step, the first time only. */
  const sabotage = (at: string, act: () => void) => {
    let done = false;
    const step = (name: string) => {
      if (done || name !== at) return;
      done = true;
      act();
    };
    let sections = 0;
    const intents = () => (existsSync(lock) ? readdirSync(lock).length : 0);
    const seen = withLock(lock, () => [++sections, intents()], { step, waitMs: 5_000 });
    return { seen, done };
  };

  for (const at of ["look", "create", "confirm", "decide"]) {
    test(`the directory is deleted before ${at}`, () => {
      mkdirSync(lock);
      const { seen, done } = sabotage(at, () => rmSync(lock, { recursive: true }));
      expect(done).toBe(true);
      // Deleted after the last listing nothing can notice; releasing must cope all the same.
      expect(seen).toEqual([1, at === "decide" ? 0 : 1]);
      expect(withLock(lock, () => readdirSync(lock).length, { waitMs: 0 })).toBe(1);
      expect(readdirSync(lock)).toEqual([]);
    });
  }

  test("a lock is not held on an intent that somebody removed", () => {
    const { seen, done } = sabotage("confirm", () => {
      for (const name of readdirSync(lock)) unlinkSync(join(lock, name));
    });
    expect([seen, done]).toEqual([[1, 1], true]);
  });

  test("an intent that stood too long, as of a stopped process, is replaced before it is entered on", {
    tags: ["proof"],
  }, () => {
    let stood: string[] = [];
    const step = (name: string) => {
      if (name !== "confirm" || stood.length > 0) return;
      stood = readdirSync(lock);
      pauseSync(2_100);
    };
    const entered = withLock(lock, () => readdirSync(lock), { step });
    expect(stood).toHaveLength(1);
    expect(entered).toHaveLength(1);
    expect(entered).not.toEqual(stood);
  });

  test("an intent that cannot be removed at release is removed by the next attempt", () => {
    withLock(lock, () => {
      const [name = ""] = readdirSync(lock);
      unlinkSync(join(lock, name));
      mkdirSync(join(lock, name));
    });
    const [left = ""] = readdirSync(lock);
    expect(left).toContain(printIdentity(self));
    rmSync(join(lock, left), { recursive: true });
    writeFileSync(join(lock, left), "");
    expect(withLock(lock, () => readdirSync(lock).includes(left), { waitMs: 0 })).toBe(false);
  });
});

describe("who is alive", () => {
  const otherPid = () => spawnSync(process.execPath, ["-e", ""]).pid;

  test("identities survive printing, and nothing else parses", () => {
    expect(parseIdentity(printIdentity(self))).toEqual(self);
    for (const text of [
      "",
      "a.b.c.d",
      "ABCDEF01.1.2.3",
      "abcdef01.1.-2.3",
      "abcdef01.1.2",
      "abcdef01.1.2147483648.3",
    ]) {
      expect(parseIdentity(text)).toBeUndefined();
    }
    expect(printIdentity(self)).toMatch(/^[0-9a-f][0-9a-f.]*[0-9a-f]$/);
  });

  test.runIf(hasProc)("with /proc: pid and start time decide, whatever the age", () => {
    expect(livenessOf(self)).toBe("alive");
    expect(livenessOf({ ...self, startTime: `${Number(self.startTime) - 1}` })).toBe("dead");
    expect(livenessOf({ ...self, pid: otherPid() })).toBe("dead");
    expect(livenessOf({ ...self, boot: "ffffffff" })).toBe("dead");
    expect(livenessOf({ ...self, pidNamespace: "1" })).toBe("unknowable");
    expect(livenessOf({ ...self, boot: "00000000" })).toBe("unknowable");
  });

  test("without /proc: a missing pid is dead, an existing one only as alive as its lease", () => {
    const blind = viewProcesses(join(dir, "no proc"));
    expect(blind.self).toEqual({ boot: "00000000", pidNamespace: "0", pid: process.pid, startTime: "0" });
    expect(blind.livenessOf(blind.self)).toBe("unknowable");
    expect(blind.livenessOf({ ...blind.self, pid: otherPid() })).toBe("dead");
    expect(blind.livenessOf({ ...self, boot: "abcdef01" })).toBe("unknowable");
  });

  test("without /proc: another user's process is not dead", (context) => {
    if (process.getuid?.() !== 0) return context.skip("needs root to become somebody else");
    const { said } = runWorker([process.execPath, worker, "see-init"], { uid: 65534 });
    expect(said).toMatchObject({ init: "unknowable", self: { boot: "00000000" } });
  });

  test("a /proc of other pids than ours is not asked about ours, and command names cannot forge fields", () => {
    const proc = join(dir, "proc");
    const stat = (comm: string, state: string, start: string) =>
      `7 (${comm}) ${state} ${Array.from({ length: 18 }, () => "1").join(" ")} ${start} 0\n`;
    const write = (path: string, text: string) => {
      mkdirSync(join(proc, path, ".."), { recursive: true });
      writeFileSync(join(proc, path), text);
    };
    write("sys/kernel/random/boot_id", "abcdef01-2345\n");
    write(`${process.pid}/stat`, stat("node", "R", "500"));
    symlinkSync(String(process.pid), join(proc, "self"));
    const view = viewProcesses(proc);
    expect(view.self).toEqual({ boot: "abcdef01", pidNamespace: "0", pid: process.pid, startTime: "500" });
    for (const [comm, state, expected] of [
      ["x) R 1 (y", "S", "alive"],
      ["a b", "T", "alive"],
      ["a", "Z", "dead"],
      ["a", "X", "dead"],
    ] as const) {
      write("7/stat", stat(comm, state, "500"));
      expect(view.livenessOf({ ...view.self, pid: 7 })).toBe(expected);
    }
    unlinkSync(join(proc, "self"));
    write("8/stat", stat("node", "R", "500"));
    symlinkSync("8", join(proc, "self"));
    const gone = otherPid();
    write(`${gone}/stat`, stat("outer namesake", "R", "500"));
    const outer = viewProcesses(proc);
    expect(outer.self.startTime).toBe("500");
    expect(outer.livenessOf({ ...outer.self, pid: gone })).toBe("dead");
    expect(outer.livenessOf(outer.self)).toBe("unknowable");
  });
});

describe("somebody else's intent", () => {
  /** Enters without waiting for anybody; says whether it looked at a lease twice, and how long it all took. */
  const takenAtOnce = () => {
    const steps: string[] = [];
    const started = performance.now();
    const step = (name: string) => steps.push(name);
    const seen = withLock(lock, () => readdirSync(lock), { waitMs: 0, step });
    const tookMs = performance.now() - started;
    expect(seen).toHaveLength(1);
    expect(readdirSync(lock)).toEqual([]);
    return { gracious: steps.includes("grace"), tookMs };
  };

  test.runIf(hasProc)("of a live process is waited for, however old, and the failure names it", async () => {
    const holder = startWorker("hold", lock);
    expect(await firstLine(holder)).toBe('"held"');
    const [name = ""] = readdirSync(lock);
    utimesSync(join(lock, name), 1, 1);
    expect(tryLock(lock, () => 1)).toBeUndefined();
    expect(tryAcquire(lock)).toBeUndefined();
    const failure = failureOf(() => withLock(lock, () => 1, { waitMs: 250 }));
    expect(failure).toMatchObject({ kind: "conflict", code: "lock_busy", exitCode: 5 });
    expect(failure.message).toMatch(new RegExp(`process ${holder.pid}; gave up after 0\\.\\d s`));
    expect(failure.message).toContain(lock);
    expect(failure.hint).toBeTruthy();
    expect(failure.details).toMatchObject({ dir: lock, pid: holder.pid });
    expect(failure.details?.waitedMs).toBeGreaterThanOrEqual(250);
    expect(readdirSync(lock)).toEqual([name]);

    // Without a turn of the event loop the killed child stays a zombie, which must count as dead.
    process.kill(holder.pid ?? 0, "SIGKILL");
    expect(withLock(lock, () => readdirSync(lock).length, { waitMs: 2_000 })).toBe(1);
    expect(readFileSync(`/proc/${holder.pid}/stat`, "utf8")).toContain(") Z ");
    expect(readdirSync(lock)).toEqual([]);
    await exited(holder);
  });

  test.runIf(hasProc)("of a dead process, a reused pid or another boot is removed at once", () => {
    const gone = spawnSync(process.execPath, ["-e", ""]).pid;
    plant({ ...self, pid: gone }, 0, "000000000001");
    plant({ ...self, startTime: "1" }, 0, "000000000002");
    plant({ ...self, boot: "ffffffff" }, 0, "000000000003");
    expect(readdirSync(lock)).toHaveLength(3);
    expect(takenAtOnce().gracious).toBe(false);
  });

  test.runIf(hasProc)(
    "of another pid namespace is respected while its lease runs, and named as foreign",
    () => {
      for (const ageMs of [0, 8_000, -8_000]) {
        const path = plant({ ...self, pidNamespace: "1", pid: 1 }, ageMs);
        expect(tryLock(lock, () => 1)).toBeUndefined();
        const failure = failureOf(() => withLock(lock, () => 1, { waitMs: 50 }));
        expect(failure).toMatchObject({ code: "lock_busy", details: { pid: 1, pidNamespace: "1" } });
        expect(failure.message).toContain("process 1 of another sandbox or container");
        expect(readdirSync(lock)).toHaveLength(1);
        unlinkSync(path);
      }
    },
  );

  test.runIf(hasProc)(
    "of another pid namespace is removed once its lease is over or lies beyond a clock jump",
    () => {
      for (const ageMs of [10_500, 86_400_000, -86_400_000]) {
        plant({ ...self, pidNamespace: "1" }, ageMs);
        expect(takenAtOnce().tookMs).toBeGreaterThanOrEqual(90);
        plant({ ...self, pidNamespace: "1" }, ageMs);
        expect(tryLock(lock, () => "in")).toEqual({ value: "in" });
        expect(readdirSync(lock)).toEqual([]);
      }
    },
  );

  test.runIf(hasProc)("is respected when it is renewed by a clock that disagrees with ours", async () => {
    const path = plant({ ...self, pidNamespace: "1" }, 60_000);
    const renewing = startWorker("renew", lock);
    await firstLine(renewing);
    pauseSync(50);
    expect(failureOf(() => withLock(lock, () => 1, { waitMs: 400 })).code).toBe("lock_busy");
    expect(existsSync(path)).toBe(true);
    renewing.kill("SIGKILL");
    await exited(renewing);
    expect(takenAtOnce().gracious).toBe(true);
  });

  test("a waiter enters once the holder released, not before", async () => {
    contentionDirectory();
    const release = tryAcquire(lock);
    const waiter = startContender("w", 0);
    await everybodyReady(1);
    await delay(150);
    expect(linesOf("journal")).toEqual(["ready w"]);
    release?.();
    const released = performance.now();
    while (linesOf("journal").length < 3 && performance.now() - released < 5_000) await delay(10);
    writeFileSync(join(dir, "stop"), "");
    await exited(waiter.process);
    expect(waiter.process.exitCode).toBe(0);
    expect(linesOf("journal").slice(0, 3)).toEqual(["ready w", "enter w", "leave w 0"]);
  });
});

describe("a directory that cannot be used", () => {
  test("because a file stands in its way", () => {
    writeFileSync(join(dir, "file"), "");
    for (const path of [join(dir, "file"), join(dir, "file", "the lock")]) {
      for (const take of [withLock, tryLock]) {
        const failure = failureOf(() => take(path, () => 1));
        expect(failure).toMatchObject({ kind: "unavailable", code: "state_misplaced", exitCode: 2 });
        expect(failure.message).toContain(path);
        expect(failure.hint).toBeTruthy();
      }
    }
    symlinkSync("nowhere", join(dir, "dangling"));
    expect(failureOf(() => withLock(join(dir, "dangling"), () => 1, { waitMs: 100 })).code).toBe(
      "state_unavailable",
    );
    expect(readdirSync(dir).sort()).toEqual(["dangling", "file"]);
  });

  test("because it belongs to another user", (context) => {
    if (process.getuid?.() !== 0) return context.skip("needs root to become somebody else");
    mkdirSync(lock, { mode: 0o755 });
    const { said } = runWorker([process.execPath, worker, "once", lock], { uid: 65534 });
    expect(said).toMatchObject({
      name: "Failure",
      kind: "unavailable",
      code: "state_read_only",
      exitCode: 2,
    });
    expect(said.message).toContain(lock);
    expect(said.hint).toBeTruthy();
    expect(readdirSync(lock)).toEqual([]);
  });

  for (const [what, mount, code] of [
    ["read-only", "ro", "state_read_only"],
    ["full", "nr_inodes=2", "disk_full"],
  ] as const) {
    test(`because its file system is ${what}`, (context) => {
      if (!canUnshare("--mount")) return context.skip("unshare --mount does not work here");
      const script = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && "$@"; ls -A "$4"';
      const command = ["sh", "-c", script, "sh", mount, dir, process.execPath, worker, "once", lock];
      const { said, lines } = runWorker(["unshare", "--mount", ...command]);
      expect(said).toMatchObject({ name: "Failure", kind: "unavailable", code, exitCode: 2 });
      expect(said.message).toContain(lock);
      expect(said.hint).toBeTruthy();
      expect(lines).toHaveLength(1);
    });
  }
});

test("a kill at any step leaves at most one dead intent, and the next process enters at once", () => {
  const crashAt = (fatal: number) => {
    plant({ ...self, boot: "ffffffff" });
    const { said, signal } = runWorker([process.execPath, worker, "crash", lock, String(fatal)]);
    const left = readdirSync(lock).filter((name) => !name.startsWith("ffffffff"));
    expect(withLock(lock, () => readdirSync(lock).length, { waitMs: 0 })).toBe(1);
    expect(readdirSync(lock)).toEqual([]);
    return { said, signal, left: left.length };
  };
  const { said: steps } = crashAt(0);
  expect(steps).toBe(7);
  const crashes = Array.from({ length: steps }, (_, index) => crashAt(index + 1));
  expect(crashes.map(({ signal }) => signal)).toEqual(Array.from({ length: steps }, () => "SIGKILL"));
  // look, bury and create come before the intent exists; confirm, decide, enter and release after.
  expect(crashes.map(({ left }) => left)).toEqual([0, 0, 0, 1, 1, 1, 1]);
});

test("of two that try at the same moment, one gets in", { tags: ["proof"] }, async () => {
  const rounds = 400;
  for (let round = 0; round < rounds; round++) mkdirSync(join(dir, `round ${round}`));
  const startAt = String(Date.now() + 500);
  const tryers = [1, 2].map(() => startWorker("try-together", dir, startAt, String(rounds)));
  const output = tryers.map((child) => text(child.stdout as NodeJS.ReadableStream));
  const winners = (await Promise.all(output)).join("").trim().split("\n");
  // On a busy machine a rival may be suspended for longer than the other's patience, but that is rare.
  expect(new Set(winners).size).toBeGreaterThanOrEqual(rounds - 3);
});

interface Contender {
  readonly id: string;
  readonly process: ChildProcess;
  /** The pid to signal; of a sandboxed worker only its `unshare` parent is known at first. */
  target(): number;
}

const unshareResults = new Map<string, boolean>();
function canUnshare(...flags: string[]): boolean {
  const key = flags.join(" ");
  const known = unshareResults.get(key) ?? spawnSync("unshare", [...flags, "true"]).status === 0;
  unshareResults.set(key, known);
  return known;
}

function contentionDirectory(): void {
  writeFileSync(join(dir, "counter"), "0".padStart(10, "0"));
  writeFileSync(join(dir, "journal"), "");
  writeFileSync(join(dir, "acknowledged"), "");
}

function startContender(id: string, longestPauseMs: number, wrapper: string[] = []): Contender {
  const command = [...wrapper, process.execPath, worker, "contend", dir, id, String(longestPauseMs)];
  // Killing its child makes unshare complain; a worker that fails by itself is noticed by its exit code.
  const stderr = wrapper.length === 0 ? "inherit" : "ignore";
  const child = start(command, ["ignore", "ignore", stderr]);
  const pid = child.pid ?? 0;
  const target = () => {
    if (wrapper.length === 0) return pid;
    const [inner = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return inner === "" ? pid : Number(inner);
  };
  return { id, process: child, target };
}

const linesOf = (name: string) => readFileSync(join(dir, name), "utf8").split("\n").slice(0, -1);

/**
 * Replays the journal. A section is `enter` then `leave` with nothing in between; only a killed worker may enter
 * and never leave, and then nothing of it may follow. Each section that left added exactly one to the counter, each
 * that was killed inside added one or nothing, so every value read is known up to the kills since the last leave.
 */
function replay(killed: ReadonlySet<string>) {
  const left = new Map<string, number>();
  const gone = new Set<string>();
  const violations: string[] = [];
  let inside: string | undefined;
  let [least, most] = [0, 0];
  const abandon = (id: string) => {
    if (!killed.has(id)) violations.push(`${id} was never killed and did not leave`);
    gone.add(id);
    most++;
  };
  for (const [index, line] of linesOf("journal").entries()) {
    const [event, id = "", value] = line.split(" ");
    if (gone.has(id)) violations.push(`line ${index}: ${id} was still inside when another entered`);
    if (event === "enter") {
      if (inside !== undefined) abandon(inside);
      inside = id;
    } else if (event === "leave") {
      if (inside !== id) violations.push(`line ${index}: ${id} leaves while ${inside} is inside`);
      if (Number(value) < least || Number(value) > most) {
        violations.push(`line ${index}: ${id} read ${value}, expected ${least} to ${most}`);
      }
      [least, most] = [Number(value) + 1, Number(value) + 1];
      left.set(id, (left.get(id) ?? 0) + 1);
      inside = undefined;
    }
  }
  if (inside !== undefined) abandon(inside);
  return { left, violations, abandoned: gone.size, least, most };
}

function expectExclusion(killed: ReadonlySet<string>) {
  const { left, violations, abandoned, least, most } = replay(killed);
  expect(violations).toEqual([]);
  const counter = Number(readFileSync(join(dir, "counter"), "utf8"));
  expect(counter).toBeGreaterThanOrEqual(least);
  expect(counter).toBeLessThanOrEqual(most);

  const acknowledged = new Map<string, number>();
  for (const id of linesOf("acknowledged")) acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
  let sections = 0;
  let unacknowledged = 0;
  for (const [id, count] of left) {
    // A kill between leaving and acknowledging costs that worker its last acknowledgement, and nothing else does.
    const missing = count - (acknowledged.get(id) ?? 0);
    expect([0, killed.has(id) ? 1 : 0]).toContain(missing);
    sections += count;
    unacknowledged += missing;
  }
  const acknowledgedTotal = linesOf("acknowledged").length;
  expect(acknowledgedTotal + unacknowledged).toBe(sections);
  // Every section that left counts once; every one that was killed inside counts at most once.
  expect(counter).toBeGreaterThanOrEqual(acknowledgedTotal + unacknowledged);
  expect(counter).toBeLessThanOrEqual(acknowledgedTotal + unacknowledged + abandoned);
  return { left, sections, abandoned, unacknowledged };
}

function expectNoLiveIntent(): void {
  const intents = readdirSync(lock);
  const owners = intents.map((name) => parseIdentity(name.slice(0, name.lastIndexOf("."))));
  const live = owners.filter((owner) => owner === undefined || livenessOf(owner) === "alive");
  expect(live).toEqual([]);
  expect(withLock(lock, () => readdirSync(lock).length, { waitMs: 0 })).toBe(1);
  expect(readdirSync(lock)).toEqual([]);
}

/** Stops and kills workers until enough has happened; every other blow goes to whoever entered last. */
async function torment(
  crowd: Contender[],
  blows: {
    enough(done: { kills: number; stops: number; expiries: number }): boolean;
    revive(id: string): Contender;
    mayKill(id: string): boolean;
  },
) {
  const done = { kills: 0, stops: 0, expiries: 0 };
  const killed = new Set<string>();
  const unexpected: string[] = [];
  let generation = 0;
  const watch = (contender: Contender) =>
    contender.process.once("exit", (code, signal) => {
      if (code !== 0 && !killed.has(contender.id)) unexpected.push(`${contender.id}: ${code ?? signal}`);
    });
  crowd.forEach(watch);
  const latest = () =>
    /enter (\S+)\n(?!.*enter)/s.exec(readFileSync(join(dir, "journal"), "utf8").slice(-400))?.[1];
  while (!blows.enough(done) && unexpected.length === 0) {
    await delay(5 + Math.random() * 15);
    const inside = Math.random() < 0.5 ? latest() : undefined;
    const random = crowd[Math.floor(Math.random() * crowd.length)];
    const victim = crowd.find(({ id }) => id === inside) ?? random;
    if (victim === undefined || victim.process.exitCode !== null) continue;
    if (Math.random() < 0.5 && blows.mayKill(victim.id)) {
      killed.add(victim.id);
      done.expiries += await killContender(victim);
      done.kills++;
      const next = blows.revive(`${victim.id.split("#")[0]}#${++generation}`);
      watch(next);
      crowd.splice(crowd.indexOf(victim), 1, next);
    } else {
      const pid = victim.target();
      process.kill(pid, "SIGSTOP");
      await delay(Math.random() * 60);
      process.kill(pid, "SIGCONT");
      done.stops++;
    }
  }
  writeFileSync(join(dir, "stop"), "");
  await Promise.all(crowd.map((contender) => exited(contender.process)));
  return { ...done, killed, unexpected };
}

/** Kills the worker itself. Only its lease tells of a sandboxed one's death: ages its intents and says how many. */
async function killContender(victim: Contender): Promise<number> {
  const pid = victim.target();
  const namespace = /\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0];
  process.kill(pid, "SIGKILL");
  await exited(victim.process);
  if (namespace === self.pidNamespace) return 0;
  const then = Date.now() / 1000 - 11;
  const orphans = readdirSync(lock).filter((name) => name.split(".")[1] === namespace);
  for (const name of orphans) utimesSync(join(lock, name), then, then);
  return orphans.length;
}

async function everybodyReady(count: number): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (linesOf("journal").filter((line) => line.startsWith("ready")).length < count) {
    if (performance.now() > deadline) throw new Error("The workers did not start.");
    await delay(20);
  }
}

describe("many processes", () => {
  const sectionsSoFar = () => linesOf("acknowledged").length;
  const count = (event: string) => linesOf("journal").filter((line) => line.startsWith(event)).length;
  const abandonedSoFar = () => count("enter") - count("leave");

  test("twelve contenders all make progress", { tags: ["proof"] }, async () => {
    contentionDirectory();
    const crowd = Array.from({ length: 12 }, (_, index) => startContender(`w${index}`, 0));
    await everybodyReady(12);
    const share = (id: string) => linesOf("acknowledged").filter((line) => line === id).length;
    const started = performance.now();
    do await delay(500);
    while (performance.now() - started < 12_000 && crowd.some(({ id }) => share(id) < 5));
    writeFileSync(join(dir, "stop"), "");
    await Promise.all(crowd.map((contender) => exited(contender.process)));
    expect(crowd.map((contender) => contender.process.exitCode)).toEqual(crowd.map(() => 0));
    const { left, sections } = expectExclusion(new Set());
    const shares = crowd.map(({ id }) => left.get(id) ?? 0);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(5);
    expectNoLiveIntent();
    console.info(
      `progress: ${sections} sections, ${Math.min(...shares)} to ${Math.max(...shares)} per process`,
    );
  });

  test.runIf(hasProc)(
    "exclusion survives delays at every step, kill -9 and SIGSTOP",
    { tags: ["long"] },
    async () => {
      contentionDirectory();
      const crowd = Array.from({ length: 12 }, (_, index) => startContender(`w${index}`, 3));
      await everybodyReady(12);
      const started = performance.now();
      const { kills, stops, killed, unexpected } = await torment(crowd, {
        enough: (done) => {
          if (performance.now() - started > 9_000) return true;
          return sectionsSoFar() >= 400 && done.kills >= 30 && done.stops >= 30 && abandonedSoFar() > 3;
        },
        revive: (id) => startContender(id, 3),
        mayKill: () => true,
      });
      expect(unexpected).toEqual([]);
      const { sections, abandoned, unacknowledged } = expectExclusion(killed);
      expect(kills).toBeGreaterThan(10);
      expect(stops).toBeGreaterThan(10);
      expect(sections).toBeGreaterThan(50);
      // Kills that never hit a holder would prove nothing.
      expect(abandoned).toBeGreaterThan(0);
      expectNoLiveIntent();
      console.info(
        `torture: ${sections} sections, ${kills} kills (${abandoned} inside, ${unacknowledged} before the acknowledgement), ${stops} stops`,
      );
    },
  );

  test("exclusion holds across pid namespaces and without /proc", {
    tags: ["long"],
  }, async (context: TestContext) => {
    const pidFlags = ["--pid", "--fork", "--kill-child"];
    if (!canUnshare(...pidFlags, "--mount-proc")) return context.skip("unshare --pid does not work here");
    if (!canUnshare("--mount")) return context.skip("unshare --mount does not work here");
    const wrappers: Record<string, string[]> = {
      host: [],
      sandbox: ["unshare", ...pidFlags, "--mount-proc"],
      outerproc: ["unshare", ...pidFlags],
      noproc: ["unshare", ...pidFlags, "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"],
    };
    contentionDirectory();
    const start = (id: string) => startContender(id, 2, wrappers[id.split("-")[0] ?? ""]);
    const crowd = ["host-1", "host-2", "sandbox-1", "sandbox-2", "outerproc-1", "noproc-1"].map(start);
    await everybodyReady(crowd.length);
    const started = performance.now();
    const { kills, stops, expiries, killed, unexpected } = await torment(crowd, {
      enough: (done) => {
        if (performance.now() - started > 6_000) return true;
        return sectionsSoFar() >= 200 && done.kills >= 12 && done.stops >= 12 && done.expiries > 2;
      },
      revive: start,
      // Without /proc a worker's intents cannot be told from those of others, so its lease could not be aged.
      mayKill: (id) => !id.startsWith("noproc") && !id.startsWith("host-1"),
    });
    expect(unexpected).toEqual([]);
    const { left, sections, abandoned } = expectExclusion(killed);
    const kinds = new Set([...left.keys()].map((id) => id.split("-")[0]));
    expect(kinds).toEqual(new Set(Object.keys(wrappers)));
    expect(kills).toBeGreaterThan(3);
    // Sandboxed workers died with an intent standing, so the others got on only because leases ran out.
    expect(expiries).toBeGreaterThan(0);
    expect(stops).toBeGreaterThan(3);
    expect(sections).toBeGreaterThan(50);
    expectNoLiveIntent();
    console.info(
      `namespaces: ${sections} sections, ${kills} kills (${abandoned} inside, ${expiries} leases expired), ${stops} stops`,
    );
  });
});
