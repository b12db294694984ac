const ESCAPE = 0x1b;
/** Control characters of eight bits, which some terminals obey as well. */
const HIGH = { from: 0x80, to: 0xa0 };

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
  if (!hasControl(text) && text.search(REORDERING) < 0) return text;
  let shown = "";
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    OURS.lastIndex = at + 1;
    if (code === ESCAPE && OURS.test(text)) {
      shown += text.slice(at, OURS.lastIndex);
      at = OURS.lastIndex - 1;
    } else shown += isControl(code) ? "\ufffd" : text[at];
  }
  return shown.replace(REORDERING, "\ufffd");
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (isControl(text.charCodeAt(at))) return true;
  return false;
}

const NEWLINE = 10;
const TAB = 9;

function isControl(code: number): boolean {
  if (code === NEWLINE || code === TAB) return false;
  return code < 0x20 || code === 0x7f || (code >= HIGH.from && code < HIGH.to);
}

/** Marks without width, which make two texts look alike that are not. */
const WIDTHLESS = /[\u00ad\u115f\u1160\u180e\u200b-\u200d\u2028\u2029\u2060-\u2064\u3164\ufeff\uffa0]/g;

/**
 * A value that others wrote, where a human decides by it: one line in quotes, with nothing in it that could pass for a
 * line, a label or a colour of ours.
 */
export function quoteLine(written: string, limit = 300): string {
  const line = [...written.replace(/\s+/g, " ").trim()]
    .map((one) => (isControl(one.charCodeAt(0)) ? "\ufffd" : one))
    .join("")
    .replace(REORDERING, "\ufffd")
    .replace(WIDTHLESS, "\ufffd")
    .replace(/["\u201c-\u201f\uff02]/g, "'");
  return `"${line.length > limit ? `${line.slice(0, limit)} \u2026 (${line.length} characters)` : line}"`;
}
