import { getNodeValue, type Node } from "jsonc-parser";
import { commaBefore, commentsIn, endOfList, removeItem } from "./comma-list.ts";
import { type JsonStyle, printInline, printMember, printValue } from "./json-print.ts";
import { kindOf, memberOf, outlineOf, rangeOf, readTree, valueNode } from "./json-tree.ts";
import { wrongContainer } from "./refusals.ts";
import { beginsItsLine, indentAt, newlineOf } from "./text-style.ts";
import type { Edit, Entry, EntryFile, Json, Range } from "./types.ts";
import { emptyFields, type Fields, place, sameValue } from "./values.ts";

const UNIT = "  ";

/** Where one of our entries is in the text. */
export interface Occurrence {
  range: Range;
  value: Json;
  /** A comment was written into it: it is no longer ours alone. */
  commented: boolean;
  /** Takes it out, with its comma. */
  removal(): Edit[];
  replacement(value: Json): Edit;
}

/** A file that was read; every position counts from the start of `text`, which has no byte order mark. */
export class JsonDocument {
  readonly text: string;
  readonly comments: Range[];
  readonly #file: EntryFile;
  readonly #root: Node | undefined;
  readonly #style: JsonStyle;

  constructor(file: EntryFile, text: string) {
    this.#file = file;
    this.text = text;
    const { root, comments } = readTree(file, text);
    this.#root = root;
    this.comments = comments;
    this.#style = { newline: newlineOf(text), unit: unitOf(text, root) };
  }

  /** Everywhere the entry could be: at its path whatever its value, or the elements of the array that equal it. */
  occurrences(entry: Entry): Occurrence[] {
    const { node, missing } = this.#walk(entry);
    if (!node || missing.length > 0) return [];
    if (entry.kind === "key") return [this.#occurrence(node.parent as Node, jsonOf(node))];
    return (node.children ?? [])
      .map((item) => this.#occurrence(item, jsonOf(item)))
      .filter((found) => sameValue(found.value, entry.value));
  }

  #occurrence(node: Node, value: Json): Occurrence {
    const range = rangeOf(node);
    return {
      range,
      value,
      commented: this.comments.some((one) => range.start <= one.start && one.end <= range.end),
      removal: () => this.#removal(node),
      replacement: (other) => this.#replacement(node, other),
    };
  }

  /** Goes down the entry's path as far as the file has it. */
  #walk(entry: Entry): { node: Node | undefined; missing: string[] } {
    let node = this.#root;
    for (const depth of entry.at.keys()) {
      if (!node) return { node, missing: entry.at };
      this.#require(node, "object", entry.at.slice(0, depth));
      const member = memberOf(this.#file, this.text, node, entry.at.slice(0, depth + 1));
      if (!member) return { node, missing: entry.at.slice(depth) };
      node = valueNode(member);
    }
    if (node && entry.kind === "item") this.#require(node, "array", entry.at);
    return { node, missing: [] };
  }

  #require(node: Node, type: "object" | "array", path: string[]): void {
    if (node.type === type) return;
    const facts = { path, offset: node.offset, is: kindOf(node), wanted: `an ${type}` };
    throw wrongContainer(this.#file, this.text, facts);
  }

  insertion(entries: Entry[]): { edits: Edit[]; made: string[][] } {
    const made: string[][] = [];
    const members = new Map<Node | undefined, Fields>();
    const items = new Map<Node, Json[]>();
    for (const entry of entries) {
      const { node, missing } = this.#walk(entry);
      if (node && missing.length === 0) {
        items.set(node, [...(items.get(node) ?? []), entry.value]);
        continue;
      }
      const fields = members.get(node) ?? emptyFields();
      members.set(node, fields);
      const outer = entry.at.slice(0, entry.at.length - missing.length);
      made.push(...place(fields, missing, entry).map((path) => [...outer, ...path]));
    }
    const edits: Edit[] = [];
    for (const [node, fields] of members)
      edits.push(...(node ? this.#append(node, Object.entries(fields)) : [this.#firstValue(fields)]));
    for (const [node, values] of items)
      edits.push(
        ...this.#append(
          node,
          values.map((value) => [undefined, value]),
        ),
      );
    return { edits, made: members.has(undefined) ? [[], ...made] : made };
  }

  /** The file has no value yet: it is empty, or holds nothing but comments. */
  #firstValue(fields: Fields): Edit {
    const { newline } = this.#style;
    const at = this.comments.at(-1)?.end ?? 0;
    const value = printValue(fields, this.#style, "", 0);
    const rest = this.text.slice(at);
    const text = `${at > 0 ? newline : ""}${value}${at > 0 || rest.includes("\n") ? "" : newline}`;
    return { start: at, end: at, text };
  }

  #append(node: Node, added: [string | undefined, Json][]): Edit[] {
    const around = this.#surroundings(node);
    const { at, comma, trailing } = endOfList(around);
    const inline = this.#isInline(node);
    const compact = inline && this.#isCompact(at);
    const indent = this.#childIndent(node);
    const between = inline ? (compact ? "" : " ") : this.#style.newline + indent;
    const printed = added.map(([key, value], index) => {
      const follows = trailing || index < added.length - 1;
      if (!inline)
        return key === undefined
          ? printValue(value, this.#style, indent, follows ? 1 : 0)
          : printMember(key, value, this.#style, indent, follows);
      const name = key === undefined ? "" : `${JSON.stringify(key)}:${compact ? "" : " "}`;
      return name + printInline(value, compact);
    });
    const brackets = inline && node.type === "array" && around.list.items.length === 0;
    const lead = brackets ? "" : between;
    const body = lead + printed.join(`,${between}`) + (trailing ? "," : "");
    const tail = this.#tail(around.list.items.length === 0, at, node, inline, lead);
    if (comma === undefined) return [{ start: at, end: at, text: body + tail }];
    if (comma === at) return [{ start: at, end: at, text: `,${body}${tail}` }];
    return [
      { start: comma, end: comma, text: "," },
      { start: at, end: at, text: body + tail },
    ];
  }

  /** What brings the closing bracket of a container that was empty to its place. */
  #tail(empty: boolean, at: number, node: Node, inline: boolean, lead: string): string {
    if (!empty) return "";
    if (inline) return lead;
    const close = node.offset + node.length - 1;
    if (this.text.slice(at, close).includes("\n")) return "";
    return this.#style.newline + indentAt(this.text, node.offset);
  }

  #surroundings(node: Node) {
    const list = {
      open: node.offset + 1,
      close: node.offset + node.length - 1,
      items: (node.children ?? []).map(rangeOf),
    };
    return { text: this.text, list, comments: this.comments };
  }

  /** An empty container follows the one around it. */
  #isInline(node: Node): boolean {
    if (this.text.slice(node.offset, node.offset + node.length).includes("\n")) return false;
    if ((node.children ?? []).length > 0) return true;
    const outer = node.parent?.type === "property" ? node.parent.parent : node.parent;
    return outer !== undefined && this.#isInline(outer);
  }

  #childIndent(node: Node): string {
    const child = (node.children ?? []).findLast((one) => beginsItsLine(this.text, one.offset));
    return child ? indentAt(this.text, child.offset) : indentAt(this.text, node.offset) + this.#style.unit;
  }

  #replacement(node: Node, value: Json): Edit {
    const old = node.type === "property" ? valueNode(node) : node;
    const { start, end } = rangeOf(old);
    if (this.#isInline(node.parent as Node))
      return { start, end, text: printInline(value, this.#isCompact(start)) };
    const taken = start - node.offset + (this.text[end] === "," ? 1 : 0);
    return { start, end, text: printValue(value, this.#style, indentAt(this.text, node.offset), taken) };
  }

  #removal(node: Node): Edit[] {
    const list = node.parent as Node;
    return removeItem(this.#surroundings(list), list.children?.indexOf(node) ?? 0);
  }

  /** A file that was written without any spaces so far goes on like that. */
  #isCompact(until: number): boolean {
    return !/[:,{[] /.test(this.text.slice(0, until));
  }

  /** Takes out a container of ours if it has nothing in it any more. */
  emptied(made: string[]): Edit[] | undefined {
    const { node, missing } = this.#walk({ at: made, kind: "key", value: null });
    if (!node || missing.length > 0 || node.children?.length !== 0) return undefined;
    if (commentsIn(this.#surroundings(node)).length > 0) return undefined;
    if (!node.parent) return [{ ...rangeOf(node), text: "" }];
    return this.#removal(node.parent);
  }

  /** The comma that separates what begins here from what is before it, past comments. */
  commaBefore(offset: number): Range | undefined {
    return commaBefore(this.text, this.comments, offset);
  }

  /** Every value with its path, written as in the file and in its order; not what lies in those ranges. */
  outline(without: Range[], made: string[][]): string[] {
    const ours = new Set(
      made.flatMap((path) =>
        ["{}", "[]"].map((kind) => path.map((key) => JSON.stringify(key)).join("") + kind),
      ),
    );
    const lines = this.#root ? outlineOf(this.text, this.#root, without) : [];
    return lines.filter((line) => !ours.has(line));
  }
}

const jsonOf = (node: Node) => getNodeValue(node) as Json;

/** How far the first level is indented; where nothing begins its own line there is nothing to follow. */
function unitOf(text: string, root: Node | undefined): string {
  const child = root?.children?.find((one) => beginsItsLine(text, one.offset));
  return child && text.slice(0, child.offset).includes("\n") ? indentAt(text, child.offset) : UNIT;
}
