import type { ServerContext } from "@modelcontextprotocol/server";
import { shorten } from "../model/ids.ts";
import { printable } from "../model/printable.ts";

/** Often enough that a client does not give up on a check that runs for minutes. */
const EVERY_MS = 2_000;

interface Progress {
  progress(chunk: Buffer): void;
  stop(): void;
}

/** Tells a client that asked for it how long the call has run, and the last line of what it said. */
export function beginProgress({ mcpReq }: ServerContext): Progress {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return { progress() {}, stop() {} };
  const started = Date.now();
  let message = "";
  const timer = setInterval(() => {
    const progress = Math.round((Date.now() - started) / 1_000);
    const params = { progressToken: token, progress, ...(message ? { message } : {}) };
    // A client that is gone is noticed elsewhere.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, EVERY_MS);
  return {
    progress(chunk) {
      const last = chunk.toString("utf8").trimEnd().split("\n").at(-1);
      if (last) message = shorten(printable(last), 200);
    },
    stop: () => clearInterval(timer),
  };
}
