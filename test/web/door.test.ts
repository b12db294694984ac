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
    [
      "sends a form from localhost",
      post({ host: "localhost:24817", origin: "http://localhost:24817" }),
      { status: 403 },
    ],
    [
      "sends a form by navigation from outside",
      post({ "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }),
      { status: 403 },
    ],
    ["uses another method", ask({ method: "PUT", headers: { origin: `http://${HOST}` } }), { status: 405 }],
    [
      "types localhost",
      ask({ headers: { host: "localhost:24817" } }),
      { redirect: `http://${HOST}/t/T0001` },
    ],
    [
      "types localhost and a query",
      ask({ query: new URLSearchParams("q=a b"), headers: { host: "localhost:24817" } }),
      { redirect: `http://${HOST}/t/T0001?q=a+b` },
    ],
    [
      "types the number",
      ask({ headers: { host: "127.0.0.1:24817" } }),
      { redirect: `http://${HOST}/t/T0001` },
    ],
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
    const cookie = sessions.enter(secret);
    expect(cookie).toMatch(/^pawl=[\w-]{22}; HttpOnly; SameSite=Strict; Path=\/$/);
    expect(sessions.has(`a=b; ${cookieOf(cookie)}`)).toBe(true);
    expect(sessions.enter(secret)).toBeUndefined();
  });

  test("lapses after a minute, and others are not known", () => {
    const secret = sessions.invite();
    at.now += 60_001;
    expect(sessions.enter(secret)).toBeUndefined();
    for (const wrong of ["", undefined, null, {}, "x", secret]) expect(sessions.enter(wrong)).toBeUndefined();
    for (const cookie of [undefined, "", "pawl=", "pawl=x", "other=1"])
      expect(sessions.has(cookie)).toBe(false);
  });
});
