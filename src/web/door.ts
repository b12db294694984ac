import type { Request } from "./exchange.ts";

/** The name that the page is served under. It has its own cookies and passkeys, unlike plain `localhost`. */
export const SITE = "pawl.localhost";

/**
 * For browsers that cannot resolve that name. A session that begins here stays here; everybody else is redirected to the
 * name above, because every other server on localhost is sent the cookies of this one. Passkeys do not work here.
 */
const FALLBACK = "localhost";

const NUMBER = "127.0.0.1";

/** The name and the port of a `Host` header. */
const partsOf = (host = ""): [name: string, port: string] => {
  const [, name = "", port = ""] = /^([a-z0-9.-]+)(:\d+)?$/i.exec(host) ?? [];
  return [name, port];
};

/** The address at which passkeys work; undefined if the browser is already there. */
export function passkeysAt(host: string | undefined): string | undefined {
  const [name, port] = partsOf(host);
  return name === SITE ? undefined : `http://${SITE}${port}/`;
}

export type Entry = { enter: true } | { enter: false; status: number; why: string } | { redirect: string };

/**
 * Judges a request before anything else looks at it. A browser says where a request comes from, and no page can make it
 * lie. A program can lie; the session stops that one.
 */
export function atTheDoor(request: Request, hasSession: boolean): Entry {
  const { headers, method } = request;
  const [name, port] = partsOf(headers.host);
  const reads = method === "GET" || method === "HEAD";
  if (![SITE, FALLBACK, NUMBER].includes(name))
    return no(421, "This page is not served under that name. Open the address that pawl ui printed.");
  const navigates = reads && headers["sec-fetch-mode"] === "navigate";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(navigates && site === "none"))
    return no(403, "Another page asked for this. Open the address that pawl ui printed.");
  const mayEnter = hasSession || isOpen(request);
  if (name !== SITE && !(name === FALLBACK && mayEnter))
    return reads
      ? {
          redirect: `http://${SITE}${port}${request.path}${request.query.size > 0 ? `?${request.query}` : ""}`,
        }
      : no(403, `Use http://${SITE}${port}/.`);
  if (!reads && method !== "POST") return no(405, "Only GET and POST are understood here.");
  // A missing Origin is refused too: every browser sends one with a POST.
  if (!reads && headers.origin !== `http://${name}${port}`)
    return no(403, "This form was not sent from this page.");
  return mayEnter
    ? { enter: true }
    : no(
        401,
        "This browser has not been let in. Press Enter on the terminal of `pawl ui` and open the link it prints.",
      );
}

/** What a browser may load before it has a session: the page that lets it in, with its style and script. */
const isOpen = ({ method, path }: Request) =>
  method === "POST" ? path === "/enter" : ["/enter", "/style.css", "/theme.js", "/page.js"].includes(path);

const no = (status: number, why: string): Entry => ({ enter: false, status, why });
