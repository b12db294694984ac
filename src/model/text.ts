import { shorten } from "./ids.ts";
import type { Problem } from "./record.ts";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  /** Every moment in a line of ours, by the clock of whoever reads it. */
  times(line: string): string;
}

/** A moment as records write it, and as one without a clock says it. */
const MOMENT = /(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d):\d\d(?:\.\d+)?Z| (\d\d:\d\d) UTC)/g;

/** A line in which every moment is said in another way; `say` is given it as ISO 8601. */
export const sayTimes = (line: string, say: (moment: string) => string): string =>
  line.replace(MOMENT, (_all, day: string, written?: string, said?: string) =>
    say(`${day}T${written ?? said}:00Z`),
  );

const same = (text: string) => text;
/** For everybody whose terminal and whose clock are not known. */
export const PLAIN: Style = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
  times: (line) => sayTimes(line, (moment) => `${moment.slice(0, 16).replace("T", " ")} UTC`),
};

/** Left-aligned columns, two spaces apart; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, visible(cell));
    });
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          index === row.length - 1
            ? cell
            : cell + " ".repeat(Math.max(0, (widths[index] ?? 0) - visible(cell))),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** How many columns it takes on a terminal, whatever its colours. */
export function visible(text: string): number {
  return text.includes("\u001b") ? text.replace(COLOUR, "").length : text.length;
}

/** A file's name in a list of lines: one with an end of line in it would pass for two, or for a line of ours. */
export const onOneLine = (path: string): string => (/[\n\r]/.test(path) ? JSON.stringify(path) : path);

export const firstLine = (text: string, limit = 100) => shorten(text.split("\n")[0] ?? "", limit);

export function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : `  ${line}`))
    .join("\n");
}

/** Paragraphs with an empty line between them; empty ones vanish. */
export function paragraphs(...parts: (string | undefined | false)[]): string {
  return parts.filter((part): part is string => typeof part === "string" && part !== "").join("\n\n");
}

/** `a, b and 3 more`. */
export function firstFew(items: readonly string[], most: number): string {
  const more = items.length > most ? ` and ${items.length - most} more` : "";
  return items.slice(0, most).join(", ") + more;
}

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`;
}

export function statusColour(status: string, style: Style): string {
  switch (status) {
    case "active":
    case "fixed":
    case "pass":
      return style.green(status);
    case "blocked":
    case "fail":
      return style.red(status);
    case "review":
    case "pass_with_findings":
      return style.yellow(status);
    case "open":
      return style.cyan(status);
    default:
      return style.dim(status);
  }
}

export function warningsOf(problems: readonly Problem[]): string[] {
  return problems.map((problem) => (problem.hint ? `${problem.message} ${problem.hint}` : problem.message));
}

/** A command as it is written in the configuration, without the shell that is put around it. */
export const commandLine = (argv: readonly string[]) =>
  argv[0] === "sh" && argv[1] === "-c" ? (argv[2] ?? "").replace(/ "\$@"$/, "") : argv.join(" ");

/** A word as one can type it in a shell. */
export const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
