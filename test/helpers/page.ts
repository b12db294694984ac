import { openAsk } from "../../src/web/ask.ts";
import { openDeciding } from "../../src/web/deciding.ts";
import type { Request, Response } from "../../src/web/exchange.ts";
import { type House, handle } from "../../src/web/handle.ts";
import { openLive } from "../../src/web/live.ts";
import { Notices } from "../../src/web/notices.ts";
import { Sessions } from "../../src/web/sessions.ts";
import { openTerminal } from "../../src/web/terminal.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

export const HOST = "pawl.localhost:24817";

/** Everything behind the page of a project, without a socket and with nobody at the terminal. */
export function openHouse(project: TemporaryRepository, more: Partial<House> = {}): House {
  const terminal = openTerminal({
    isTerminal: false,
    write: () => {},
    onLine: () => {},
    onEnter: () => {},
  });
  const around = {
    ...{ cwd: project.path, env: project.env, operations: [], oneShot: false, progress: () => {} },
    // `pawl ui` was begun on a terminal.
    attended: () => true,
  };
  return {
    ask: openAsk(around),
    sessions: new Sessions(() => 0),
    now: () => 0,
    project: "shop",
    deciding: openDeciding(around, terminal, () => {}),
    live: openLive(around),
    notices: new Notices(),
    ...more,
  };
}

/** The page of a project as a browser that was let in sees it. */
export function visit(house: House) {
  const cookie = house.sessions.enter(house.sessions.invite(), HOST)?.split(";")[0];
  return (path: string, changes: Partial<Request> = {}): Promise<Response> => {
    const url = new URL(path, `http://${HOST}`);
    return handle(
      {
        method: "GET",
        path: url.pathname,
        query: url.searchParams,
        headers: { host: HOST, cookie, origin: `http://${HOST}` },
        body: undefined,
        signal: new AbortController().signal,
        ...changes,
      },
      house,
    );
  };
}
