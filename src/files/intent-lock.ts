import { closeSync, existsSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../model/failure.ts";
import { explainFileError, makeFolder } from "./durable.ts";
import { pauseSync } from "./pause.ts";
import {
  isLeaseOver,
  LEASE_MS,
  type ProcessIdentity,
  parseIdentity,
  printIdentity,
  readLease,
  renewLease,
  seeProcesses,
} from "./process-identity.ts";

/** Never set back. The usual way to ask, `performance`, loads a module that nothing else here needs. */
const elapsedMs = () => process.uptime() * 1_000;

/**
 * A lock is a directory of empty files, one per process that wants it. The file's name says who that is, is never
 * used twice, and so can be removed by anybody once its owner is dead. Everybody creates before listing again:
 * of two contenders the later one to create always sees the other. Nobody removes the intent of a live process.
 */
export interface LockOptions {
  waitMs?: number;
  /** Called at every step of the protocol, for tests that delay or kill a process there. */
  step?: (name: string) => void;
}

type Step = (name: string) => void;

interface Intent {
  readonly name: string;
  readonly owner: ProcessIdentity;
}

type Outcome = { held: string } | { rivals: Intent[] };

const DEFAULT_WAIT_MS = 10_000;
/** An expired lease is looked at twice, because a laptop that wakes up finds every lease expired and every holder alive. */
const LEASE_GRACE_MS = 100;
/** Far below the lease, so that an intent is never entered on while others may already count it as expired. */
const STANDING_LIMIT_MS = 2_000;
/** How long a non-blocking attempt lets simultaneous rivals give way; without it two of them would both give up. */
const TRY_PATIENCE_MS = 25;
const LONGEST_PAUSE_MS = 8;
const INTENT_NAME = /^(.+)\.[0-9a-f]{12}$/;

const heldHere = new Set<string>();
const unreleased = new Set<string>();
const ignoreStep: Step = () => {};

/** Runs `critical`, which must be short and synchronous, while holding the lock that the directory `dir` stands for. */
export function withLock<T>(dir: string, critical: () => T, options: LockOptions = {}): T {
  const step = options.step ?? ignoreStep;
  const started = elapsedMs();
  const deadline = started + (options.waitMs ?? DEFAULT_WAIT_MS);
  for (let round = 0; ; round++) {
    const outcome = attempt(dir, deadline, step);
    if ("held" in outcome) return runHolding(dir, outcome.held, critical, step);
    if (outcome.rivals.some((rival) => heldHere.has(rival.name))) {
      throw new Error(`The lock ${dir} is already held by this process, which would wait for itself.`);
    }
    const now = elapsedMs();
    if (now >= deadline) throw busyFailure(dir, outcome.rivals[0], now - started);
    const backOff = Math.min(LONGEST_PAUSE_MS, 0.5 + round * 0.3) * (0.5 + Math.random());
    pauseSync(Math.min(backOff, deadline - now));
  }
}

/** Like `withLock`, but gives up at once: undefined when somebody alive holds the lock. */
export function tryLock<T>(dir: string, critical: () => T): { value: T } | undefined {
  const held = tryHold(dir);
  return held === undefined ? undefined : { value: runHolding(dir, held, critical, ignoreStep) };
}

/** For work longer than a critical section: returns the function that releases, or undefined when the lock is held. */
export function tryAcquire(dir: string): (() => void) | undefined {
  const held = tryHold(dir);
  if (held === undefined) return undefined;
  const renewal = setInterval(() => renewLease(join(dir, held)), LEASE_MS / 4).unref();
  return () => {
    clearInterval(renewal);
    release(dir, held);
  };
}

function tryHold(dir: string): string | undefined {
  const deadline = elapsedMs() + TRY_PATIENCE_MS;
  for (;;) {
    const outcome = attempt(dir, deadline, ignoreStep);
    if ("held" in outcome) return outcome.held;
    if (outcome.rivals.length > 0 || elapsedMs() >= deadline) return undefined;
  }
}

function runHolding<T>(dir: string, held: string, critical: () => T, step: Step): T {
  try {
    step("enter");
    const value = critical();
    if (value instanceof Promise) throw new Error(`The critical section of ${dir} must not be asynchronous.`);
    return value;
  } finally {
    step("release");
    release(dir, held);
  }
}

function release(dir: string, name: string): void {
  heldHere.delete(name);
  removeOwn(join(dir, name));
}

/** Never throws: the work is done by now. What cannot be removed yet (a virus scanner has it open) is tried again later. */
function removeOwn(path: string): void {
  try {
    unlinkSync(path);
    unreleased.delete(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") unreleased.delete(path);
    else unreleased.add(path);
  }
}

/** One pass of the protocol. No rivals and not held means that our intent or its directory vanished: try again. */
function attempt(dir: string, standUntil: number, step: Step): Outcome {
  for (const path of unreleased) removeOwn(path);
  step("look");
  const before = listIntents(dir);
  if (before === undefined) unlessMissing(dir, () => makeFolder(dir));
  const holders = findRivals(dir, before ?? [], undefined, step);
  if (holders.length > 0) return { rivals: holders };

  step("create");
  const own = newIntentName();
  const created = elapsedMs();
  if (!createIntent(dir, own)) return { rivals: [] };
  let outcome: Outcome = { rivals: [] };
  try {
    outcome = standUntilAlone(dir, own, { standUntil, created, step });
    if ("held" in outcome) heldHere.add(own);
    return outcome;
  } finally {
    if (!("held" in outcome)) {
      step("withdraw");
      removeOwn(join(dir, own));
    }
  }
}

function standUntilAlone(
  dir: string,
  own: string,
  { standUntil, created, step }: { standUntil: number; created: number; step: Step },
): Outcome {
  for (;;) {
    step("confirm");
    const present = listIntents(dir) ?? [];
    if (!present.some((intent) => intent.name === own)) return { rivals: [] };
    const rivals = findRivals(dir, present, own, step);
    step("decide");
    const now = elapsedMs();
    if (now - created > STANDING_LIMIT_MS) return { rivals };
    if (rivals.length === 0) return { held: own };
    if (now > standUntil || rivals.some((rival) => rankOf(rival.name) < rankOf(own))) return { rivals };
    pauseSync(0.3);
  }
}

/** The live intents other than our own; dead ones are removed on the way. */
function findRivals(dir: string, present: Intent[], own: string | undefined, step: Step): Intent[] {
  const { livenessOf } = seeProcesses();
  const rivals: Intent[] = [];
  const expired: { intent: Intent; lease: number }[] = [];
  for (const intent of present) {
    if (intent.name === own) continue;
    const liveness = livenessOf(intent.owner);
    if (liveness === "alive") rivals.push(intent);
    if (liveness === "dead") bury(dir, intent, step);
    if (liveness !== "unknowable") continue;
    const lease = readLease(join(dir, intent.name));
    if (lease === undefined) continue;
    if (isLeaseOver(lease)) expired.push({ intent, lease });
    else rivals.push(intent);
  }
  if (rivals.length > 0 || expired.length === 0) return rivals;

  step("grace");
  pauseSync(LEASE_GRACE_MS);
  for (const { intent, lease } of expired) {
    const leaseNow = readLease(join(dir, intent.name));
    if (leaseNow === undefined) continue;
    if (leaseNow === lease && isLeaseOver(leaseNow)) bury(dir, intent, step);
    else rivals.push(intent);
  }
  return rivals;
}

function bury(dir: string, intent: Intent, step: Step): void {
  step("bury");
  try {
    unlinkSync(join(dir, intent.name));
  } catch {
    // Somebody else removed it, or it belongs to another user; a dead intent blocks nobody either way.
  }
}

function newIntentName(): string {
  const random = Math.floor(Math.random() * 2 ** 48).toString(16);
  return `${printIdentity(seeProcesses().self)}.${random.padStart(12, "0")}`;
}

/** Orders by the random part first, so that no process wins every tie. */
function rankOf(name: string): string {
  return name.slice(-12) + name;
}

function parseIntent(name: string): Intent | undefined {
  const identity = INTENT_NAME.exec(name)?.[1];
  const owner = identity === undefined ? undefined : parseIdentity(identity);
  return owner && { name, owner };
}

/** Names that are not intents are somebody else's files and stay; undefined when there is no directory. */
function listIntents(dir: string): Intent[] | undefined {
  return unlessMissing(dir, () => readdirSync(dir).flatMap((name) => parseIntent(name) ?? []));
}

/** False when the directory vanished since it was listed. */
function createIntent(dir: string, name: string): boolean {
  const fd = unlessMissing(dir, () => openSync(join(dir, name), "wx"));
  if (fd !== undefined) closeSync(fd);
  return fd !== undefined;
}

function unlessMissing<T>(dir: string, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusableFailure(dir, error);
  }
}

function unusableFailure(dir: string, error: unknown): Failure {
  const explained = explainFileError(error, `The lock ${dir} cannot be taken`);
  if (explained instanceof Failure) return explained;
  return new Failure("unavailable", "state_unavailable", `The lock ${dir} cannot be taken: ${error}.`, {
    hint: `Check ${dir}: it must be a folder that you can list and write to.`,
    details: { dir, errno: codeOf(error) },
    cause: error,
  });
}

function goneFailure(dir: string): Failure {
  return unusableFailure(dir, new Error("the folder keeps disappearing or cannot be created"));
}

/** Nobody holds it now, but on a machine this busy our own intent was never young enough to enter on. */
function tooSlow(dir: string, waitedMs: number): Failure {
  return new Failure(
    "conflict",
    "lock_busy",
    `The lock ${dir} could not be taken within ${(waitedMs / 1000).toFixed(1)} s.`,
    {
      hint: "The machine is very busy. Run the command again.",
      details: { dir, waitedMs: Math.round(waitedMs) },
    },
  );
}

function busyFailure(dir: string, holder: Intent | undefined, waitedMs: number): Failure {
  if (holder === undefined) return existsSync(dir) ? tooSlow(dir, waitedMs) : goneFailure(dir);
  const { pid, pidNamespace } = holder.owner;
  const isElsewhere = pidNamespace !== seeProcesses().self.pidNamespace;
  const who = `process ${pid}${isElsewhere ? " of another sandbox or container" : ""}`;
  const waited = `${(waitedMs / 1000).toFixed(1)} s`;
  return new Failure("conflict", "lock_busy", `The lock ${dir} is held by ${who}; gave up after ${waited}.`, {
    hint: "Let that process finish (or end it if it hangs), then run the command again.",
    details: { dir, pid, pidNamespace, waitedMs: Math.round(waitedMs) },
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
