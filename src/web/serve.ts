import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { SITE } from "./door.ts";
import { plain, type Request, type Response, SECURITY_HEADERS } from "./exchange.ts";

const LARGEST_BODY = 1_000_000;

export interface Listening {
  port: number;
  close(): Promise<void>;
}

/**
 * The only file that knows about sockets. Listens on loopback only, with no option for anything else, and on both of its
 * addresses: a browser may try either for our name, and would take another program on the second one for us.
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

/** The errors of a machine without IPv6. */
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
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  // A client that hangs up in the middle of a form gets no answer. The terminal stays quiet too: it may be asking a question.
  const body = await readBody(incoming).catch(() => undefined);
  if (!body) return;
  try {
    const request = requestOf(incoming, body.text, gone.signal);
    const response = body.tooLarge ? TOO_LARGE : request ? await answer(request) : UNREADABLE;
    await send(outgoing, response, incoming.method === "HEAD");
  } catch (error) {
    // This is our bug: the stack goes to the terminal of `pawl ui`, never to a browser.
    process.stderr.write(`pawl ui: ${error instanceof Error ? error.stack : String(error)}\n`);
    if (outgoing.headersSent) outgoing.end();
    else await send(outgoing, OUR_MISTAKE, incoming.method === "HEAD");
  }
}

/** Responses that do not come from a view. */
const own = (status: number, text: string, headers: Record<string, string> = {}): Response => {
  const { body, headers: usual } = plain(status, text);
  return { status, headers: { ...SECURITY_HEADERS, ...usual, ...headers }, body };
};
const TOO_LARGE = own(413, "This form is too large: 1 MB at most.", { Connection: "close" });
const UNREADABLE = own(400, "That is not an address of this page.");
const OUR_MISTAKE = own(500, "This is a bug in pawl; the terminal of pawl ui says more.");

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

/** Undefined for an address that cannot be read, such as `http://[`. */
function requestOf(incoming: IncomingMessage, body: string, signal: AbortSignal): Request | undefined {
  const { url: asked = "/" } = incoming;
  const address = asked.startsWith("/") ? `http://${SITE}${asked}` : asked;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
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

/** Reads forms and JSON; any other type gives undefined. A field that occurs twice becomes a list. */
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
    if (!outgoing.write(piece)) await untilRead(outgoing);
  }
  outgoing.end();
}

/** Waits for a slow reader, or until it has gone away, so that nothing piles up in memory. */
const untilRead = (outgoing: ServerResponse) =>
  new Promise<void>((resume) => {
    const stop = () => {
      outgoing.off("drain", stop).off("close", stop);
      resume();
    };
    outgoing.on("drain", stop).on("close", stop);
  });
