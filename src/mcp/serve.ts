import { setFlagsFromString } from "node:v8";
import { INVALID_REQUEST, PARSE_ERROR } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { noteConnection } from "../runtime/caller.ts";
import { connection, type Offer } from "./connection.ts";
import { Lines } from "./lines.ts";

/** How often it is asked whether the client is still there, for the case that somebody else keeps its pipe open. */
const ASK_MS = 2_000;
/** What a call may still take to end in order once nobody waits for it. */
const LAST_MS = 10_000;
const STOPS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Almost everything that a call makes is garbage when it ends. By itself V8 would keep 32 MB for young objects, and let
 * the old ones pile up to 45 MB before it looks, of which 10 are in use. Both are asked for whenever it would grow.
 */
const STAY_SMALL = ["--semi-space-growth-factor=1", "--heap-growing-percent=40"];

/** Serves until the client goes away. Standard output carries the protocol and nothing else. */
export async function serve(offer: Offer): Promise<void> {
  for (const flag of STAY_SMALL) setFlagsFromString(flag);
  noteConnection(offer.env);
  const lines = new Lines(refuseLine);
  const wire = new StdioServerTransport(process.stdin.pipe(lines), process.stdout);
  const handle = serveStdio(({ era }) => connection(offer, era), {
    transport: wire,
    onerror: (error) => process.stderr.write(`pawl mcp: ${error.message}\n`),
  });
  const stop = () => void handle.close();
  for (const signal of STOPS) process.on(signal, stop);
  // From the first message on: whatever launched us on the client's behalf may have ended before it.
  let parent: number | undefined;
  process.stdin.once("data", () => {
    parent = process.ppid;
  });
  const watch = setInterval(() => parent !== undefined && process.ppid !== parent && stop(), ASK_MS).unref();
  await new Promise<void>((ended) => {
    const close = wire.onclose;
    wire.onclose = () => {
      close?.();
      ended();
    };
  });
  clearInterval(watch);
  process.stdin.destroy();
  // Calls that are running end in order, and what they began to write is written; only a stuck one is cut off.
  setTimeout(() => process.exit(), LAST_MS).unref();
}

/** The id of a message that cannot be read is not known. */
function refuseLine(why: string, id?: string | number): void {
  const error = { code: id === undefined ? PARSE_ERROR : INVALID_REQUEST, message: `Not accepted: ${why}` };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error })}\n`);
}
