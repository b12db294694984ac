import { byteLength } from "../../model/budget.ts";
import type { Form } from "./budget-fit.ts";
import { asBlock, cutBlock, cutLine, oneLine } from "./clip.ts";
import { rankOf, type Worth } from "./ranks.ts";

const SHORT_LINE = 180;
const LONGER_LINE = 500;
const SHORT_BLOCK = 400;
const LONGER_BLOCK = 1_600;

/** Doubling the size each time means that at most as much room is wasted as is already used. */
function* sizesAbove(size: number, whole: number): Generator<number> {
  for (let next = size * 2; next < whole; next *= 2) yield next;
  yield whole;
}

interface LineOptions {
  before?: string;
  /** Shown on a line below, once there is room for more than the minimum. */
  more?: string;
  nth?: number;
  /** How many bytes it gets in the smallest packet. */
  always?: number;
}

/** A text on one line, longer where there is room. */
export function lineForms(worth: Worth, text: string, options: LineOptions = {}): Form[] {
  const { before = "", more = "", nth = 0, always } = options;
  const [line, below] = [oneLine(text), oneLine(more)];
  const say = (bytes: number, extra = "") => `${before}${cutLine(line, bytes)}${extra}`;
  const extra = (bytes: number) => (below === "" ? "" : `\n  ${cutLine(below, bytes)}`);
  const forms: Form[] = [
    { rank: rankOf(worth, nth), text: say(SHORT_LINE) },
    { rank: rankOf("longerTexts", nth), text: say(LONGER_LINE, extra(LONGER_LINE)) },
  ];
  if (always !== undefined) forms.unshift({ rank: rankOf("always"), text: say(always) });
  const whole = Math.max(byteLength(line), byteLength(below));
  if (whole > LONGER_LINE)
    for (const size of sizesAbove(LONGER_LINE, whole))
      forms.push({ rank: rankOf("ifRoom", size + nth), text: say(size, extra(size)) });
  return forms;
}

/** Markdown of several lines; a cut says where the rest can be read. */
export function blockForms(worth: Worth, text: string, task: string): Form[] {
  const mark = `… (shortened; \`pawl task show ${task}\`)`;
  const block = asBlock(text);
  const whole = byteLength(block);
  const forms: Form[] = [
    { rank: rankOf(worth), text: cutBlock(block, SHORT_BLOCK, mark) },
    { rank: rankOf("longerTexts"), text: cutBlock(block, LONGER_BLOCK, mark) },
  ];
  if (whole > LONGER_BLOCK)
    for (const size of sizesAbove(LONGER_BLOCK, whole))
      forms.push({ rank: rankOf("ifRoom", size), text: cutBlock(block, size, mark) });
  return forms;
}
