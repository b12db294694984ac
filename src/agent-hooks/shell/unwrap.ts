import { resolve } from "node:path";
import { programOf, SHELLS, type ShellCommand, type ShellWord } from "./command.ts";

/** Text that a command hands to a shell, with the environment that it finds there. */
export interface InnerText {
  text: string;
  around: ShellCommand;
}

/** Programs that run the command behind them: options that take a word of their own, and words before the command. */
const WRAPPERS: Readonly<Record<string, { valued: string; operands: number }>> = {
  builtin: { valued: "", operands: 0 },
  busybox: { valued: "", operands: 0 },
  caffeinate: { valued: "tw", operands: 0 },
  chronic: { valued: "", operands: 0 },
  command: { valued: "", operands: 0 },
  doas: { valued: "uC", operands: 0 },
  exec: { valued: "a", operands: 0 },
  flock: { valued: "wE", operands: 1 },
  ionice: { valued: "cnp", operands: 0 },
  nice: { valued: "n", operands: 0 },
  nohup: { valued: "", operands: 0 },
  parallel: { valued: "jnNa", operands: 0 },
  setsid: { valued: "", operands: 0 },
  stdbuf: { valued: "ioe", operands: 0 },
  strace: { valued: "eopsPE", operands: 0 },
  sudo: { valued: "ugCDhpRrTt", operands: 0 },
  time: { valued: "of", operands: 0 },
  timeout: { valued: "ks", operands: 1 },
  unbuffer: { valued: "", operands: 0 },
  watch: { valued: "nq", operands: 0 },
  xargs: { valued: "aEdILnPs", operands: 0 },
};

/** The commands that are really started, and texts that are command lines themselves. */
export function unwrap(command: ShellCommand): (ShellCommand | InnerText)[] {
  const program = programOf(command);
  if (SHELLS.has(program)) return unwrapShell(command);
  if (program === "env") return unwrapEnvironment(command);
  if (program === "eval") return [{ text: joined(command.words.slice(1)), around: command }];
  if (program === "script" || program === "su") return unwrapScript(command);
  if (program === "find") return [command, ...unwrapFind(command)];
  if (program === "git") return [command, ...runByGit(command)];
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (!wrapper) return [command];
  // `command -v git` asks where git is.
  if (program === "command" && /^-\w*[vV]/.test(command.words[1]?.text ?? "")) return [command];
  const at = skipOptions(command.words, 1, wrapper.valued) + wrapper.operands;
  return at < command.words.length ? unwrap(startingAt(command, at)) : [command];
}

const startingAt = (command: ShellCommand, at: number): ShellCommand => ({
  ...command,
  words: command.words.slice(at),
});

const joined = (words: readonly ShellWord[]) => words.map((word) => word.text).join(" ");

/** The place of the first word that is no option. */
function skipOptions(words: readonly ShellWord[], from: number, valued: string): number {
  let at = from;
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    if (text === "--") return at + 1;
    if (!text.startsWith("-")) return at;
    if (text.length === 2 && valued.includes(text[1] ?? "")) at++;
  }
  return at;
}

function unwrapShell(command: ShellCommand): (ShellCommand | InnerText)[] {
  let takesText = false;
  for (let at = 1; at < command.words.length; at++) {
    const word = command.words[at];
    const text = word?.text ?? "";
    if (/^-[a-z]*c[a-z]*$/i.test(text)) takesText = true;
    if (/^[-+][oO]$|^--(?:rcfile|init-file)$/.test(text)) at++;
    else if (!/^[-+]/.test(text)) return takesText && word?.known ? [{ text, around: command }] : [command];
  }
  return command.input === undefined ? [command] : [{ text: command.input, around: command }];
}

function unwrapEnvironment(command: ShellCommand): (ShellCommand | InnerText)[] {
  const settings: Record<string, string> = { ...command.settings };
  const unset = [...command.unset];
  let folder = command.folder;
  const { words } = command;
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? "";
    const next = () => words[++at]?.text ?? "";
    if (text === "-" || text === "-i" || text === "--ignore-environment") unset.push("*");
    else if (text === "-u" || text === "--unset") unset.push(next());
    else if (/^-u.|^--unset=/.test(text)) unset.push(text.replace(/^-u|^--unset=/, ""));
    else if (text === "-C" || text === "--chdir") folder = resolve(folder ?? "/", next());
    else if (text === "-S" || text === "--split-string")
      return [{ text: joined(words.slice(at + 1)), around: { ...command, settings, unset, folder } }];
    else if (/^[A-Za-z_]\w*=/.test(text))
      settings[text.slice(0, text.indexOf("="))] = text.slice(text.indexOf("=") + 1);
    else if (!text.startsWith("-"))
      return unwrap({ ...command, settings, unset, folder, words: words.slice(at) });
  }
  return [command];
}

/** `script -qec TEXT FILE` on Linux, `script -q FILE COMMAND…` elsewhere; `su -c TEXT`. */
function unwrapScript(command: ShellCommand): (ShellCommand | InnerText)[] {
  const { words } = command;
  const at = words.findIndex((word) => /^-[a-z]*c$|^--command$/i.test(word.text));
  const attached = words.find((word) => word.text.startsWith("--command="));
  if (attached) return [{ text: attached.text.slice("--command=".length), around: command }];
  if (at > 0) return [{ text: words[at + 1]?.text ?? "", around: command }];
  const file = skipOptions(words, 1, "tEIOBmo");
  return programOf(command) === "script" && file + 1 < words.length
    ? unwrap(startingAt(command, file + 1))
    : [command];
}

/** What `find` finds lies below where it begins; `{}` stands for one of those places. */
function unwrapFind(command: ShellCommand): (ShellCommand | InnerText)[] {
  const { words } = command;
  const end = words.findIndex((word, at) => at > 0 && /^[-(!]/.test(word.text));
  const starts = words.slice(1, end < 0 ? words.length : end);
  return words.flatMap((word, at) => {
    if (word.text === "-delete") return [{ ...command, words: [{ ...word, text: "rm" }, ...starts] }];
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word.text)) return [];
    const rest = words.slice(at + 1);
    const last = rest.findIndex((one) => one.text === ";" || one.text === "+");
    const started = last < 0 ? rest : rest.slice(0, last);
    return unwrap({ ...command, words: started.flatMap((one) => (one.text === "{}" ? starts : [one])) });
  });
}

/** `rebase --exec`, `bisect run` and `submodule foreach` start what they are given. */
function runByGit(command: ShellCommand): (ShellCommand | InnerText)[] {
  const { words } = command;
  const has = (name: string) => words.findIndex((word) => word.text === name);
  if (has("rebase") > 0)
    return words.flatMap((word, at) => {
      if (word.text === "-x" || word.text === "--exec")
        return [{ text: words[at + 1]?.text ?? "", around: command }];
      return word.text.startsWith("--exec=")
        ? [{ text: word.text.slice("--exec=".length), around: command }]
        : [];
    });
  const [run, foreach] = [has("run"), has("foreach")];
  if (has("bisect") > 0 && run > 0) return unwrap(startingAt(command, run + 1));
  if (has("submodule") > 0 && foreach > 0)
    return [{ text: joined(words.slice(skipOptions(words, foreach + 1, ""))), around: command }];
  return [];
}
