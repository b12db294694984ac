import type { Style } from "../../model/text.ts";

type Paint = (text: string) => string;

const NEWLINE = 10;
const encoder = new TextEncoder();

/**
 * Colours a patch for a person at a terminal, line by line and byte by byte: the text need not be in any encoding.
 * What a binary file is made of says nothing to a reader, and is left out.
 */
export async function* paintPatch(
  chunks: AsyncIterable<Uint8Array>,
  style: Style,
): AsyncGenerator<Uint8Array> {
  let part: "header" | "hunk" | "binary" = "header";
  for await (const line of linesOf(chunks)) {
    if (startsWith(line, "diff --git ")) part = "header";
    else if (part === "header" && startsWith(line, "@@ ")) part = "hunk";
    else if (part === "header" && startsWith(line, "GIT binary patch")) {
      part = "binary";
      yield encoder.encode(`${style.dim("(binary)")}\n`);
    }
    if (part !== "binary") yield painted(line, paintOf(line, part, style));
  }
}

function paintOf(line: Uint8Array, part: "header" | "hunk", style: Style): Paint | undefined {
  if (part === "header") return style.bold;
  if (startsWith(line, "+")) return style.green;
  if (startsWith(line, "-")) return style.red;
  return startsWith(line, "@@ ") ? style.cyan : undefined;
}

function painted(line: Uint8Array, paint: Paint | undefined): Uint8Array {
  const end = line.at(-1) === NEWLINE ? line.length - 1 : line.length;
  const [on = "", off = ""] = (paint?.("\0") ?? "\0").split("\0");
  return joined([encoder.encode(on), line.subarray(0, end), encoder.encode(off), line.subarray(end)]);
}

const startsWith = (line: Uint8Array, text: string) =>
  line.length >= text.length && encoder.encode(text).every((byte, index) => line[index] === byte);

/** Whole lines with their ends; a piece of the file may end in the middle of one. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield joined([...begun, chunk.subarray(from, at + 1)]);
      begun = [];
      from = at + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  }
  if (begun.length > 0) yield joined(begun);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
