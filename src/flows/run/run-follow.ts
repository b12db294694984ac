import { progressLine } from "../../judge/runs/show.ts";
import { printable } from "../../model/printable.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import { settled } from "./run-stop.ts";

/** Clears the line that the cursor is in. */
const CLEAR = "\r\u001b[2K";

const bytes = (text: string) => new TextEncoder().encode(text);

/**
 * The stream of a run as it comes, until it ends. On a terminal the last line says how it stands: the time, the last act,
 * tokens and files.
 */
export function follow(hands: Hands, value: Run, raw: boolean): Pick<Plan<unknown>, "body" | "live"> {
  let succeeded = false;
  return {
    live: { endsWell: () => succeeded },
    async *body({ terminal, style }) {
      const agents = await hands.agents();
      const standing = () => {
        const view = agents.look(value.id);
        return terminal && view ? style.dim(progressLine(view)) : "";
      };
      for await (const lines of agents.log(value.id, { raw, follow: true })) {
        const text =
          lines.length === 0 ? "" : `${lines.map((line) => (raw ? line : printable(line))).join("\n")}\n`;
        yield bytes(terminal ? `${CLEAR}${text}${standing()}` : text);
      }
      const over = await settled(hands, value);
      succeeded = over.status === "succeeded";
      const reason = over.attempts.at(-1)?.reason;
      yield bytes(`${terminal ? CLEAR : ""}${over.id} ${over.status}${reason ? ` (${reason})` : ""}\n`);
    },
  };
}
