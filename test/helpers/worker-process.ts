import { type ChildProcess, spawn } from "node:child_process";
import type { Job, Report } from "./operation-worker.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

export interface Ending {
  out: string;
  err: string;
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process with the repository's scrubbed environment, in the repository. */
export function startNode(
  repository: TemporaryRepository,
  args: readonly string[],
  options: { detached?: boolean } = {},
): { child: ChildProcess; ending: Promise<Ending> } {
  const child = spawn(process.execPath, args, {
    cwd: repository.path,
    env: repository.env,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  const ending = new Promise<Ending>((resolve, reject) => {
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ out, err, code, signal }));
  });
  return { child, ending };
}

/** The steps of the lock have their own tests. */
export const OF_THE_LOCK = ["look", "create", "confirm", "decide", "enter", "release", "withdraw", "bury"];

/** What a worker said, or undefined when it was killed before it could. */
export async function runJob(
  worker: string,
  repository: TemporaryRepository,
  job: Omit<Job, "cwd">,
): Promise<Report | undefined> {
  const { ending } = startNode(repository, [worker, JSON.stringify({ cwd: repository.path, ...job })]);
  const { out, err, signal } = await ending;
  if (signal === "SIGKILL") return undefined;
  const line = out.trim().split("\n").at(-1) ?? "";
  if (line === "") throw new Error(`The worker said nothing: ${err}`);
  return JSON.parse(line) as Report;
}
