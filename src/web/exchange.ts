import type { Html } from "./html.ts";

/** One request, without the socket that it came through. */
export interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** The fields of a form or of a JSON object; empty for reads. */
  body: unknown;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  /** A stream, such as events, is sent piece by piece and ends when its reader disconnects. */
  body: string | Uint8Array | AsyncIterable<string>;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  // With "no-referrer" a browser sends `Origin: null` with the page's own forms, which the door refuses.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
};

export function page(content: Html, status = 200): Response {
  return {
    status,
    headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" },
    body: content.text,
  };
}

/** Redirects after a form, so that a reload repeats the page and not the action. */
export const seeOther = (path: string): Response => ({ status: 303, headers: { Location: path }, body: "" });

export function plain(status: number, text: string): Response {
  return {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
    body: `${text}\n`,
  };
}
