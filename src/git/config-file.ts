/*
 * Git's configuration files as text, for looks that have no time to start git and for edits that must leave every byte
 * that is not ours as it was. What a file includes is not followed. Pure.
 */

export interface ConfigEntry {
  /** In small letters; a subsection follows as it is spelled: `core`, `branch main`. */
  section: string;
  /** In small letters. */
  key: string;
  /** As git would print it; a key alone means `true`. */
  value: string;
  /** Its lines. */
  start: number;
  end: number;
  /** Nothing else is on its lines. */
  alone: boolean;
}

const HEADER = /[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:\\.|[^"\\\n])*)")?[ \t]*\]/y;
const KEY = /[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=[;#\r\n]|$))/y;
const BYTE_ORDER_MARK = "\ufeff";

/** Every entry, and for each section the place at which another entry of it can be added. */
export function readConfig(text: string): { entries: ConfigEntry[]; ends: Map<string, number> } {
  const entries: ConfigEntry[] = [];
  const ends = new Map<string, number>();
  let section = "";
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (let at = start; at < text.length; ) {
    const header = matchAt(HEADER, text, at);
    if (header) {
      // What is added after this line would no longer belong to the section that it began with.
      if (at > start) ends.delete(section);
      section = `${header[1]?.toLowerCase()}${header[2] === undefined ? "" : ` ${header[2].replace(/\\(.)/g, "$1")}`}`;
      ends.set(section, endOfLine(text, at));
      at = HEADER.lastIndex;
      continue;
    }
    const key = matchAt(KEY, text, at);
    const { value, end } =
      key?.[2] === "=" ? valueAt(text, KEY.lastIndex) : { value: "true", end: endOfLine(text, at) };
    if (key) {
      entries.push({
        section,
        key: (key[1] as string).toLowerCase(),
        value,
        start,
        end,
        alone: at === start,
      });
      ends.set(section, end);
    }
    at = end;
    start = end;
  }
  return { entries, ends };
}

/** What a file says last of a key, which is what git goes by. */
export const configValue = (text: string, section: string, key: string): string | undefined =>
  readConfig(text).entries.findLast((one) => one.section === section && one.key === key)?.value;

/** As git reads a switch. */
export const isOn = (value: string | undefined) =>
  value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Quotes may begin and end anywhere in a value; outside of them a comment ends it, and spaces at its end are none of it. */
function valueAt(text: string, from: number): { value: string; end: number } {
  let value = "";
  let length = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === "\n") return { value: value.slice(0, length), end: at + 1 };
    if (!quoted && (char === "#" || char === ";"))
      return { value: value.slice(0, length), end: endOfLine(text, at) };
    if (char === '"') quoted = !quoted;
    else if (char === "\\") {
      at++;
      if (text[at] === "\r" && text[at + 1] === "\n") at++;
      const next = text[at] ?? "";
      if (next !== "\n") value += ESCAPED[next] ?? next;
    } else if (char === "\r" && text[at + 1] === "\n") continue;
    else if (!quoted && (char === " " || char === "\t")) {
      if (value !== "") value += char;
      continue;
    } else value += char;
    length = value.length;
  }
  return { value: value.slice(0, length), end: text.length };
}
