/** Approves a task through the page, in a process of its own that dies at one step: `node page-worker.cjs <json>`. */
import { observeSteps } from "../../src/model/steps.ts";
import { openDeciding } from "../../src/web/deciding.ts";
import { handle } from "../../src/web/handle.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { HOST, openHouse } from "./page.ts";

interface PageJob {
  cwd: string;
  killAtStep?: number;
  /** What the human types when the question comes. */
  typed: string;
}

const job = JSON.parse(process.argv[2] ?? "") as PageJob;
const steps: string[] = [];
observeSteps((name) => {
  steps.push(name);
  if (steps.length === job.killAtStep) process.kill(process.pid, "SIGKILL");
});

let hear: (line: string) => void = () => {};
const terminal = openTerminal({
  isTerminal: true,
  // The question is the last thing that is written before somebody types.
  write: (text) => void (text.startsWith("Type ") && setImmediate(() => hear(job.typed))),
  onLine: (listener) => {
    hear = listener;
  },
  onEnter: () => {},
});
const around = { cwd: job.cwd, env: process.env, operations: [], oneShot: false, ask: terminal.ask };
const deciding = openDeciding({ ...around, progress: () => {} }, terminal, () => {});
const house = openHouse({ path: job.cwd, env: process.env as Record<string, string> }, { deciding });

async function main(): Promise<void> {
  const cookie = house.sessions.enter(house.sessions.invite())?.split(";")[0];
  const { status } = await handle(
    {
      method: "POST",
      path: "/t/T0001/approve",
      query: new URLSearchParams(),
      headers: { host: HOST, cookie, origin: `http://${HOST}` },
      body: { typed: "T0001" },
      signal: new AbortController().signal,
    },
    house,
  );
  const state = () => deciding.underway.of("T0001")?.state;
  while (state() === "asking") await new Promise((done) => setTimeout(done, 5));
  console.log(JSON.stringify({ status, steps, state: state() }));
}

void main();
