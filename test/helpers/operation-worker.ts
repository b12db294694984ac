/** Runs operations through the real runtime in a process of its own: `node operation-worker.cjs <json>`. */
import fs from "node:fs";
import { Failure } from "../../src/model/failure.ts";
import { parseInput } from "../../src/model/input.ts";
import { observeSteps } from "../../src/model/steps.ts";
import { operations } from "../../src/ops/index.ts";
import { openRuntime } from "../../src/runtime/open.ts";
import { run } from "../../src/runtime/run.ts";
import { type Fault, injectFault } from "./fault-injection.ts";

export interface Job {
  cwd: string;
  operation: string;
  input: unknown;
  key?: string;
  /** Dies at the n-th step that the store announces. */
  killAtStep?: number;
  fault?: Fault;
  /** What a human would type at the terminal: here the test is the outside of the program. */
  typed?: string;
  /** Ends the gits that are running at the first step of this name, as the system does when memory is short. */
  killGitsAt?: string;
  /** Says "suspended" at the first step of this name, and suspends itself until somebody sends SIGCONT. */
  suspendAt?: string;
}

export type Report = { steps: string[]; moments: number } & (
  | { ok: true; data: Record<string, { id: string; rev: number }>; warnings: string[] }
  | { ok: false; code: string; exitCode: number; message: string }
);

const job = JSON.parse(process.argv[2] ?? "") as Job;
const steps: string[] = [];
// Taken now, because the report has to get out of a process whose writes fail.
const { writeSync } = fs;
const say = (text: string) => writeSync(1, `${text}\n`);

observeSteps((name) => {
  steps.push(name);
  if (steps.length === job.killAtStep) process.kill(process.pid, "SIGKILL");
  if (name === job.killGitsAt && steps.indexOf(name) === steps.length - 1) killGits();
  if (name === job.suspendAt && steps.indexOf(name) === steps.length - 1) {
    say("suspended");
    process.kill(process.pid, "SIGSTOP");
  }
});

function killGits(): void {
  const children = fs.readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  for (const pid of children.split(" ").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
}

async function perform(): Promise<Report> {
  const load = operations[job.operation];
  if (!load) throw new Error(`There is no operation ${job.operation}`);
  const operation = await load();
  const ask = async (question: string) => (question === "" ? "" : job.typed);
  const around = {
    ...{
      cwd: job.cwd,
      env: process.env,
      operations: Object.keys(operations),
      oneShot: true,
      progress: () => {},
    },
    ...(job.typed === undefined ? {} : { ask }),
  };
  const runtime = openRuntime(around);
  const countMoments = injectFault(job.fault);
  try {
    const input = parseInput(operation.input, job.input);
    const { data, warnings } = await run(operation, input, runtime, { key: job.key });
    return { ok: true, data: data as never, warnings, steps, moments: countMoments() };
  } catch (error) {
    const isFailure = error instanceof Failure;
    const message = isFailure ? error.message : String((error as Error).stack);
    const code = isFailure ? error.code : "internal";
    return {
      ok: false,
      code,
      exitCode: isFailure ? error.exitCode : 70,
      message,
      steps,
      moments: countMoments(),
    };
  }
}

perform().then((report) => say(JSON.stringify(report)));
