import { resolve } from "node:path";
import type { Script, ShellCommand } from "./command.ts";
import { unwrap } from "./unwrap.ts";

/** Words that begin something other than a command. */
const RESERVED =
  /^(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|function|time|select|in|coproc)$/;
const PLAIN = /^[\w ./:@%+,=-]+$/;

/**
 * Most lines that agents write have no quotes, variables or operators in them, and need no parser, which costs more than
 * everything else that the hook does. Undefined for all others.
 */
export function readPlain(text: string, folder: string): Script | undefined {
  if (!PLAIN.test(text)) return undefined;
  const words = text.trim().split(/ +/);
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [program] = words.slice(first);
  if (first < 0 || program === undefined || RESERVED.test(program)) return undefined;
  const settings = Object.fromEntries(
    words
      .slice(0, first)
      .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
  );
  const commands = unwrap({
    words: words.slice(first).map((word) => ({ text: word, known: true })),
    settings,
    unset: [],
    outputs: [],
    input: undefined,
    folder: resolve(folder),
    readers: [],
  });
  return commands.every(isCommand) ? { commands, understood: true } : undefined;
}

const isCommand = (one: ReturnType<typeof unwrap>[number]): one is ShellCommand => !("text" in one);
