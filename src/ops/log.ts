import * as z from "zod/mini";
import { parseTaskId } from "../model/ids.ts";
import { count, flag, maybe, taskField } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import { columns, firstLine, type Style } from "../model/text.ts";
import type { LoggedEvent } from "../ports/ports.ts";
import { procedure } from "./operation.ts";

const USUAL = 50;
const LOOK_MS = 500;
const MOST_AT_ONCE = 500;

export const log = procedure({
  id: "log",
  summary: "Show what happened, when and by whom",
  details:
    "Every change of a record is an event. Everything pawl does to a repository is an event before and one after,\nor one that says why it failed. A `before` without an `after` was killed; the next command finishes or undoes\nit. Oldest first.",
  examples: ["pawl log", "pawl log T0001 --limit 200", "pawl log --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    limit: maybe(count(`how many of the latest (default: ${USUAL})`)),
    follow: flag("keep showing new events until Ctrl-C"),
  }),

  rehearse: async () => [],

  async perform(hands, input) {
    const task = input.task === undefined ? undefined : parseTaskId(input.task);
    const latest = (limit: number) =>
      hands.look((reader) => {
        // Somebody who mistypes the id should not read that nothing ever happened.
        if (task !== undefined) reader.taskText(task);
        return reader.events({ task, limit });
      });
    const shown = input.limit ?? USUAL;
    if (!input.follow) return { data: { events: await latest(shown) } };
    const known = await latest(Math.max(shown, MOST_AT_ONCE));
    const events = known.slice(-shown);
    return {
      data: { events },
      live: { endsWell: () => true },
      async *body({ style }) {
        const agents = await hands.agents();
        // Also those before the first that is shown, which are among the latest when these are asked for again.
        const seen = new Set(known.slice(0, -shown).map((one) => JSON.stringify(one)));
        for (let now = events; ; now = await latest(MOST_AT_ONCE)) {
          const fresh = now.filter((one) => !seen.has(JSON.stringify(one)));
          for (const one of fresh) seen.add(JSON.stringify(one));
          const text = fresh.length === 0 ? "" : `${printable(eventLines(fresh, style))}\n`;
          // Also when there is nothing new: whoever prints it can end it then.
          yield new TextEncoder().encode(text);
          await agents.pause(LOOK_MS);
        }
      },
    };
  },

  text: ({ events }, style) => eventLines(events, style),
});

const eventLines = (events: readonly LoggedEvent[], style: Style) =>
  columns(
    events.map((one) => [
      style.dim(style.times(one.time)),
      `${one.event}${one.phase ? ` ${one.phase === "failed" ? style.red(one.phase) : style.cyan(one.phase)}` : ""}`,
      style.bold(one.record),
      firstLine(one.about, 70),
      style.dim(`${one.actor}${one.how === "web" ? ", on the page" : ""}`),
    ]),
  );
