import { progressLine } from "../../judge/runs/show.ts";
import { type RunStanding, standingOf } from "../../judge/runs/standing.ts";
import { printable } from "../../model/printable.ts";
import type { Run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Plan } from "../../ports/operation.ts";
import { settled } from "./run-stop.ts";

/** Clears the line that the cursor is in. */
const CLEAR = "\r\u001b[2K";
/** What is still too wide, such as letters that take two columns, is cut by the terminal and not wrapped. */
const [UNWRAPPED, WRAPPED] = ["\u001b[?7l", "\u001b[?7h"];
const USUAL_COLUMNS = 80;

const bytes = (text: string) => new TextEncoder().encode(text);

/**
 * The stream of a run as it comes, until it ends. On a terminal the last line says how it stands: the time, the last act,
 * tokens and files.
 */
export function follow(
  hands: Hands,
  value: Run,
  { raw, lines: last }: { raw: boolean; lines?: number | undefined } = { raw: false },
): Pick<Plan<unknown>, "body" | "live"> {
  let over: RunStanding | undefined;
  return {
    live: { endsWell: () => over?.state === "succeeded", next: () => over?.next },
    async *body({ terminal, style, size }) {
      const agents = await hands.agents();
      const standing = () => {
        const view = agents.look(value.id);
        const columns = size?.()?.columns ?? USUAL_COLUMNS;
        return view ? `${UNWRAPPED}${style.dim(progressLine(view, columns))}${WRAPPED}` : "";
      };
      for await (const lines of agents.log(value.id, { raw, follow: true, lines: last })) {
        const text =
          lines.length === 0 ? "" : `${lines.map((line) => (raw ? line : printable(line))).join("\n")}\n`;
        yield bytes(terminal ? `${CLEAR}${text}${standing()}` : text);
      }
      over = standingOf(await settled(hands, value), undefined);
      const { id, state, reason } = over;
      yield bytes(`${terminal ? CLEAR : ""}${id} ${state}${reason ? ` (${reason})` : ""}\n`);
    },
  };
}
