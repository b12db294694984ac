import type { Request } from "./exchange.ts";

/** The name under which the page is served: cookies and passkeys of other pages on this machine do not reach it. */
export const SITE = "pawl.localhost";

/** Names of this machine that lead to the page by a redirect. */
const ALSO = ["localhost", "127.0.0.1"];

export type Entry = { enter: true } | { enter: false; status: number; why: string } | { redirect: string };

/**
 * Decides about a request before anything else looks at it. A browser tells where a request comes from and cannot be
 * made to lie about it by a page; a program can, and is stopped by the session.
 */
export function atTheDoor(request: Request, hasSession: boolean): Entry {
  const { headers, method } = request;
  const [, name = "", port = ""] = /^([a-z0-9.-]+)(:\d+)?$/i.exec(headers.host ?? "") ?? [];
  const reads = method === "GET" || method === "HEAD";
  if (name !== SITE && !ALSO.includes(name))
    return no(421, "This page is not served under that name. Open the address that pawl ui printed.");
  const navigates = reads && headers["sec-fetch-mode"] === "navigate";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && !(navigates && site === "none"))
    return no(403, "Another page asked for this. Open the address that pawl ui printed.");
  if (name !== SITE)
    return reads
      ? {
          redirect: `http://${SITE}${port}${request.path}${request.query.size > 0 ? `?${request.query}` : ""}`,
        }
      : no(403, `Use http://${SITE}${port}/.`);
  if (!reads && method !== "POST") return no(405, "Only GET and POST are understood here.");
  // Absent is refused as well: every browser says it for a POST, and only others leave it out.
  if (!reads && headers.origin !== `http://${SITE}${port}`)
    return no(403, "This form was not sent from this page.");
  return hasSession || isOpen(request)
    ? { enter: true }
    : no(
        401,
        "This browser has not been let in. Press Enter on the terminal of `pawl ui` and open the link it prints.",
      );
}

/** What a browser needs before it has a session: the door itself, its style and its script. */
const isOpen = ({ method, path }: Request) =>
  method === "POST" ? path === "/enter" : ["/enter", "/style.css", "/theme.js", "/page.js"].includes(path);

const no = (status: number, why: string): Entry => ({ enter: false, status, why });
