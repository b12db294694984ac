import { type Node, type ParseError, parseTree, printParseErrorCode, visit } from "jsonc-parser";
import { definedTwice, unreadable } from "./refusals.ts";
import type { EntryFile, Range } from "./types.ts";

/** JSON as agents and editors accept it: with comments and with a comma after the last element. */
export function readTree(file: EntryFile, text: string): { root: Node | undefined; comments: Range[] } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) throw unreadable(file, text, error.offset, inWords(printParseErrorCode(error.error)));
  const comments: Range[] = [];
  visit(text, { onComment: (start, length) => comments.push({ start, end: start + length }) });
  return { root, comments };
}

/** The parser's names for errors are words run together: `CommaExpected`. */
function inWords(code: string): string {
  return code.replaceAll(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase();
}

export const rangeOf = (node: Node): Range => ({ start: node.offset, end: node.offset + node.length });

export function kindOf(node: Node): string {
  return node.type === "object" || node.type === "array" ? `an ${node.type}` : `a ${node.type}`;
}

/** The member of that name; the node is the whole `"name": value`. */
export function memberOf(
  file: EntryFile,
  text: string,
  object: Node,
  path: readonly string[],
): Node | undefined {
  const name = path.at(-1);
  const members = (object.children ?? []).filter((member) => member.children?.[0]?.value === name);
  if (members[1]) throw definedTwice(file, text, path, members[1].offset);
  return members[0];
}

export const valueNode = (member: Node): Node => member.children?.[1] as Node;

/** Every scalar and every container with its path, exactly as it is written. */
export function outlineOf(text: string, root: Node, without: readonly Range[]): string[] {
  const lines: string[] = [];
  const walk = (node: Node, path: string): void => {
    if (without.some((range) => range.start <= node.offset && node.offset + node.length <= range.end)) return;
    const [first] = node.children ?? [];
    if (node.type === "property" && first) walk(valueNode(node), path + written(text, first));
    else if (node.type === "object" || node.type === "array") {
      lines.push(path + (node.type === "array" ? "[]" : "{}"));
      for (const child of node.children ?? []) walk(child, node.type === "array" ? `${path}[` : path);
    } else lines.push(`${path} ${written(text, node)}`);
  };
  walk(root, "");
  return lines;
}

const written = (text: string, node: Node) => text.slice(node.offset, node.offset + node.length);
