import { parseLine } from "../../../src/cli/arguments.ts";
import { findCommand } from "../../../src/cli/command-words.ts";
import { operations } from "../../../src/ops/index.ts";

/** Every `pawl …` that a Markdown text has in code. */
export function commandsIn(text: string): string[] {
  return [...text.matchAll(/`(?:node \.pawl\/pawl\.cjs|pawl)( [^`]*)?`/g)].map(
    (match) => `pawl${match[1] ?? ""}`,
  );
}

/** Splits words as a shell would; the placeholders of our texts, `<like this>`, always stand inside quotes. */
export function shellWords(line: string): string[] {
  const words = line.match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words.map((word) => word.replace(/^"(.*)"$/, "$1"));
}

/** Placeholders are refused as values; whoever follows a text puts words of their own there. */
const filledIn = (word: string) => word.replace(/^<(.*)>$/, "$1");

/**
 * Reads a line as the command line would, by its real parser and the operation's own schema. A bare command name, as
 * in a sentence about it, has to exist only.
 */
export async function readCommand(line: string): Promise<string> {
  const words = shellWords(line).slice(1).map(filledIn);
  const found = findCommand(Object.keys(operations), words);
  if ("group" in found) throw new Error(`"${line}" names a group of commands, not one`);
  const load = operations[found.id];
  if (!load) throw new Error(`"${line}" names no operation`);
  const operation = await load();
  const { input } = parseLine(operation, found.rest);
  if (found.rest.length > 0) operation.input.parse(input);
  return found.id;
}
