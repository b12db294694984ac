/** Runs operations through the real runtime in a process of its own: `node operation-worker.cjs <json>`. */
import fs from "node:fs";
import { observeSteps } from "../../src/model/steps.ts";
import { type Fault, injectFault } from "./fault-injection.ts";
import { type Answer, type Call, performJob } from "./perform-job.ts";

export interface Job extends Call {
  cwd: string;
  /** Dies at the n-th step that the store announces. */
  killAtStep?: number;
  fault?: Fault;
  /** Ends the gits that are running at the first step of this name, as the system does when memory is short. */
  killGitsAt?: string;
  /** Says "suspended" at the first step of this name, and suspends itself until somebody sends SIGCONT. */
  suspendAt?: string;
}

export type Report = { steps: string[]; moments: number } & Answer;

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

let countMoments = () => 0;
const begin = () => {
  countMoments = injectFault(job.fault);
};
performJob(job, process.env, begin).then((answer) =>
  say(JSON.stringify({ ...answer, steps, moments: countMoments() })),
);
