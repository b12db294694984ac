import { readHeaderFast } from "./header-reader.ts";
import { FrontMatterError, type HeaderValue } from "./header-value.ts";

export { editHeader, type KeyPlace, locateKeys } from "./header-editor.ts";
export { printHeader } from "./header-printer.ts";
export type { PrintableValue } from "./header-value.ts";
export { FrontMatterError, type HeaderValue, readHeaderFast };

/** `bom + open + header + close + body` is always the text that was split. */
export interface SplitText {
  bom: string;
  eol: "\n" | "\r\n";
  open: string;
  header: string;
  close: string;
  body: string;
}

const OPENING_FENCE = /---(\r?\n)/y;
/** In a header a line that starts with three dashes can only be a fence, right or wrong. */
const FENCE_LINE = /(?<=\n)---[^\n]*(?:\n|$)/g;

/**
 * Splits at exact fences. Anything after the dashes is refused: some tools take `---js` as a wish to run the header
 * as code, and take `----` for a fence where others do not.
 */
export function splitFrontMatter(text: string): SplitText {
  const bom = text.startsWith("\ufeff") ? "\ufeff" : "";
  OPENING_FENCE.lastIndex = bom.length;
  const opening = OPENING_FENCE.exec(text);
  if (opening === null)
    throw new FrontMatterError(1, "The file must start with a line that is exactly `---`");
  const open = opening[0];
  const headerStart = bom.length + open.length;
  FENCE_LINE.lastIndex = headerStart;
  const closing = FENCE_LINE.exec(text);
  if (closing === null)
    throw new FrontMatterError(1, "The header is not closed by a line that is exactly `---`");
  const close = closing[0];
  const header = text.slice(headerStart, closing.index);
  if (!/^---(?:\r?\n)?$/.test(close)) {
    const line = header.split("\n").length + 1;
    throw new FrontMatterError(line, "The line that closes the header must be exactly `---`");
  }
  const body = text.slice(closing.index + close.length);
  return { bom, eol: opening[1] as "\n" | "\r\n", open, header, close, body };
}

/** One value of a text's header, for those who may not load a YAML parser: nothing where only that could read it. */
export function quickValue(text: string, key: string): HeaderValue | undefined {
  try {
    return readHeaderFast(splitFrontMatter(text).header)?.get(key);
  } catch (error) {
    if (error instanceof FrontMatterError) return undefined;
    throw error;
  }
}
