import type { Environment } from "../model/environment.ts";
import type { Style } from "../model/text.ts";
import { PLAIN, sayTimes } from "../model/text.ts";
import { clock } from "../runtime/clock.ts";

const paint = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;

const times = (line: string) => sayTimes(line, clock);
const UNCOLOURED: Style = { ...PLAIN, times };
const COLOURED: Style = {
  times,
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
};

/** Colour only for a person at a terminal who has not asked for none. */
export function styleFor(isTerminal: boolean, env: Environment): Style {
  return isTerminal && !env.NO_COLOR && env.TERM !== "dumb" ? COLOURED : UNCOLOURED;
}
