import { Failure } from "../model/failure.ts";
import type { Command } from "../ports/operation.ts";
import { optionName, optionsOf } from "./arguments.ts";

/**
 * A wrong line, told as it is typed: which option is meant, what to do, an example that is right, and where to read more.
 * Only the command line says so: who calls an operation in another way has no line to correct.
 */
export function explainUsage(command: Command, failure: Failure): Failure {
  const typed = typedAs(command);
  const { issues, field } = (failure.details ?? {}) as { issues?: Issue[]; field?: string };
  const message = issues
    ? `${issues.map(({ problem }) => withOptionName(command, problem)).join("; ")}.`
    : failure.message;
  const hint = [
    failure.hint,
    saysWhatToType(typed, failure.hint, field) ? undefined : howToType(command, field, failure.hint),
    `\`${typed} --help\` explains it.`,
  ];
  return new Failure("usage", failure.code, message, {
    hint: hint.filter((line) => line !== undefined).join("\n"),
    ...(failure.details ? { details: failure.details } : {}),
    cause: failure,
  });
}

interface Issue {
  field: string;
  problem: string;
}

const typedAs = ({ id }: Command) => `pawl ${id.replace(".", " ")}`;

/** A second example would be noise; and where no field is at fault, the line was right and something else is to be done. */
function saysWhatToType(typed: string, hint: string | undefined, field: string | undefined): boolean {
  if (hint === undefined) return false;
  return (
    field === undefined ||
    hint.includes(`${typed} `) ||
    /\bfor example\b|\bwrite (?:it like this: )?--|(?<!`)\bpawl \w/i.test(hint)
  );
}

/**
 * The first example that shows the field; or its form, where nothing else says what to do. An option put behind some
 * example might not go with the others there, or do what nobody asked for.
 */
function howToType(
  command: Command,
  field: string | undefined,
  hint: string | undefined,
): string | undefined {
  // A value in a list is wrong at `label.0`.
  const name = optionName(field?.split(".")[0] ?? "");
  const info = optionsOf(command).get(name)?.info;
  const example = exampleOf(command, name) ?? (info ? undefined : command.examples[0]);
  if (example !== undefined) return `For example: ${example}`;
  if (hint !== undefined || !info) return undefined;
  const value = info.type === "objects" ? info.hint : (info.choices?.[0] ?? info.hint);
  return `Write it like this: --${name}${value ? ` ${value}` : ""}`;
}

function exampleOf(command: Command, name: string): string | undefined {
  const place = command.cli?.positional?.map(optionName).indexOf(name) ?? -1;
  const sameText = name.endsWith("-file") ? name.slice(0, -"-file".length) : `${name}-file`;
  const ways: ((words: string[]) => boolean)[] = [
    (words) => words.includes(name === command.cli?.rest ? "--" : `--${name}`),
    (words) => place >= 0 && wordsInPlace(command, words) > place,
    // Either may give the text, and never both.
    (words) => words.includes(`--${sameText}`),
  ];
  for (const shows of ways) {
    const found = command.examples.find((one) => shows(one.split(/[ =]/)));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** How many words of an example stand before its options. */
function wordsInPlace(command: Command, words: readonly string[]): number {
  const own = words.slice(command.id.split(".").length + 1);
  const option = own.findIndex((word) => word.startsWith("-"));
  return option < 0 ? own.length : option;
}

/** Inputs call a field by its name; on the command line it is an option, a word in its place, or what follows `--`. */
function withOptionName(command: Command, problem: string): string {
  return problem.replace(/^"([^"]+)"/, (_, field: string) => {
    if (field === command.cli?.rest) return "a command after `--`";
    return command.cli?.positional?.includes(field)
      ? optionName(field).toUpperCase()
      : `--${optionName(field)}`;
  });
}
