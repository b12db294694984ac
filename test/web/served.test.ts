import { createServer, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
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
  cookie = sessions.enter(sessions.invite(), `pawl.localhost:${server.port}`)?.split(";")[0] ?? "";
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
    [
      "somebody else's session",
      () => ({ headers: { cookie: `pawl-${server.port}=AAAAAAAAAAAAAAAAAAAAAA` } }),
      401,
    ],
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
    ["an address with two slashes", () => ({ path: "//evil.example/x" }), 404],
    ["an address that is none", () => ({ path: "http://[" }), 400],
    [
      "a secret that is no text",
      () => ({
        method: "POST",
        path: "/enter",
        headers: { origin: own(), "content-type": "application/json" },
        body: `{"secret":{"toString":${sessions.invite().length}}}`,
      }),
      401,
    ],
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

test.each([
  ["a form", "application/x-www-form-urlencoded", { title: "Mine" }],
  ["plain text that looks like a form", "text/plain", undefined],
  ["a form in parts", "multipart/form-data; boundary=x", undefined],
  ["what says it is JSON and is not", "application/json", undefined],
])("of what is sent, %s is read or is nothing", async (_, type, body) => {
  await send(form({ origin: own(), "content-type": type }));
  expect(entered.at(-1)?.body).toEqual(body);
});

test("no answer lets another page read it, frame it or run anything in it", async () => {
  const asked: [string, Sent][] = ["/", "/enter", "/style.css", "/nothing", "http://["].map((path) => [
    path,
    { path, headers: { cookie: undefined } },
  ]);
  asked.push(["too large", form({ origin: own() }, `title=${"x".repeat(1_100_000)}`)]);
  for (const [path, what] of asked) {
    const { headers } = await send(what);
    expect(headers["access-control-allow-origin"], path).toBeUndefined();
    expect(headers, path).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
      // Nothing goes to other sites; with "no-referrer" browsers would send our own forms with the origin "null".
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
    });
  }
});

describe("whoever hangs up", () => {
  const hangUp = (sent: Sent, after: number) =>
    new Promise<void>((done) => {
      const headers = { host: `pawl.localhost:${server.port}`, cookie, ...sent.headers };
      const { method = "GET", path = "/" } = sent;
      const outgoing = request({
        host: "127.0.0.1",
        port: server.port,
        method,
        path,
        headers: headers as never,
      });
      outgoing.on("error", () => done());
      outgoing.on("close", () => done());
      outgoing.flushHeaders();
      if (sent.body !== undefined) outgoing.write(sent.body);
      setTimeout(() => outgoing.destroy(), after);
    });

  test("in the middle of a form leaves no trace on the terminal, where a question may stand", async () => {
    const said: unknown[] = [];
    const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(text) > 0);
    try {
      await hangUp(form({ origin: own(), "content-length": "100" }, "title=Half"), 50);
      await new Promise((done) => setTimeout(done, 100));
    } finally {
      spy.mockRestore();
    }
    expect(said).toEqual([]);
  });

  test("or stops reading is waited for: nothing piles up, and the stream ends with them", async () => {
    let [made, ended] = [0, false];
    const slow = await listen(0, async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        try {
          for (; made < 5_000; made++) yield "x".repeat(100_000);
        } finally {
          ended = true;
        }
      })(),
    }));
    const reader = connect(slow.port, "127.0.0.1");
    reader.pause();
    reader.write(`GET / HTTP/1.1\r\nHost: pawl.localhost:${slow.port}\r\n\r\n`);
    await new Promise((done) => setTimeout(done, 500));
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(500);
    expect(ended).toBe(false);
    reader.destroy();
    await expect.poll(() => ended).toBe(true);
    await slow.close();
  });
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
