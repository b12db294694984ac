import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Request, Response } from "./exchange.ts";

const LARGEST_BODY = 1_000_000;

export interface Listening {
  port: number;
  close(): Promise<void>;
}

/**
 * The only file that knows sockets. Loopback alone: there is no option for anything else. Both of its addresses, because a
 * browser may try either for our name, and whoever held the other one would be taken for us.
 */
export async function listen(
  port: number,
  answer: (request: Request) => Promise<Response>,
): Promise<Listening> {
  const open = () => createServer((incoming, outgoing) => void exchange(incoming, outgoing, answer));
  const first = await bound(open(), port, "127.0.0.1");
  const address = first.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port");
  const servers = [first];
  try {
    servers.push(await bound(open(), address.port, "::1"));
  } catch (error) {
    if (!NO_SUCH_ADDRESS.includes(String((error as NodeJS.ErrnoException).code))) {
      await close(first);
      throw error;
    }
  }
  return {
    port: address.port,
    async close() {
      await Promise.all(servers.map(close));
    },
  };
}

/** What a machine without the newer protocol answers. */
const NO_SUCH_ADDRESS = ["EADDRNOTAVAIL", "EAFNOSUPPORT"];

function bound(server: Server, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  try {
    const body = await readBody(incoming);
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const request = requestOf(incoming, body.text, gone.signal);
    const response = body.tooLarge ? TOO_LARGE : await answer(request);
    await send(outgoing, response, incoming.method === "HEAD");
  } catch (error) {
    // Ours is the mistake; what it was goes to the terminal of `pawl ui`, never to a browser.
    process.stderr.write(`pawl ui: ${error instanceof Error ? error.stack : String(error)}\n`);
    if (!outgoing.headersSent) outgoing.writeHead(500, { "Content-Type": "text/plain" });
    outgoing.end("This is a bug in pawl; the terminal of pawl ui says more.\n");
  }
}

const TOO_LARGE: Response = {
  status: 413,
  headers: { Connection: "close" },
  body: "This is more than a form may be (1 MB).\n",
};

async function readBody(incoming: IncomingMessage): Promise<{ tooLarge: boolean; text: string }> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > LARGEST_BODY) return { tooLarge: true, text: "" };
    pieces.push(piece);
  }
  return { tooLarge: false, text: Buffer.concat(pieces).toString("utf8") };
}

function requestOf(incoming: IncomingMessage, body: string, signal: AbortSignal): Request {
  const url = new URL(incoming.url ?? "/", "http://pawl.localhost");
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]),
  );
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: parseBody(headers["content-type"] ?? "", body),
    signal,
  };
}

/** Forms and JSON; anything else is nothing. A field that comes twice is a list. */
function parseBody(type: string, body: string): unknown {
  if (type.startsWith("application/json")) {
    try {
      return JSON.parse(body);
    } catch {
      return undefined;
    }
  }
  if (!type.startsWith("application/x-www-form-urlencoded")) return undefined;
  const form = new URLSearchParams(body);
  return Object.fromEntries([...new Set(form.keys())].map((name) => [name, one(form.getAll(name))]));
}

const one = (values: string[]) => (values.length === 1 ? values[0] : values);

async function send(
  outgoing: ServerResponse,
  { status, headers, body }: Response,
  headOnly: boolean,
): Promise<void> {
  outgoing.writeHead(status, headers);
  if (headOnly || typeof body === "string" || body instanceof Uint8Array) {
    outgoing.end(headOnly ? undefined : body);
    return;
  }
  for await (const piece of body) {
    if (outgoing.destroyed) return;
    outgoing.write(piece);
  }
  outgoing.end();
}
