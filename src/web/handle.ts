import { Failure } from "../model/failure.ts";
import type { Ask } from "./ask.ts";
import diffScript from "./assets/diff.js";
import liveScript from "./assets/live.js";
import pageScript from "./assets/page.js";
import reviewScript from "./assets/review.js";
import signScript from "./assets/sign.js";
import style from "./assets/style.css";
import themeScript from "./assets/theme.js";
import type { Deciding } from "./deciding.ts";
import { atTheDoor } from "./door.ts";
import { page, plain, type Request, type Response, SECURITY_HEADERS, seeOther } from "./exchange.ts";
import { html } from "./html.ts";
import { layout } from "./layout.ts";
import type { Live } from "./live.ts";
import type { Notices } from "./notices.ts";
import { matchRoute } from "./routes.ts";
import type { Sessions } from "./sessions.ts";
import { problem } from "./views/problem.ts";

export interface House {
  ask: Ask;
  sessions: Sessions;
  now(): number;
  project: string;
  deciding: Deciding;
  live: Live;
  notices: Notices;
}

/** Turns one request into one response. Everything external comes in through `house`, so tests need no socket. */
export async function handle(request: Request, house: House): Promise<Response> {
  const response = await answer(request, house);
  return { ...response, headers: { ...SECURITY_HEADERS, ...response.headers } };
}

async function answer(request: Request, house: House): Promise<Response> {
  const entry = atTheDoor(request, house.sessions.has(request.headers.cookie, request.headers.host));
  if ("redirect" in entry) return { status: 307, headers: { Location: entry.redirect }, body: "" };
  if (!entry.enter)
    return entry.status === 401 && request.method === "GET"
      ? knock(entry.status)
      : plain(entry.status, entry.why);
  const served = ASSETS.get(request.path);
  if (served) return served;
  if (request.path === "/enter") return enter(request, house);
  const found = matchRoute(request.method === "HEAD" ? "GET" : request.method, request.path);
  const { ask, project, deciding, live, notices } = house;
  const now = house.now();
  try {
    if (!found)
      throw new Failure("not_found", "no_page", `There is no page ${request.path}.`, { hint: NO_PAGE });
    const view = await found.view();
    return await view({ ask, project, deciding, live, notices, request, parts: found.parts, now });
  } catch (error) {
    return problem(error);
  }
}

const NO_PAGE = "The links above lead to every page. A task is at /t/T0001, with the task's own id.";

const asset = (text: string, type: string): Response => ({
  status: 200,
  headers: { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-cache" },
  body: text,
});

const ASSETS: ReadonlyMap<string, Response> = new Map([
  ["/style.css", asset(style, "text/css")],
  ["/page.js", asset(pageScript, "text/javascript")],
  ["/diff.js", asset(diffScript, "text/javascript")],
  ["/review.js", asset(reviewScript, "text/javascript")],
  ["/sign.js", asset(signScript, "text/javascript")],
  ["/live.js", asset(liveScript, "text/javascript")],
  ["/theme.js", asset(themeScript, "text/javascript")],
]);

/** The page behind the link. Its script posts the secret from behind the `#`. */
function knock(status: number): Response {
  const main = html`<div class="title"><h1>Open the link from your terminal</h1></div><p id="knock">Run <code>pawl ui</code> in your project and open the link it prints. Each link works once, within a minute.</p><noscript><p>Opening the link needs JavaScript, once. Reading and every form work without it.</p></noscript>`;
  return page(
    layout({
      title: "Open the link from your terminal",
      command: "pawl ui",
      main,
      kind: "narrow",
      outside: true,
    }),
    status,
  );
}

function enter(request: Request, { sessions }: House): Response {
  if (request.method !== "POST") return knock(200);
  const { secret } = (request.body ?? {}) as { secret?: unknown };
  const cookie = sessions.enter(secret, request.headers.host);
  if (cookie === undefined)
    return plain(
      401,
      "This link was used already or is older than a minute. Press Enter on the terminal of `pawl ui` for a new one.",
    );
  return { ...seeOther("/"), headers: { "Set-Cookie": cookie, Location: "/" } };
}
