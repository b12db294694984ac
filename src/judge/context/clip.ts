import { byteLength } from "../../model/budget.ts";

/**
 * Text that is safe to show anywhere: no control characters, no lone surrogates, `\n` as the only line end.
 */
function clean(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[^\n\t\P{Cc}]/gu, "")
    .replace(/\p{Cs}/gu, "\uFFFD");
}

export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/** One line of at most this many bytes; a cut shows as `…`. */
export function clipLine(text: string, bytes: number): string {
  return cutLine(oneLine(text), bytes);
}

/** The same for text that already is one clean line. */
export function cutLine(line: string, bytes: number): string {
  return byteLength(line) <= bytes ? line : `${headOf(line, bytes - 3).trimEnd()}…`;
}

/** Shortens a path at its beginning, because its end is what tells it from others. */
export function clipPath(path: string, bytes: number): string {
  const line = oneLine(path);
  if (byteLength(line) <= bytes) return line;
  const reversed = [...line].reverse().join("");
  return `…${[...headOf(reversed, bytes - 3)].reverse().join("")}`;
}

/** Markdown for a place inside the packet: its headings become smaller than ours. */
export function asBlock(text: string): string {
  const block = clean(text)
    .trim()
    .replace(/^#{1,3} /gm, "#### ");
  return block + openFence(block);
}

/** At most this many bytes of a block; a code fence that the cut left open is closed. */
export function cutBlock(block: string, bytes: number, mark: string): string {
  if (byteLength(block) <= bytes) return block;
  const room = bytes - byteLength(mark) - 1;
  let head = headOf(block, room).trimEnd();
  const fence = openFence(head);
  if (fence !== "") {
    head = headOf(head, room - byteLength(fence)).trimEnd();
    head += openFence(head);
  }
  return `${head}${head.includes("\n") ? "\n" : " "}${mark}`;
}

/** The longest prefix of at most this many bytes that does not split a character. */
function headOf(text: string, bytes: number): string {
  let used = 0;
  let end = 0;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    const isPair = code >= 0xd800 && code <= 0xdbff;
    used += code < 0x80 ? 1 : code < 0x800 ? 2 : isPair ? 4 : 3;
    if (used > bytes) break;
    end += isPair ? 2 : 1;
  }
  return text.slice(0, end);
}

function openFence(text: string): string {
  let open = "";
  for (const [, mark = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === "") open = mark;
    else if (mark.startsWith(open)) open = "";
  }
  return open === "" ? "" : `\n${open}`;
}
