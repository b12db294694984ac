import type { FieldInfo } from "../../model/input.ts";
import type { Command } from "../../ports/operation.ts";
import { optionName, optionsOf } from "../arguments.ts";

/** What can be offered where a value belongs: some words, records of the store, files, or nothing. */
export type Values = { words: readonly string[] } | "tasks" | "findings" | "files" | "nothing";

export interface OptionRow {
  name: string;
  describe: string;
  /** A flag takes none. */
  values: Values | undefined;
}

export interface CommandRow {
  /** As it is typed, without `pawl`: `task list`. */
  words: string;
  summary: string;
  options: OptionRow[];
  /** What the words after the command are, in their order; the last may repeat. */
  positional: Values[];
  repeats: boolean;
  /** Whether a command of its own may follow after `--`. */
  rest: boolean;
}

/** Everything that a shell needs to know, from the same descriptions that help and the parser use. */
export function completionTable(commands: readonly Command[]): CommandRow[] {
  return commands
    .filter((one) => !one.internal)
    .map((command) => {
      const options = optionsOf(command);
      const positional = (command.cli?.positional ?? []).map(optionName);
      const last = options.get(positional.at(-1) ?? "");
      return {
        words: command.id.replace(".", " "),
        summary: command.summary,
        options: [...options].map(([name, { info }]) => ({
          name: `--${name}`,
          describe: info.describe,
          values: info.type === "flag" ? undefined : valuesOf(name, info),
        })),
        positional: positional.map((name) => {
          const option = options.get(name);
          return option ? valuesOf(name, option.info) : "nothing";
        }),
        repeats: last?.info.type === "list",
        rest: command.cli?.rest !== undefined,
      };
    });
}

function valuesOf(name: string, info: FieldInfo): Values {
  if (info.choices) return { words: info.choices };
  if (info.hint === "T") return "tasks";
  if (name === "finding") return "findings";
  return ["FILE", "PATH", "DIR"].includes(info.hint) ? "files" : "nothing";
}

/** The first words of all commands, each with what it does; a group is described by its members. */
export function firstWords(rows: readonly CommandRow[]): { word: string; describe: string }[] {
  const groups = new Map<string, string[]>();
  for (const { words } of rows) {
    const [first = "", second] = words.split(" ");
    groups.set(first, [...(groups.get(first) ?? []), ...(second ? [second] : [])]);
  }
  return [...groups].map(([word, members]) => ({
    word,
    describe:
      members.length > 0 ? members.join(", ") : (rows.find((row) => row.words === word)?.summary ?? ""),
  }));
}

/** The second words after each first one that has some. */
export function secondWords(rows: readonly CommandRow[]): Map<string, { word: string; describe: string }[]> {
  const groups = new Map<string, { word: string; describe: string }[]>();
  for (const { words, summary } of rows) {
    const [first = "", second] = words.split(" ");
    if (second) groups.set(first, [...(groups.get(first) ?? []), { word: second, describe: summary }]);
  }
  return groups;
}

/** A text in single quotes, as every one of the three shells reads it. */
export const quoteFor = (shell: "bash" | "zsh" | "fish", text: string) =>
  shell === "fish"
    ? `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`
    : `'${text.replaceAll("'", "'\\''")}'`;
