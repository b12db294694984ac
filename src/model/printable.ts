const ESCAPE = "\u001b";
/** Every control character but tab and newline: also those of eight bits, which some terminals obey as well. */
const CONTROL = /[^\t\n -~\u00a0-\uffff]/;

/** The colours that we use ourselves; everything else that begins with an escape is somebody else's. */
const OURS = /\[(?:0|1|2|22|31|32|33|36|39)m/y;
/** Marks that make a text read in another order than it is written. */
const REORDERING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text as it may reach a terminal. Titles, findings, handoffs and commit messages are written by agents, and a control
 * character in one of them could hide or rewrite what a human is about to approve.
 */
export function printable(written: string): string {
  const text = written.replaceAll("\r\n", "\n");
  if (!CONTROL.test(text) && text.search(REORDERING) < 0) return text;
  let shown = "";
  for (let at = 0; at < text.length; at++) {
    const one = text.charAt(at);
    OURS.lastIndex = at + 1;
    if (one === ESCAPE && OURS.test(text)) {
      shown += text.slice(at, OURS.lastIndex);
      at = OURS.lastIndex - 1;
    } else shown += CONTROL.test(one) ? "\ufffd" : one;
  }
  return shown.replace(REORDERING, "\ufffd");
}

/**
 * What shows nothing, or a blank that is none, and makes two texts look alike that are not: marks without width, tags, empty
 * Braille. Built when it is used: a pattern of a Unicode property takes longer than any other module takes to load.
 */
const invisible = () => /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * A value that others wrote, where a human decides by it: one line in quotes, with nothing in it that could pass for a
 * line, a label or a colour of ours.
 */
export function quoteLine(written: string, limit = 300): string {
  const line = [...written.replace(/\s+/g, " ").trim()]
    .map((one) => (CONTROL.test(one) ? "\ufffd" : one))
    .join("")
    .replace(REORDERING, "\ufffd")
    .replace(invisible(), "\ufffd")
    .replace(/["\u201c-\u201f\uff02]/g, "'");
  return `"${line.length > limit ? `${line.slice(0, limit)} \u2026 (${line.length} characters)` : line}"`;
}

/** What fits on the narrowest terminal that people use. */
const ROW = 78;

/**
 * A line with what others wrote, in rows that no terminal breaks by itself: the rest of a long one would begin where only
 * lines of ours begin. Each further row begins with this mark instead.
 */
export function fold(line: string, mark: string): string {
  const rows: string[] = [];
  let [row, width] = ["", 0];
  for (const one of line) {
    if (width + widthOf(one) > ROW) {
      const word = row.lastIndexOf(" ") + 1;
      const end = word > ROW / 2 ? word : row.length;
      rows.push(row.slice(0, end));
      row = mark + row.slice(end);
      width = widthOf(row);
    }
    row += one;
    width += widthOf(one);
  }
  return [...rows, row].join("\n");
}

/** As a terminal counts: what is written wide in East Asia, and pictures, take two columns. */
const widthOf = (text: string) =>
  [...text].reduce((sum, one) => sum + ((one.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2), 0);
