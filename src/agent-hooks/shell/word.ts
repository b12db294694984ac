import type { CommandArgument, Word, WordPart } from "unbash";
import type { ShellWord } from "./command.ts";

/** What the line itself has set so far. */
export type Variables = Readonly<Record<string, string>> & Record<string, string>;

/** A word of the source; an expansion without quotes may become several. */
export function wordsOf(word: CommandArgument, variables: Variables): ShellWord[] {
  if (word.type === "Assignment") return [{ text: word.text, known: !/[$`]/.test(word.text) }];
  const read = readWord(word, variables);
  const [only, ...others] = word.parts ?? [];
  const splits = only?.type === "SimpleExpansion" && others.length === 0 && read.known;
  if (!splits) return [read];
  return read.text
    .split(/\s+/)
    .filter((part) => part !== "")
    .map((text) => ({ text, known: true }));
}

export function readWord(word: Word, variables: Variables): ShellWord {
  if (!word.parts) return { text: word.value, known: true };
  const parts = word.parts.map((part) => readPart(part, variables));
  return { text: parts.map((part) => part.text).join(""), known: parts.every((part) => part.known) };
}

function readPart(part: WordPart, variables: Variables): ShellWord {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return { text: part.value, known: true };
    case "DoubleQuoted":
    case "LocaleString": {
      const inner = part.parts.map((child) => readPart(child, variables));
      return { text: inner.map((one) => one.text).join(""), known: inner.every((one) => one.known) };
    }
    case "SimpleExpansion":
      return lookUp(part.text.slice(1), part.text, variables);
    case "ParameterExpansion":
      return part.operation || part.prefix || part.index
        ? { text: part.text, known: false }
        : lookUp(part.parameter, part.text, variables);
    default:
      return { text: part.text, known: false };
  }
}

function lookUp(name: string, source: string, variables: Variables): ShellWord {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined ? { text: source, known: false } : { text: value, known: true };
}
