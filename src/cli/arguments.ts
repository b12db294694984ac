import { Failure } from "../model/failure.ts";
import { type FieldInfo, fieldInfo } from "../model/input.ts";
import { nearest } from "../model/nearest.ts";
import type { Command } from "../ports/operation.ts";

/** Options that every command has; they never reach the operation. */
export interface CommonOptions {
  json: boolean;
  "dry-run": boolean;
  actor: string | undefined;
  key: string | undefined;
}

/** Help is shown before a line is read; it is here to be listed. */
export const COMMON: Readonly<Record<keyof CommonOptions | "help", Option>> = {
  json: { field: "json", info: flag("print one JSON object") },
  "dry-run": { field: "dry-run", info: flag("show what would be done without doing it") },
  help: { field: "help", info: flag("show this help") },
  actor: { field: "actor", info: value("who is acting, if no agent is recognised", "WHO") },
  key: { field: "key", info: value("repeat safely: the same key is applied once", "KEY") },
};

interface Option {
  field: string;
  info: FieldInfo;
  /** Its value names the file that holds the field's text. */
  fromFile?: true;
}

function flag(describe: string): FieldInfo {
  return { type: "flag", describe, hint: "", required: false };
}

function value(describe: string, hint: string): FieldInfo {
  return { type: "text", describe, hint, required: false };
}

export const optionName = (field: string) => field.replaceAll("_", "-");

/** Every option of an operation by its name on the command line. */
export function optionsOf(operation: Command): Map<string, Option> {
  const options = new Map<string, Option>(Object.entries(COMMON));
  for (const [field, schema] of Object.entries(operation.input.shape as Record<string, object>))
    if (field !== operation.cli?.rest) options.set(optionName(field), { field, info: fieldInfo(schema) });
  for (const field of operation.cli?.texts ?? [])
    options.set(`${optionName(field)}-file`, {
      field,
      info: value("the same, from a file, or - for standard input", "FILE"),
      fromFile: true,
    });
  return options;
}

export interface ParsedLine {
  common: CommonOptions;
  input: Record<string, unknown>;
  /** Which file holds the text of a field. */
  files: Record<string, string>;
}

interface Sorted {
  options: Map<string, string[]>;
  flags: Set<string>;
  words: string[];
  rest: string[] | undefined;
}

/**
 * Reads the words of one command, strictly: unknown options, missing values, repeated options and extra words are
 * mistakes, and what looks like an option is text where text belongs.
 */
export function parseLine(operation: Command, args: readonly string[]): ParsedLine {
  const options = optionsOf(operation);
  const sorted = sortWords(operation, options, args);
  placePositionals(operation, options, sorted);
  const input: Record<string, unknown> = {};
  const files: Record<string, string> = {};
  for (const [name, { field, info, fromFile }] of options) {
    if (name in COMMON) continue;
    const given = sorted.options.get(name);
    if (fromFile) {
      if (!given) continue;
      if (field in input)
        throw usage("text_and_file", `Give --${optionName(field)} or --${name}, not both.`, field);
      files[field] = given[0] ?? "";
    } else if (info.type === "flag") {
      if (sorted.flags.has(name)) input[field] = true;
    } else if (given)
      input[field] =
        info.type === "list" ? listOf(operation, field, given) : typed(name, info, given[0] ?? "");
  }
  const restField = operation.cli?.rest;
  if (restField && sorted.rest) input[restField] = sorted.rest;
  return { common: commonOf(sorted), input, files };
}

function sortWords(operation: Command, options: Map<string, Option>, args: readonly string[]): Sorted {
  const sorted: Sorted = { options: new Map(), flags: new Set(), words: [], rest: undefined };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") {
      const after = args.slice(index + 1);
      if (operation.cli?.rest) sorted.rest = after;
      else sorted.words.push(...after);
      break;
    }
    if (arg.startsWith("--")) index += takeOption(options, sorted, arg, args[index + 1]);
    else if (arg.startsWith("-") && arg !== "-") throw unknownOption(arg, options);
    else sorted.words.push(arg);
  }
  return sorted;
}

/** Returns how many of the following words it used. */
function takeOption(
  options: Map<string, Option>,
  sorted: Sorted,
  arg: string,
  following: string | undefined,
): number {
  const equals = arg.indexOf("=");
  const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
  const option = options.get(name);
  if (!option) throw unknownOption(arg, options);
  if (option.info.type === "flag") {
    if (equals >= 0) throw usage("flag_with_value", `--${name} takes no value.`, name);
    sorted.flags.add(name);
    return 0;
  }
  const inline = equals < 0 ? undefined : arg.slice(equals + 1);
  const text = inline ?? following;
  const isFlag =
    inline === undefined && text?.startsWith("--") && options.has(text.slice(2).split("=")[0] ?? "");
  if (text === undefined || isFlag)
    throw usage(
      "missing_value",
      `--${name} needs a value.`,
      name,
      `Write --${name} ${option.info.hint}${isFlag ? `; if the value really is "${text}", write --${name}=${text}` : ""}.`,
    );
  give(sorted, name, option, text);
  return inline === undefined ? 1 : 0;
}

function give(sorted: Sorted, name: string, option: Option, text: string): void {
  const before = sorted.options.get(name);
  if (before && option.info.type !== "list")
    throw usage(
      "repeated_option",
      `--${name} was given twice.`,
      name,
      `Give it once; "${before[0]?.slice(0, 40)}" came first.`,
    );
  sorted.options.set(name, [...(before ?? []), text]);
}

function placePositionals(operation: Command, options: Map<string, Option>, sorted: Sorted): void {
  const names = [...(operation.cli?.positional ?? [])].map(optionName);
  for (const name of names) {
    const option = options.get(name);
    if (!option) throw new Error(`${operation.id}: the positional "${name}" is no field of its input`);
    const words = option.info.type === "list" ? sorted.words.splice(0) : sorted.words.splice(0, 1);
    for (const word of words) give(sorted, name, option, word);
  }
  const [extra] = sorted.words;
  if (extra === undefined) return;
  const takes = names.length === 0 ? "no words" : names.map((name) => name.toUpperCase()).join(", then ");
  throw usage(
    "extra_word",
    `"${extra.slice(0, 60)}" is an unexpected extra word.`,
    extra,
    `This command takes ${takes}. Put text with spaces in quotes.`,
  );
}

/** A script whose variable is unset must not get an empty list where it meant a word. */
function listOf(operation: Command, field: string, given: string[]): string[] {
  return operation.cli?.clears?.includes(field) ? given.filter((one) => one !== "") : given;
}

/** What the text of an option means. */
export function typed(name: string, info: FieldInfo, text: string): unknown {
  if (info.type === "objects") return jsonOf(name, text);
  if (info.type !== "number") return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage("bad_number", `--${name} needs a whole number, not "${text.slice(0, 40)}".`, name);
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage("bad_json", `--${name} is not JSON: ${(error as Error).message}.`, name);
  }
}

function commonOf(sorted: Sorted): CommonOptions {
  const text = (name: string) => {
    const given = sorted.options.get(name)?.[0];
    if (given?.trim() === "") throw usage("missing_value", `--${name} is empty.`, name);
    return given;
  };
  return {
    json: sorted.flags.has("json"),
    "dry-run": sorted.flags.has("dry-run"),
    actor: text("actor"),
    key: text("key"),
  };
}

/** What one command calls like this another calls like that; whoever knows the one types it at the other. */
const SAME_MEANING = [
  ["note", "reason", "why", "message", "comment"],
  ["for", "timeout", "time"],
];

function unknownOption(arg: string, options: Map<string, Option>): Failure {
  const name = arg.replace(/^-+/, "").split("=")[0] ?? "";
  const same = SAME_MEANING.find((words) => words.includes(name))?.find((word) => options.has(word));
  const near = same ?? nearest(name, [...options.keys()]);
  const known = [...options.keys()].map((one) => `--${one}`).join(" ");
  return usage(
    "unknown_option",
    `"${arg.slice(0, 60)}" is not an option here.`,
    name,
    near
      ? `Did you mean --${near}?`
      : `Options: ${known}. Text that begins with a dash goes after a lone --, or into --option=TEXT.`,
  );
}

function usage(code: string, message: string, field: string, hint?: string): Failure {
  return new Failure("usage", code, message, { ...(hint ? { hint } : {}), details: { field } });
}
