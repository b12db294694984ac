/** Programs that say nothing about a project, whatever they are given. */
const IDLE = [
  "true",
  ":",
  "echo",
  "printf",
  "exit",
  "sleep",
  "pwd",
  "cd",
  "date",
  "whoami",
  "uname",
  "yes",
  "wait",
];
const SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/** Programs that only run another one. */
const WRAPPERS = ["env", "command", "exec", "nice", "time", "nohup", "setsid", "builtin", "busybox"];

const nameOf = (word: string) => word.slice(word.lastIndexOf("/") + 1);

/**
 * A command that obviously is no test: its result would be the same if the work had not been done. Only what anybody can see
 * at once; whoever wants to hide it writes a script, and a reader of the record sees its name.
 */
export function testsNothing(argv: readonly string[]): boolean {
  const words = unwrapped(argv);
  const [first = "", ...rest] = words;
  if (!SHELLS.includes(nameOf(first))) return IDLE.includes(nameOf(first));
  const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
  return at >= 0 && isIdleLine(rest[at + 1] ?? "");
}

function unwrapped(argv: readonly string[]): readonly string[] {
  let words = argv;
  while (WRAPPERS.includes(nameOf(words[0] ?? ""))) {
    const next = words.findIndex((word, index) => index > 0 && !/^-|^\w+=|^\d+$/.test(word));
    if (next < 0) return words;
    words = words.slice(next);
  }
  return words;
}

/** A line whose every command is idle. What it quotes, substitutes or groups is left to a human's eyes. */
function isIdleLine(line: string): boolean {
  if (/[`(){}]|\$\(/.test(line)) return false;
  const commands = line
    .split(/&&|\|\||[;\n|&]/)
    .map((one) =>
      one
        .trim()
        .split(/\s+/)
        .filter((word) => !/^\w+=/.test(word)),
    )
    .filter((words) => words.length > 0 && words[0] !== "");
  return commands.every((words) => testsNothing(words));
}
