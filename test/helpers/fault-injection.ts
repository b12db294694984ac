import childProcess from "node:child_process";
import fs from "node:fs";

/**
 * `kill` dies at the given moment. `full` behaves like a disk that has no room from that moment on, and takes half
 * of a write that meets its end; `refuse` like one that had no room only then.
 */
export interface Fault {
  kind: "kill" | "full" | "refuse";
  at: number;
}

type Call = (...args: never[]) => unknown;
type Patchable = Record<string, Call>;

/** Calls that change the disk or start git; between two of them nothing happens that a kill could interrupt. */
const CHANGING = [
  ...["openSync", "writeSync", "fsyncSync", "renameSync", "linkSync", "unlinkSync", "rmSync", "mkdirSync"],
  ...["writeFileSync", "appendFileSync", "copyFileSync"],
];
const ALLOCATING = new Set(CHANGING.filter((name) => name !== "unlinkSync" && name !== "rmSync"));

/** Counts every such call of this process from now on, and makes the fault happen. Returns how many there were. */
export function injectFault(fault: Fault | undefined): () => number {
  let moments = 0;
  const patch = (module: Patchable, name: string) => {
    const real = module[name] as Call;
    module[name] = (...args: never[]) => {
      if (name === "openSync" && opensForReading(args)) return real(...args);
      moments++;
      if (fault?.kind === "kill" && moments === fault.at) process.kill(process.pid, "SIGKILL");
      const refused = fault?.kind === "full" ? moments >= fault.at : moments === fault?.at;
      const half = fault?.kind === "full" && moments === fault.at && halfOf(name, args);
      if (half) return real(...half);
      if (refused && ALLOCATING.has(name)) throw noSpace(name, args);
      // A kill does not take from the disk what was written before it; only a power cut would, and costs no test here.
      return name === "fsyncSync" ? undefined : real(...args);
    };
  };
  for (const name of CHANGING) patch(fs as unknown as Patchable, name);
  for (const name of ["spawnSync", "execFile"]) patch(childProcess as unknown as Patchable, name);
  return () => moments;
}

const opensForReading = (args: readonly unknown[]) =>
  args[1] === undefined || args[1] === "r" || args[1] === 0;

function halfOf(name: string, args: readonly unknown[]): never[] | undefined {
  const [fd, data] = args;
  if (name !== "writeSync" || !Buffer.isBuffer(data) || args.length !== 2) return undefined;
  return [fd, data.subarray(0, Math.floor(data.length / 2))] as never[];
}

function noSpace(name: string, args: readonly unknown[]): Error {
  const path = typeof args[0] === "string" ? args[0] : undefined;
  return Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: "ENOSPC", path });
}
