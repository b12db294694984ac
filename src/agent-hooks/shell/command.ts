/** A word of a command line without its quotes. */
export interface ShellWord {
  text: string;
  /** False when only the shell knows what it will be; then `text` holds the source of the expansion. */
  known: boolean;
}

/** One program that a command line starts, as far as it can be told without running anything. */
export interface ShellCommand {
  words: readonly ShellWord[];
  /** What it finds in its environment besides what the agent's shell has. */
  settings: Readonly<Record<string, string>>;
  /** What is taken out of its environment; `*` stands for everything. */
  unset: readonly string[];
  /** Files that its output is sent to. */
  outputs: readonly ShellWord[];
  /** The text that it reads, when it is written in the line. */
  input: string | undefined;
  /** Where it runs; undefined when that cannot be told. */
  folder: string | undefined;
  /** The programs behind it in a pipeline. */
  readers: readonly string[];
}

export interface Script {
  commands: readonly ShellCommand[];
  /** False when some of the text could not be read as a command line. */
  understood: boolean;
}

/** The program's name without its folder. */
export function programOf(command: ShellCommand): string {
  return baseName(command.words[0]?.text ?? "");
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/\.exe$/i, "");
}

export const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"]);
