import { taskShow } from "../../ops/task-show.ts";
import type { Request, Response } from "../exchange.ts";
import { runOf } from "./run.ts";
import type { View } from "./view.ts";

const stream = (body: AsyncIterable<string>): Response => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
  body,
});

/** Where the reader was: a reconnecting browser sends a header, a tab that was hidden puts it into the address. */
const lastOf = ({ headers, query }: Request) => headers["last-event-id"] ?? query.get("last") ?? undefined;

/** The event stream of a visible page. */
export const eventStream: View = async ({ live, request }) =>
  stream(live.events(lastOf(request), request.signal));

/** The live log of one run. */
export const runStream: View = async ({ ask, live, parts, request }) => {
  const { data } = await ask(taskShow, { task: parts.task });
  return stream(live.runLog(runOf(data, parts.run).id, lastOf(request), request.signal));
};
