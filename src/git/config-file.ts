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
  /** Where the header of its section begins. */
  header: number;
  /** Its lines. */
  start: number;
  end: number;
  /** Nothing else is on its lines. */
  alone: boolean;
  /** The file ends before it does: with a last line without an end, or one that says that it goes on. */
  open: boolean;
}

const HEADER = /[ \t\r]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:\\.|[^"\\\n])*)")?[ \t]*\]/y;
const KEY = /[ \t\r]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=[;#\r\n]|$))/y;
const BYTE_ORDER_MARK = "\ufeff";

/** Every entry, in the order in which git reads them. */
export function readConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = "";
  let headerAt = 0;
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (let at = start; at < text.length; ) {
    const header = matchAt(HEADER, text, at);
    if (header) {
      section = sectionOf(header[1] ?? "", header[2]);
      headerAt = at;
      at = HEADER.lastIndex;
      continue;
    }
    const key = matchAt(KEY, text, at);
    const { value, end, open } =
      key?.[2] === "=" ? valueAt(text, KEY.lastIndex) : { value: "true", ...restOfLine(text, at) };
    if (key)
      entries.push({
        section,
        key: (key[1] as string).toLowerCase(),
        value,
        header: headerAt,
        start,
        end,
        alone: at === start,
        open,
      });
    at = end;
    start = end;
  }
  return entries;
}

/** Its name and what it is about with a space between, whether that is written `[hook "pawl"]` or, as git also reads it, `[hook.pawl]`. */
function sectionOf(name: string, quoted: string | undefined): string {
  const about = quoted === undefined ? [] : [quoted.replace(/\\(.)/g, "$1")];
  return [name.toLowerCase(), ...about].join(".").replace(".", " ");
}

/** What a file says last of a key, which is what git goes by. */
export const configValue = (text: string, section: string, key: string): string | undefined =>
  readConfig(text).findLast((one) => one.section === section && one.key === key)?.value;

/** As git reads a switch. */
export const isOn = (value: string | undefined) =>
  value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function restOfLine(text: string, from: number): { end: number; open: boolean } {
  const end = text.indexOf("\n", from);
  return end < 0 ? { end: text.length, open: true } : { end: end + 1, open: false };
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Quotes may begin and end anywhere in a value; outside of them a comment ends it, and spaces at its end are none of it. */
function valueAt(text: string, from: number): { value: string; end: number; open: boolean } {
  let value = "";
  let length = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === "\n") return { value: value.slice(0, length), end: at + 1, open: false };
    if (!quoted && (char === "#" || char === ";"))
      return { value: value.slice(0, length), ...restOfLine(text, at) };
    if (char === '"') quoted = !quoted;
    else if (char === "\\") {
      at++;
      if (text[at] === "\r" && text[at + 1] === "\n") at++;
      const next = text[at] ?? "";
      if (next !== "\n") value += ESCAPED[next] ?? next;
    } else if (char === "\r" && text[at + 1] === "\n") continue;
    else if (!quoted && (char === " " || char === "\t" || char === "\r")) {
      if (value !== "") value += char;
      continue;
    } else value += char;
    length = value.length;
  }
  return { value: value.slice(0, length), end: text.length, open: true };
}
