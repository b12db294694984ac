import { describe, expect, test } from "vitest";
import { atTheDoor } from "../../src/web/door.ts";
import type { Request } from "../../src/web/exchange.ts";
import { Sessions } from "../../src/web/sessions.ts";

const HOST = "pawl.localhost:24817";
const ask = (changes: Partial<Request> & { headers?: Record<string, string | undefined> }): Request => ({
  method: "GET",
  path: "/t/T0001",
  query: new URLSearchParams(),
  signal: new AbortController().signal,
  body: undefined,
  ...changes,
  headers: { host: HOST, ...changes.headers },
});
const post = (headers: Record<string, string | undefined> = {}) =>
  ask({ method: "POST", headers: { origin: `http://${HOST}`, "sec-fetch-site": "same-origin", ...headers } });

const at = (host: string, headers: Record<string, string> = {}) => ask({ headers: { host, ...headers } });
const from = (host: string) => ({ host, origin: `http://${host}` });

describe("whoever has a session", () => {
  const rows: [string, Request, unknown][] = [
    ["reads", ask({}), { enter: true }],
    [
      "types the address",
      ask({ headers: { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" } }),
      { enter: true },
    ],
    ["sends a form", post(), { enter: true }],
    ["comes by a name that was rebound", ask({ headers: { host: "evil.example:24817" } }), { status: 421 }],
    [
      "comes by a name that ends like ours",
      ask({ headers: { host: "xpawl.localhost:24817" } }),
      { status: 421 },
    ],
    ["comes without a name", ask({ headers: { host: undefined } }), { status: 421 }],
    ["comes by two names", ask({ headers: { host: `${HOST}, evil.example` } }), { status: 421 }],
    [
      "follows a link of another site",
      ask({ headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" } }),
      { status: 403 },
    ],
    ["is a script of another port", ask({ headers: { "sec-fetch-site": "same-site" } }), { status: 403 }],
    [
      "is a picture of another site",
      ask({ headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } }),
      { status: 403 },
    ],
    ["sends a form from another site", post({ origin: "http://evil.example" }), { status: 403 }],
    ["sends a form from another port", post({ origin: "http://pawl.localhost:9" }), { status: 403 }],
    ["sends a form from nowhere", post({ origin: "null" }), { status: 403 }],
    ["sends a form without an origin", post({ origin: undefined }), { status: 403 }],
    ["reads at localhost, where it entered", at("localhost:24817"), { enter: true }],
    ["sends a form at localhost", post(from("localhost:24817")), { enter: true }],
    [
      "sends a form to localhost from our own name",
      post({ host: "localhost:24817", origin: `http://${HOST}` }),
      { status: 403 },
    ],
    [
      "sends a form to our own name from localhost",
      post({ host: HOST, origin: "http://localhost:24817" }),
      { status: 403 },
    ],
    [
      "sends a form to localhost from another port of it",
      post({ host: "localhost:24817", origin: "http://localhost:3000" }),
      { status: 403 },
    ],
    [
      "follows a link to localhost from another port of it",
      at("localhost:24817", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" }),
      { status: 403 },
    ],
    ["sends a form to the number", post(from("127.0.0.1:24817")), { status: 403 }],
    [
      "sends a form by navigation from outside",
      post({ "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }),
      { status: 403 },
    ],
    ["uses another method", ask({ method: "PUT", headers: { origin: `http://${HOST}` } }), { status: 405 }],
    ["types the number", at("127.0.0.1:24817"), { redirect: `http://${HOST}/t/T0001` }],
  ];
  test.each(rows)("%s", (_, request, expected) => {
    expect(atTheDoor(request, true)).toMatchObject(expected as object);
  });
});

describe("whoever has none", () => {
  test.each(["/", "/t/T0001", "/events", "/t/T0001/diff", "/enter/../", "/style.css/x"])(
    "does not see %s",
    (path) => {
      expect(atTheDoor(ask({ path }), false)).toMatchObject({ status: 401 });
    },
  );

  test.each(["/enter", "/style.css", "/theme.js", "/page.js"])("sees %s", (path) => {
    expect(atTheDoor(ask({ path }), false)).toEqual({ enter: true });
  });

  test.each(["localhost:24817", "127.0.0.1:24817"])("is sent on from %s", (host) => {
    expect(atTheDoor(at(host), false)).toEqual({ redirect: `http://${HOST}/t/T0001` });
    const asked = { ...at(host), query: new URLSearchParams("q=a b") };
    expect(atTheDoor(asked, false)).toEqual({ redirect: `http://${HOST}/t/T0001?q=a+b` });
    expect(atTheDoor(post(from(host)), false)).toMatchObject({ status: 403 });
  });

  test("may enter at localhost, where a browser cannot find our own name, and not by the number", () => {
    for (const path of ["/enter", "/style.css", "/theme.js", "/page.js"]) {
      expect(atTheDoor({ ...at("localhost:24817"), path }, false)).toEqual({ enter: true });
      expect(atTheDoor({ ...at("127.0.0.1:24817"), path }, false)).toHaveProperty("redirect");
    }
    expect(atTheDoor({ ...post(from("localhost:24817")), path: "/enter" }, false)).toEqual({ enter: true });
  });

  test("may knock, and send no other form", () => {
    expect(atTheDoor({ ...post(), path: "/enter" }, false)).toEqual({ enter: true });
    expect(atTheDoor({ ...post(), path: "/t/T0001/approve" }, false)).toMatchObject({ status: 401 });
  });
});

describe("a link", () => {
  const at = { now: 0 };
  const sessions = new Sessions(() => at.now);
  const cookieOf = (header: string | undefined) => header?.split(";")[0];

  test("lets one browser in, once", () => {
    const secret = sessions.invite();
    const cookie = sessions.enter(secret, HOST);
    expect(cookie).toMatch(/^pawl-24817=[\w-]{22}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(sessions.has(`a=b; ${cookieOf(cookie)}`, HOST)).toBe(true);
    expect(sessions.enter(secret, HOST)).toBeUndefined();
  });

  test("lets a browser into the pages of two projects, which share a name and not a port", () => {
    const other = new Sessions(() => at.now);
    const [here, there] = [HOST, "pawl.localhost:25000"];
    const cookies = [sessions.enter(sessions.invite(), here), other.enter(other.invite(), there)];
    const jar = new Map(cookies.map((one) => cookieOf(one)?.split("=") as [string, string]));
    const sent = [...jar].map((one) => one.join("=")).join("; ");
    expect([sessions.has(sent, here), other.has(sent, there)]).toEqual([true, true]);
    expect([sessions.has(sent, there), other.has(sent, here)]).toEqual([false, false]);
  });

  test("lets a browser in at the address where it was opened, and at no other", () => {
    for (const [here, there] of [
      [HOST, "localhost:24817"],
      ["localhost:24817", HOST],
    ]) {
      const cookie = cookieOf(sessions.enter(sessions.invite(), here));
      expect([sessions.has(cookie, here), sessions.has(cookie, there)]).toEqual([true, false]);
    }
  });

  test("lapses after a minute, and others are not known", () => {
    const secret = sessions.invite();
    at.now += 60_001;
    expect(sessions.enter(secret, HOST)).toBeUndefined();
    for (const wrong of ["", undefined, null, {}, "x", secret])
      expect(sessions.enter(wrong, HOST)).toBeUndefined();
    for (const cookie of [undefined, "", "pawl-24817=", "pawl-24817=x", "other=1"])
      expect(sessions.has(cookie, HOST)).toBe(false);
  });
});
