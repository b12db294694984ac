import type { Ask } from "../ask.ts";
import type { Deciding } from "../deciding.ts";
import type { Request, Response } from "../exchange.ts";
import type { Live } from "../live.ts";
import type { Notices } from "../notices.ts";

/** What a view works with. */
export interface Look {
  ask: Ask;
  request: Request;
  /** The parts of the path that the route names, such as the task. */
  parts: Readonly<Record<string, string>>;
  now: number;
  project: string;
  deciding: Deciding;
  live: Live;
  notices: Notices;
}

export type View = (look: Look) => Promise<Response>;
