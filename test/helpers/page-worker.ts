/** Approves a task through the page, in a process of its own that dies at one step: `node page-worker.cjs <json>`. */
import { createPrivateKey } from "node:crypto";
import type { Approver } from "../../src/model/approvers.ts";
import { observeSteps } from "../../src/model/steps.ts";
import { openDeciding } from "../../src/web/deciding.ts";
import { handle } from "../../src/web/handle.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import { HOST, openHouse } from "./page.ts";
import { answer } from "./software-passkey.ts";

interface PageJob {
  cwd: string;
  killAtStep?: number;
  /** What the human types when the question comes. */
  typed: string;
  /** The passkey that signs, with its secret in PEM; else the terminal is asked. */
  key?: { approver: Approver; secret: string };
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

const cookie = house.sessions.enter(house.sessions.invite(), HOST)?.split(";")[0];
const send = async (path: string, body: object) =>
  (
    await handle(
      {
        method: "POST",
        path: `/t/T0001/${path}`,
        query: new URLSearchParams(),
        headers: { host: HOST, cookie, origin: `http://${HOST}` },
        body,
        signal: new AbortController().signal,
      },
      house,
    )
  ).status;

async function main(): Promise<void> {
  const { key } = job;
  const status = await send("approve", { typed: "T0001", ...(key && { how: "key" }) });
  const now = () => deciding.underway.of("T0001");
  while (!["done", "refused"].includes(now()?.state ?? "refused")) {
    await new Promise((done) => setTimeout(done, 5));
    const challenge = now()?.request?.challenge;
    if (key && challenge !== undefined) {
      const passkey = { approver: key.approver, secret: createPrivateKey(key.secret) };
      await send("approve/sign", answer(passkey, Buffer.from(challenge, "base64url")));
    }
  }
  console.log(JSON.stringify({ status, steps, state: now()?.state }));
}

void main();
