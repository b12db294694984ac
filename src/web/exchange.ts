import type { Html } from "./html.ts";

/** One request, with everything that decides about it and nothing of the socket it came by. */
export interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** The fields of a form or of a JSON object; empty for reads. */
  body: unknown;
  /** Aborted when whoever asked has gone away. */
  signal: AbortSignal;
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  /** Pieces are sent as they come; a stream that ends when the reader goes away, such as events. */
  body: string | Uint8Array | AsyncIterable<string>;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  // With "no-referrer" a browser sends the page's own forms as coming from nowhere, and the door refuses those.
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

/** Sends the browser elsewhere after a form: a reload then repeats the look and not the deed. */
export const seeOther = (path: string): Response => ({ status: 303, headers: { Location: path }, body: "" });

export function plain(status: number, text: string): Response {
  return {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
    body: `${text}\n`,
  };
}
