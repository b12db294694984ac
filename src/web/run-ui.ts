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
    cwd,
    env,
    operations: Object.keys(operations),
    oneShot: false,
    progress: () => {},
    ask: terminal.ask,
    attended: () => true,
  };
  const runtime = openRuntime(around);
  const { repo } = await runtime.situation("read");
  const house: House = {
    ask: openAsk(around),
    sessions,
    now: Date.now,
    project: repo ?? "pawl",
    deciding: openDeciding(around, terminal, write),
    live: openLive(around),
    notices: new Notices(),
  };
  const usual = start.port ?? usualPort(runtime.home.state);
  const listening = await listenSomewhere(usual, start.port === undefined, (request) =>
    handle(request, house),
  );
  address = `${SITE}:${listening.port}`;
  const first = link();
  if (listening.port !== usual)
    say(
      `Port ${usual}, this project's usual one, is taken, perhaps by another \`pawl ui\`: bookmarks lead there, not here.\n`,
    );
  say(
    `The page stays open as long as this runs; Ctrl-C ends it.\n\n  ${first}\n\nThe link lets one browser in, within a minute. Press Enter for a new one.\nIf your browser cannot find ${SITE}, put localhost in its place.`,
  );
  // Loaded now: nobody waits for the page any more.
  if (start.open) (await import("./open-browser.ts")).openBrowser(first, env);
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
      hint: "Use the commands. The person you work for can run `pawl ui` in their own terminal.",
    });
  if (isTerminal) return;
  throw new Failure(
    "refused",
    "no_terminal",
    "The page needs a terminal: it asks there before anything is merged.",
    { hint: "Run `pawl ui` in a terminal." },
  );
}

/** Always the same for a project, so that bookmarks and open tabs find it again; none of them is one that browsers block. */
const usualPort = (state: string) =>
  FIRST_PORT + (createHash("sha256").update(state).digest().readUInt32BE() % PORTS);

/** At this port, or at the next free one where any will do. */
async function listenSomewhere(
  port: number,
  anyWillDo: boolean,
  answer: Parameters<typeof listen>[1],
): Promise<Listening> {
  for (let at = 0; ; at++)
    try {
      return await listen(port + at, answer);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      if (anyWillDo && at < TRIES) continue;
      throw new Failure("conflict", "port_taken", `Port ${port + at} is taken.`, {
        hint: "Name another one: pawl ui --port 24800",
      });
    }
}

function untilEnded(): Promise<void> {
  return new Promise((ended) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ended());
    process.stdin.on("end", () => ended());
  });
}
