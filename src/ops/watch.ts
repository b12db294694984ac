import * as z from "zod/mini";
import { gatherInbox, lookAtRuns } from "../flows/run/look-at-inbox.ts";
import { settleRuns } from "../flows/run/run-settle.ts";
import { flag } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import type { Style } from "../model/text.ts";
import type { Hands } from "../ports/hands.ts";
import { inboxText } from "./inbox.ts";
import { procedure } from "./operation.ts";

const LOOK_MS = 1_000;
/** The cursor goes home, and what is below the new text goes. */
const HOME = "\u001b[H\u001b[2J";

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
      async *body({ terminal, style }) {
        const agents = await hands.agents();
        for (let shown = ""; ; await agents.pause(LOOK_MS)) {
          await settleRuns(hands);
          const text = await render(hands, style);
          if (text !== shown) yield new TextEncoder().encode(`${terminal ? HOME : ""}${text}\n`);
          shown = text;
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

const render = async (hands: Hands, style: Style) => printable(inboxText((await look(hands)).inbox, style));
