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

/** Marks without width, which make two texts look alike that are not. */
const WIDTHLESS = /[\u00ad\u115f\u1160\u180e\u200b-\u200d\u2028\u2029\u2060-\u2064\u3164\ufeff\uffa0]/g;

/**
 * A value that others wrote, where a human decides by it: one line in quotes, with nothing in it that could pass for a
 * line, a label or a colour of ours.
 */
export function quoteLine(written: string, limit = 300): string {
  const line = [...written.replace(/\s+/g, " ").trim()]
    .map((one) => (CONTROL.test(one) ? "\ufffd" : one))
    .join("")
    .replace(REORDERING, "\ufffd")
    .replace(WIDTHLESS, "\ufffd")
    .replace(/["\u201c-\u201f\uff02]/g, "'");
  return `"${line.length > limit ? `${line.slice(0, limit)} \u2026 (${line.length} characters)` : line}"`;
}
