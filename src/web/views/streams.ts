import { parsePartRef } from "../../model/ids.ts";
import type { Request, Response } from "../exchange.ts";
import type { View } from "./view.ts";

const stream = (body: AsyncIterable<string>): Response => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
  body,
});

/** Where the reader was: a browser that lost its connection says so itself, a tab that was hidden in the address. */
const lastOf = ({ headers, query }: Request) => headers["last-event-id"] ?? query.get("last") ?? undefined;

/** What happens, for a page that is looked at. */
export const eventStream: View = async ({ live, request }) =>
  stream(live.events(lastOf(request), request.signal));

/** What one agent says. */
export const runStream: View = async ({ live, parts, request }) => {
  const { task, part } = parsePartRef(`${parts.task}/${parts.run}`, "R", "run");
  return stream(live.runLog(`${task}/${part}`, lastOf(request), request.signal));
};
