import { resolve } from "node:path";
import { programOf, type ShellCommand, type ShellWord } from "./shell/command.ts";

/** A git command in its parts: what stands before the subcommand, and what behind. */
export interface GitLine {
  /** Settings for this one command: `key=value` of every -c, `key=VARIABLE` of every --config-env. */
  settings: string[];
  /** Another place for git's own programs. */
  execPath: boolean;
  folder: string | undefined;
  name: string;
  args: readonly ShellWord[];
}

/** Options before the subcommand that take the next word. */
const VALUED = new Set(["--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source"]);

export function readGit(command: ShellCommand): GitLine | undefined {
  const program = programOf(command);
  const { words } = command;
  const line: GitLine = { settings: [], execPath: false, folder: command.folder, name: "", args: [] };
  // Git's programs have names of their own in its own folder.
  if (/^git-\w/.test(program)) return { ...line, name: program.slice("git-".length), args: words.slice(1) };
  if (program !== "git") return undefined;
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    const next = () => words[++at]?.text ?? "";
    if (text === "-C") line.folder = inFolder(line.folder, words[++at]);
    else if (text === "-c" || text === "--config-env") line.settings.push(next());
    else if (text.startsWith("--config-env=")) line.settings.push(text.slice("--config-env=".length));
    else if (text.startsWith("--exec-path=")) line.execPath = true;
    else if (VALUED.has(text)) next();
    else if (!text.startsWith("-")) return { ...line, name: text, args: words.slice(at + 1) };
  }
  return line;
}

function inFolder(folder: string | undefined, word: ShellWord | undefined): string | undefined {
  if (!word?.known || (folder === undefined && !word.text.startsWith("/"))) return undefined;
  return resolve(folder ?? "/", word.text);
}

/** Options of a subcommand that take a value, and letters whose value can only be attached. */
interface Valued {
  letters?: string;
  attached?: string;
  longs?: readonly string[];
}

export interface ParsedArguments {
  longs: string[];
  letters: Set<string>;
  operands: ShellWord[];
}

/** Sorts the words of a subcommand; a value such as a commit's message is none of the three. */
export function parseArguments(args: readonly ShellWord[], valued: Valued = {}): ParsedArguments {
  const parsed: ParsedArguments = { longs: [], letters: new Set(), operands: [] };
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (!word) continue;
    const { text } = word;
    if (text === "--") {
      parsed.operands.push(...args.slice(at + 1));
      break;
    }
    if (text.startsWith("--")) {
      parsed.longs.push(text);
      if (valued.longs?.includes(text)) at++;
    } else if (text.startsWith("-") && text.length > 1) {
      if (addLetters(text, valued, parsed.letters)) at++;
    } else parsed.operands.push(word);
  }
  return parsed;
}

/** Adds a row such as `-anm`; true when its last letter takes the next word. */
function addLetters(text: string, valued: Valued, letters: Set<string>): boolean {
  for (let place = 1; place < text.length; place++) {
    const letter = text[place] ?? "";
    letters.add(letter);
    if (valued.attached?.includes(letter)) return false;
    if (valued.letters?.includes(letter)) return place === text.length - 1;
  }
  return false;
}

/** Whether a long option is given, whole or as a beginning that git still takes for it. */
export function hasLong({ longs }: ParsedArguments, long: string, shortest = long): boolean {
  return longs.some((one) => {
    const name = one.split("=")[0] ?? "";
    return name.startsWith(shortest) && long.startsWith(name);
  });
}

/** The branch that a command leaves checked out, where that is plain to see. */
export function switchedTo({ name, args }: GitLine): string | undefined {
  if (name !== "checkout" && name !== "switch") return undefined;
  const words = args.map((word) => (word.known ? word.text : ""));
  const at = words.findIndex((word) => /^-[bBcC]$|^--(?:force-)?create$|^--orphan$/.test(word));
  if (at >= 0) return words[at + 1] || undefined;
  const [only, ...others] = words.filter((word) => !word.startsWith("-"));
  // `git checkout NAME` may as well be about a file.
  return name === "switch" && others.length === 0 ? only || undefined : undefined;
}
