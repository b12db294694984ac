import { isMap, isNode, isScalar, parseDocument } from "yaml";
import type { FullYaml } from "../record.ts";
import type { KeyPlace } from "./header-editor.ts";
import { FrontMatterError, type HeaderValue } from "./header-value.ts";

/** The full parser, for headers that somebody styled by hand. Failsafe: every scalar stays the text it is. */
export const fullYaml: FullYaml = {
  read(header) {
    const value: unknown = parse(header).toJS({ maxAliasCount: 0 });
    if (value === null || value === undefined) return new Map();
    if (typeof value !== "object" || Array.isArray(value)) throw new Error("keys with values are expected");
    return new Map(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  },
  locateKeys(header) {
    const root = parse(header).contents;
    return isMap(root) ? root.items.map(({ key, value }) => locate(header, key, value)) : [];
  },
};

function parse(header: string) {
  const document = parseDocument(header, { schema: "failsafe", uniqueKeys: true, prettyErrors: true });
  const problem = document.errors[0];
  if (problem) throw new Error(problem.message);
  return document;
}

function locate(header: string, key: unknown, value: unknown): KeyPlace {
  const [from, to] = (isScalar(key) && key.range) || [0, 0];
  const begin = header.lastIndexOf("\n", from - 1) + 1;
  const line = lineAt(header, begin);
  // Anything else at the root (an inline map, a key after a question mark) leaves no line that is the key's alone.
  if (!isScalar(key) || begin !== from)
    throw new FrontMatterError(line + 2, "Each key has to begin a line of its own, at the margin.");
  const place = placeOf(header, header.indexOf(":", to) + 1, value);
  const end = (isNode(value) && value.range?.[1]) || to;
  // Blank lines below count as a part of the value only where a block scalar says so.
  const keepsBlankLines = /[|>]\d?\+/.test(header.slice(from, end));
  return {
    key: String(key.value),
    line,
    value: place && { start: place.start - begin, end: place.end - begin },
    until: keepsBlankLines ? lineAt(header, end - 1) + 1 : line + 1,
  };
}

const lineAt = (header: string, offset: number) => header.slice(0, offset).split("\n").length - 1;

/** Where a value stands that begins and ends on the line of its colon. */
function placeOf(header: string, colon: number, value: unknown): KeyPlace["value"] {
  const [start, end] = (isNode(value) && value.range) || [colon, colon];
  if (header.slice(colon, start).includes("\n") || header.slice(colon, end).trim() === "")
    return { start: colon, end: colon };
  // A tag or an anchor is a part of the value, and the mark of a block scalar promises lines below it.
  const isPlain = header.slice(colon, start).trim() === "" && !/^[|>]/.test(header.slice(start, end));
  return isPlain && !header.slice(start, end).includes("\n") ? { start, end } : undefined;
}

function plain(value: unknown): HeaderValue {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  return String(value);
}
