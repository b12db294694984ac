import { statSync, utimesSync } from "node:fs";
import { hasEnded, statOf } from "./proc.ts";
import { linkIfReadable, textIfReadable } from "./read.ts";

/** Tells this run of a process from every other one that had or will have its pid. */
export interface ProcessIdentity {
  readonly boot: string;
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTime: string;
}

/** `unknowable`: the process cannot be seen from here, so only a lease can decide. */
type Liveness = "alive" | "dead" | "unknowable";

export interface ProcessView {
  readonly self: ProcessIdentity;
  livenessOf(identity: ProcessIdentity): Liveness;
}

/** How long a process that cannot be seen is believed to live after it last touched its file. */
export const LEASE_MS = 10_000;

const UNKNOWN_BOOT = "00000000";
const UNKNOWN = "0";
const LARGEST_PID = 0x7fff_ffff;
const PRINTED = /^([0-9a-f]{8})\.(\d{1,20})\.([1-9]\d{0,9})\.(\d{1,20})$/;

/** Lower-case hex, digits and dots only, so that the text is a valid file name on every file system. */
export function printIdentity({ boot, pidNamespace, pid, startTime }: ProcessIdentity): string {
  return `${boot}.${pidNamespace}.${pid}.${startTime}`;
}

export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [, boot, pidNamespace, digits, startTime] = PRINTED.exec(text) ?? [];
  if (boot === undefined || pidNamespace === undefined || startTime === undefined) return undefined;
  const pid = Number(digits);
  return pid > LARGEST_PID ? undefined : { boot, pidNamespace, pid, startTime };
}

let seen: ProcessView | undefined;

/** Read once, because nothing in it changes while the process lives. */
export function seeProcesses(): ProcessView {
  seen ??= viewProcesses();
  return seen;
}

/** What this process can see of itself and of others; `proc` is where the kernel shows processes, if it does. */
export function viewProcesses(proc = "/proc"): ProcessView {
  const self: ProcessIdentity = {
    boot: readBoot(proc),
    pidNamespace: /\d+/.exec(linkIfReadable(`${proc}/self/ns/pid`) ?? "")?.[0] ?? UNKNOWN,
    pid: process.pid,
    startTime: statOf(`${proc}/self`)?.startTime ?? UNKNOWN,
  };
  // A sandbox may unshare pids and keep the outer /proc, whose numbers then mean other processes.
  const showsOurPids = linkIfReadable(`${proc}/self`) === String(process.pid);

  return {
    self,
    livenessOf(identity) {
      if (identity.boot !== self.boot) {
        // Only one side has a /proc, as with a container that shares a directory with a macOS host.
        const comparable = identity.boot !== UNKNOWN_BOOT && self.boot !== UNKNOWN_BOOT;
        return comparable ? "dead" : "unknowable";
      }
      if (identity.pidNamespace !== self.pidNamespace) return "unknowable";
      return showsOurPids ? livenessFromStat(proc, identity) : livenessFromSignal(identity.pid);
    },
  };
}

/** How a process that we started is told from every later one with its pid. */
export function identityOf(pid: number): ProcessIdentity {
  return { ...seeProcesses().self, pid, startTime: statOf(`/proc/${pid}`)?.startTime ?? UNKNOWN };
}

function livenessFromStat(proc: string, { pid, startTime }: ProcessIdentity): Liveness {
  const stat = statOf(`${proc}/${pid}`);
  // /proc mounted with hidepid shows other users' processes as missing; a signal still finds them.
  if (stat?.startTime === undefined) return livenessFromSignal(pid);
  if (stat.startTime !== startTime) return "dead";
  return hasEnded(stat) ? "dead" : "alive";
}

function livenessFromSignal(pid: number): Liveness {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return "dead";
  }
  // Some process has this pid, but it may have been given the number after the one we look for died.
  return "unknowable";
}

/** When the lease was last renewed; undefined when its file is gone. One that cannot be read counts as fresh. */
export function readLease(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : Date.now();
  }
}

/** A lease from the future is over too: after the clock was set back it would otherwise last for hours. */
export function isLeaseOver(renewedMs: number): boolean {
  return Math.abs(Date.now() - renewedMs) >= LEASE_MS;
}

export function renewLease(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // The file was removed under us; releasing copes with that, and the timer that calls this has nobody to tell.
  }
}

function readBoot(proc: string): string {
  const text = (textIfReadable(`${proc}/sys/kernel/random/boot_id`) ?? "")
    .slice(0, UNKNOWN_BOOT.length)
    .toLowerCase();
  return /^[0-9a-f]{8}$/.test(text) ? text : UNKNOWN_BOOT;
}
