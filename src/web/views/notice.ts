import { type Html, html } from "../html.ts";
import type { Look } from "./view.ts";

/** What the last form did, in the words of its command. */
export function noticeOf({ notices, request }: Pick<Look, "notices" | "request">): Html | undefined {
  const found = notices.take(request.query.get("done"));
  if (!found) return undefined;
  const { text, warnings, next } = found;
  return html`<section class="notice" role="status"><h2>Done</h2><pre>${text}</pre>${warnings.map((one) => html`<p class="warning">${one}</p>`)}${next && html`<p class="dim">Next: <code>${next.command}</code> ${next.reason}</p>`}</section>`;
}
