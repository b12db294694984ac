import * as z from "zod/mini";
import { gatherInbox, lookAtRuns } from "../flows/run/look-at-inbox.ts";
import { settleRuns } from "../flows/run/run-settle.ts";
import { flag } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import { plural, type Style, visible } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import { inboxText } from "./inbox.ts";
import { procedure } from "./operation.ts";

const LOOK_MS = 1_000;
const HOME = "\u001b[H";
/** What an earlier and longer text left in a line, and below the last one. */
const [END_OF_LINE, BELOW] = ["\u001b[K", "\u001b[J"];

export const watch = procedure({
  id: "watch",
  summary: "Show the inbox, refreshed in place until Ctrl-C",
  details:
    "Needs only a terminal, so it works over ssh. Piped, it prints the inbox again whenever it changes. It also\nrecords the runs that have ended, and gives agents that lost their supervisor a new one.",
  examples: ["pawl watch --once", "pawl watch --once --json"],
  access: "read",
  settlesRuns: true,
  input: z.strictObject({ once: flag("show it once and end") }),

  rehearse: async () => [],

  async perform(hands, input) {
    const data = { inbox: (await look(hands)).inbox };
    if (input.once) return { data };
    return {
      data,
      live: { endsWell: () => true },
      async *body({ terminal, style, size }) {
        const agents = await hands.agents();
        for (let shown = ""; ; await agents.pause(LOOK_MS)) {
          await settleRuns(hands);
          const text = await render(hands, style);
          const now = terminal ? inPlace(text, size?.() ?? USUAL_SIZE) : `${text}\n`;
          // Also when there is nothing new: whoever prints it can end it then.
          yield new TextEncoder().encode(now === shown ? "" : now);
          shown = now;
        }
      },
    };
  },

  text: ({ inbox }, style) => inboxText(inbox, style),
});

async function look(hands: Hands) {
  const views = await lookAtRuns(hands.world, hands.reader());
  return hands.look((reader, at) => gatherInbox(reader, views, at));
}

const USUAL_SIZE = { columns: 80, rows: 24 };

/**
 * Over what was shown before, without a blank screen in between. What does not fit is left out at the end: a screen that
 * scrolls would lose its first lines, which are what needs somebody.
 */
export function inPlace(text: string, { columns, rows }: { columns: number; rows: number }): string {
  const heightOf = (line: string) => Math.max(1, Math.ceil(visible(line) / columns));
  const lines = text.split("\n");
  let fitting = 0;
  // The last row is for saying what is missing, or for the cursor.
  for (let used = 0; fitting < lines.length; fitting++) {
    used += heightOf(lines[fitting] ?? "");
    if (used > rows - 1) break;
  }
  const left = lines.length - fitting;
  const more = left === 0 ? "" : `… ${plural(left, "more line")}: pawl inbox`;
  const shown = lines.slice(0, fitting).map((line) => `${line}${END_OF_LINE}\n`);
  return `${HOME}${shown.join("")}${more.slice(0, columns - 1)}${BELOW}`;
}

const render = async (hands: Hands, style: Style) => printable(inboxText((await look(hands)).inbox, style));
