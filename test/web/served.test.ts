import { createServer, type IncomingHttpHeaders, request } from "node:http";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Request } from "../../src/web/exchange.ts";
import { handle } from "../../src/web/handle.ts";
import { type Listening, listen } from "../../src/web/serve.ts";
import { Sessions } from "../../src/web/sessions.ts";

/** The door as whoever can open a socket meets it: real requests, written by hand, against the real server. */
let server: Listening;
let cookie: string;
const sessions = new Sessions(Date.now);
/** What came through the door. */
const entered: Request[] = [];

beforeAll(async () => {
  // Behind the door there is nobody here: an answer of 500 means that somebody came in.
  const house = { sessions, now: Date.now, project: "shop", ask: () => Promise.reject(new Error("inside")) };
  server = await listen(0, async (incoming) => {
    const response = await handle(incoming, house as never).catch(() => undefined);
    if (response) return response;
    entered.push(incoming);
    return { status: 599, headers: {}, body: "inside" };
  });
  cookie = sessions.enter(sessions.invite())?.split(";")[0] ?? "";
});
afterAll(() => server.close());

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | undefined>;
  body?: string;
}

function send({ method = "GET", path = "/", headers = {}, body }: Sent) {
  const all = { host: `pawl.localhost:${server.port}`, cookie, ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }>(
    (done, fail) => {
      const outgoing = request(
        { host: "127.0.0.1", port: server.port, method, path, headers: given as never, setHost: false },
        (incoming) => {
          let text = "";
          incoming.on("data", (chunk) => {
            text += chunk;
          });
          incoming.on("end", () => done({ status: incoming.statusCode, headers: incoming.headers, text }));
        },
      );
      // A server that has heard enough hangs up while we are still talking.
      outgoing.on("error", (error) =>
        (error as NodeJS.ErrnoException).code === "EPIPE" ? undefined : fail(error),
      );
      outgoing.end(body);
    },
  );
}

const own = () => `http://pawl.localhost:${server.port}`;
const form = (headers: Record<string, string | undefined>, body = "title=Mine"): Sent => ({
  method: "POST",
  path: "/new/task",
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  body,
});

describe("whoever has stolen nothing but the address", () => {
  test.each<[string, () => Sent, number]>([
    [
      "a name that was rebound to this machine",
      () => ({ headers: { host: `evil.example:${server.port}` } }),
      421,
    ],
    [
      "a forged name that ends like ours",
      () => ({ headers: { host: `x.pawl.localhost:${server.port}` } }),
      421,
    ],
    ["no name at all", () => ({ headers: { host: undefined } }), 400],
    ["no session", () => ({ headers: { cookie: undefined } }), 401],
    ["somebody else's session", () => ({ headers: { cookie: "pawl=AAAAAAAAAAAAAAAAAAAAAA" } }), 401],
    ["a form from a foreign page", () => form({ origin: "http://evil.example" }), 403],
    ["a form from another port of ours", () => form({ origin: "http://pawl.localhost:9" }), 403],
    ["a form from nowhere", () => form({ origin: "null" }), 403],
    ["a form that does not say where it is from", () => form({ origin: undefined }), 403],
    [
      "a fetch of a foreign page",
      () => ({ headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" } }),
      403,
    ],
    [
      "a script of another port",
      () => ({ headers: { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" } }),
      403,
    ],
    ["another method", () => ({ method: "DELETE", headers: { origin: own() } }), 405],
    ["more than a megabyte", () => form({ origin: own() }, `title=${"x".repeat(1_100_000)}`), 413],
    [
      "a link that was never given",
      () => ({
        method: "POST",
        path: "/enter",
        headers: { origin: own(), "content-type": "application/json" },
        body: '{"secret":"guess"}',
      }),
      401,
    ],
    ["a path out of the page", () => ({ path: "/../../etc/passwd" }), 404],
    ["an encoded path out of the page", () => ({ path: "/t/..%2f..%2f..%2fetc%2fpasswd/diff/x/0" }), 599],
    ["a file that is no page", () => ({ path: "/style.css/../../package.json" }), 404],
  ])("%s", async (_, what, status) => {
    const before = entered.length;
    expect((await send(what())).status).toBe(status);
    // A path that is decoded reaches the view, whose operation refuses what is no task.
    expect(entered.length - before).toBe(status === 599 ? 1 : 0);
  });

  test("a link is good once, and a stale one never", async () => {
    const knock = (secret: string) =>
      send({
        ...{ method: "POST", path: "/enter", body: JSON.stringify({ secret }) },
        headers: { origin: own(), cookie: undefined, "content-type": "application/json" },
      });
    const secret = sessions.invite();
    expect((await knock(secret)).headers["set-cookie"]?.[0]).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await knock(secret)).status).toBe(401);
  });
});

test("no answer lets another page read it, frame it or run anything in it", async () => {
  for (const path of ["/", "/enter", "/style.css", "/nothing"]) {
    const { headers } = await send({ path, headers: { cookie: undefined } });
    expect(headers["access-control-allow-origin"], path).toBeUndefined();
    expect(headers["content-security-policy"], path).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers["cross-origin-resource-policy"], path).toBe("same-origin");
    expect(headers["x-content-type-options"], path).toBe("nosniff");
  }
});

test("other machines find no server", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  for (const { address, internal, family } of addresses) {
    if (internal || family !== "IPv4") continue;
    const refused = await new Promise((done) => {
      const outgoing = request({ host: address, port: server.port, timeout: 2_000 }, () => done(false));
      outgoing.on("error", () => done(true));
      outgoing.on("timeout", () => done(true));
      outgoing.end();
    });
    expect(refused, address).toBe(true);
  }
});

const hasNewer = Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === "::1"));

describe.skipIf(!hasNewer)("both addresses of this machine", () => {
  const statusAt = (host: string, port: number) =>
    new Promise<number | undefined>((done, fail) => {
      const outgoing = request(
        { host, port, headers: { host: `pawl.localhost:${port}` }, setHost: false },
        (incoming) => done(incoming.resume().statusCode),
      );
      outgoing.on("error", fail);
      outgoing.end();
    });

  test("are answered by the same door", async () => {
    for (const host of ["127.0.0.1", "::1"]) expect(await statusAt(host, server.port), host).toBe(401);
  });

  test("a port that somebody else holds at the other address is taken", async () => {
    const stranger = createServer((_, outgoing) => outgoing.end("not pawl"));
    await new Promise<void>((done) => stranger.listen(0, "::1", done));
    const { port } = stranger.address() as { port: number };
    await expect(listen(port, () => Promise.reject(new Error("inside")))).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    // Nothing of ours is left at the address that was free.
    await expect(statusAt("127.0.0.1", port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await new Promise((done) => stranger.close(done));
  });
});
