import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { type Actor, recogniseAgent } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { operations } from "../ops/index.ts";
import { openRuntime, type Surroundings } from "../runtime/open.ts";
import { openAsk } from "./ask.ts";
import { openDeciding } from "./deciding.ts";
import { SITE } from "./door.ts";
import { type House, handle } from "./handle.ts";
import { openLive } from "./live.ts";
import { Notices } from "./notices.ts";
import { type Listening, listen } from "./serve.ts";
import { Sessions } from "./sessions.ts";
import { lineReader, openTerminal } from "./terminal.ts";

export interface UiStart {
  cwd: string;
  env: Environment;
  /** The agent that one of the processes above this one belongs to. */
  agentAbove(): Actor | undefined;
  port: number | undefined;
  open: boolean;
  say(line: string): void;
  write(text: string): void;
  isTerminal: boolean;
}

const FIRST_PORT = 20_000;
const PORTS = 10_000;
const TRIES = 20;

/** Serves the page until the terminal ends it. */
export async function runUi(start: UiStart): Promise<void> {
  refuseOthers(start);
  const { cwd, env, say, write } = start;
  const sessions = new Sessions(Date.now);
  let address = "";
  const link = () => `http://${address}/enter#${sessions.invite()}`;
  const terminal = openTerminal({
    isTerminal: start.isTerminal,
    write,
    onLine: (hear) => process.stdin.on("data", lineReaderOf(hear)),
    onEnter: () => say(`  ${link()}`),
  });
  const around: Surroundings = {
    ...{ cwd, env, operations: Object.keys(operations), oneShot: false },
    progress: () => {},
    ask: terminal.ask,
    attended: () => true,
  };
  const runtime = openRuntime(around);
  const { repo } = await runtime.situation("read");
  const house: House = {
    ...{ ask: openAsk(around), sessions, now: Date.now, project: repo ?? "pawl" },
    deciding: openDeciding(around, terminal, write),
    live: openLive(around),
    notices: new Notices(),
  };
  const listening = await listenSomewhere(start.port, runtime.home.state, (request) =>
    handle(request, house),
  );
  address = `${SITE}:${listening.port}`;
  const first = link();
  say(
    `The page stays open as long as this runs; Ctrl-C ends it.\n\n  ${first}\n\nThe link lets one browser in, within a minute. Press Enter for a new one.`,
  );
  if (start.open) openBrowser(first, env);
  await untilEnded();
  await listening.close();
  // Nobody listens to the keyboard any more; else the process would wait for it.
  process.stdin.pause();
}

const lineReaderOf = (hear: (line: string) => void) => {
  const read = lineReader(hear);
  return (chunk: Buffer) => read(chunk.toString("utf8"));
};

function refuseOthers({ env, agentAbove, isTerminal }: UiStart): void {
  const agent = recogniseAgent(env) ?? agentAbove();
  if (agent)
    throw new Failure("refused", "human_only", `The page is for humans, and this is ${agent.name}.`, {
      hint: "Use the commands; whoever is at the keyboard runs `pawl ui` in a terminal of their own.",
    });
  if (isTerminal) return;
  throw new Failure(
    "refused",
    "no_terminal",
    "The page needs a terminal: it asks there before anything is merged.",
    { hint: "Run `pawl ui` in a terminal." },
  );
}

/** Always the same port for a project, so that bookmarks and passkeys stay; the next free one when it is taken. */
async function listenSomewhere(
  wanted: number | undefined,
  state: string,
  answer: Parameters<typeof listen>[1],
): Promise<Listening> {
  const usual = FIRST_PORT + (createHash("sha256").update(state).digest().readUInt32BE() % PORTS);
  for (let at = 0; ; at++)
    try {
      return await listen(wanted ?? usual + at, answer);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      if (wanted === undefined && at < TRIES) continue;
      throw new Failure("conflict", "port_taken", `Port ${wanted ?? usual + at} is taken.`, {
        hint: "Name another one: pawl ui --port 24800",
      });
    }
}

function openBrowser(link: string, env: Environment): void {
  const [program, args] =
    process.platform === "darwin"
      ? ["open", [link]]
      : process.platform === "win32"
        ? ["explorer", [link]]
        : ["xdg-open", [link]];
  const child = spawn(program as string, args as string[], {
    env: { ...env },
    stdio: "ignore",
    detached: true,
  });
  // Without a browser the link is there to be copied.
  child.on("error", () => {});
  child.unref();
}

function untilEnded(): Promise<void> {
  return new Promise((ended) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ended());
    process.stdin.on("end", () => ended());
  });
}
