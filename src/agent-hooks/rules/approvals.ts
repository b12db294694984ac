import { AGENT_SIGNS } from "../../model/actor.ts";
import type { Refusal } from "../refusal.ts";
import {
  baseName,
  programOf,
  type Script,
  SHELLS,
  type ShellCommand,
  type ShellWord,
} from "../shell/command.ts";

const HUMAN_ONLY: Readonly<Record<string, string>> = {
  approve: "approve a merge",
  unlock: "unlock a protected branch",
  uninstall: "uninstall pawl",
  "home set": "move the state elsewhere",
  "repo remove": "remove a repository",
  "approver add": "change who may approve",
  "approver remove": "change who may approve",
  "remote trust": "trust a remote",
};

const PACKAGE_RUNNERS = new Set(["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "corepack"]);
const RUNNER_WORDS = new Set(["exec", "dlx", "run", "x", "--", "-y", "--yes"]);

/**
 * Programs that only handle text: what they are given is not run by them. Pawl itself is one, because its findings and
 * handoffs may well speak of approving.
 */
const TEXT_PROGRAMS = new Set(
  [
    "echo printf cat tee grep egrep fgrep rg ag ack sed head tail less wc sort uniq cut tr diff",
    "cmp jq yq ls cp mv rm mkdir touch cd git gh glab test [ true false : export local declare",
    "read set which type man fold fmt nl basename dirname realpath apply_patch",
  ].flatMap((line) => line.split(" ")),
);

/** Fails closed: whatever may well call for what only a human may do, and cannot be shown to be mere text, is refused. */
export function findApproval(text: string, script: Script): Refusal | undefined {
  for (const command of script.commands) {
    const words = wordsForPawl(command);
    const refusal = words
      ? judgePawl(words, command)
      : (findDisguisedAuthor(command) ?? findInvention(command) ?? judgeOther(command, script));
    if (refusal) return refusal;
  }
  return !script.understood && soundsHumanOnly(text) ? refuseUnclear() : undefined;
}

/** Whether a text that nobody parsed may call one of those commands; quotes, commas and brackets are what code puts between. */
function soundsHumanOnly(text: string): boolean {
  const plain = text.replace(/["'`\\,()[\]{}]+/g, " ");
  return /pawl(?:@[\w.^~-]+)?(?:\.[cm]?js)?\s+(?:-\S+\s+)*(?:approve|unlock|uninstall|home\s+set|repo\s+remove|approver\s+(?:add|remove)|remote\s+trust)(?![\w-])/.test(
    plain,
  );
}

/** The words behind the program's name when the command is pawl, in whichever way it is started. */
function wordsForPawl(command: ShellCommand): readonly ShellWord[] | undefined {
  const words = command.words.map((word) => word.text);
  const program = programOf(command);
  if (isPawl(words[0] ?? "")) return command.words.slice(1);
  const isNode = /^(?:node|nodejs|bun|deno|tsx)$/.test(program);
  const isRunner = PACKAGE_RUNNERS.has(program);
  if (!isNode && !isRunner) return undefined;
  const at = words.findIndex((word, place) => place > 0 && !word.startsWith("-") && !RUNNER_WORDS.has(word));
  const script = at < 0 ? undefined : command.words[at];
  if (script && (isPawl(script.text) || !script.known)) {
    const rest = command.words.slice(at + 1);
    return isPawl(script.text) || humanOnly(rest) ? rest : undefined;
  }
  return undefined;
}

const isPawl = (word: string) => /^(?:pawl(?:@[\w.^~-]+)?|pawl\.[cm]?js)$/.test(baseName(word));

function humanOnly(words: readonly ShellWord[]): string | undefined {
  const name = commandsIn(words)
    .flatMap(({ text }, at, all) => (at === 0 ? [text, `${text} ${all[1]?.text}`] : []))
    .concat(afterValue(words))
    .find((one) => Object.hasOwn(HUMAN_ONLY, one));
  const asks = words.some(({ text }) => text === "--help" || text === "-h");
  return name !== undefined && !asks ? name : undefined;
}

const commandsIn = (words: readonly ShellWord[]) => words.filter(({ text }) => !text.startsWith("-"));

/** What the command is if the options before it take a word of their own, as `--actor WHO` does. */
function afterValue(words: readonly ShellWord[]): string[] {
  const first = words.findIndex(({ text }) => !text.startsWith("-"));
  if (first < 1) return [];
  const rest = words.slice(first + 1);
  const [one, two] = commandsIn(rest).map(({ text }) => text);
  return one === undefined ? [] : [one, `${one} ${two}`, ...afterValue(rest)];
}

function judgePawl(words: readonly ShellWord[], command: ShellCommand): Refusal | undefined {
  const name = humanOnly(words);
  if (name) return refuse(`\`pawl ${name}\` is a human's decision.`, name);
  if (commandsIn(words)[0]?.known === false) return refuseUnclear();
  return findDisguise(command, "pawl");
}

/** Whose work and whose word it is, is known by variables that the agent's own program sets, and nobody else. */
function findDisguise({ unset, settings }: ShellCommand, program: string): Refusal | undefined {
  const taken = AGENT_SIGNS.find(
    (sign) => unset.includes(sign) || unset.includes("*") || settings[sign] === "",
  );
  const given = AGENT_SIGNS.find((sign) => settings[sign]);
  if (!taken && !given) return undefined;
  return {
    rule: "Records say who acted.",
    fact: taken
      ? `This removes the agent's name from the environment of ${program}.`
      : `This puts a different name into the environment of ${program}: ${given}.`,
    way: `Run ${program} as yourself; pawl records who it was.`,
  };
}

/** Git commands that move a branch; whoever runs them is an author. */
export const MOVES =
  /^(?:commit|commit-tree|merge|rebase|cherry-pick|revert|am|pull|reset|update-ref|fast-import|switch|checkout)$/;

function findDisguisedAuthor(command: ShellCommand): Refusal | undefined {
  if (programOf(command) !== "git" || !command.words.some(({ text }) => MOVES.test(text))) return undefined;
  return findDisguise(command, "git");
}

/** The hook hears of a session from the agent's own program. */
function findInvention(command: ShellCommand): Refusal | undefined {
  const isNode = /^(?:node|nodejs|bun|deno|tsx)$/.test(programOf(command));
  if (!isNode || !command.words.slice(1).some(({ text }) => baseName(text) === "hook.cjs")) return undefined;
  return {
    rule: "Records say who acted.",
    fact: "This reports to pawl's hook a session or a tool that the agent's own program did not report.",
    way: "The hook runs on its own; `pawl session` says where you are.",
  };
}

function judgeOther(command: ShellCommand, script: Script): Refusal | undefined {
  const program = programOf(command);
  const text = `${command.words.map((word) => word.text).join(" ")}\n${command.input ?? ""}`;
  const unknownProgram = command.words[0]?.known === false;
  if (unknownProgram && humanOnly(command.words.slice(1))) return refuseUnclear();
  if (isCopyOfPawl(command, script)) return refuseUnclear();
  if (!soundsHumanOnly(text)) return undefined;
  const isText = TEXT_PROGRAMS.has(program) && !unknownProgram;
  return isText &&
    command.readers.every((reader) => TEXT_PROGRAMS.has(reader)) &&
    !isRunLater(command, script)
    ? undefined
    : refuseUnclear();
}

/** Pawl under another name that the same line gave it. */
function isCopyOfPawl(command: ShellCommand, script: Script): boolean {
  if (!command.words.some(({ text }) => Object.hasOwn(HUMAN_ONLY, text))) return false;
  const started = command.words.map(({ text }) => baseName(text));
  return script.commands.some((other) => {
    if (!/^(?:cp|mv|ln|install)$/.test(programOf(other))) return false;
    const files = other.words.slice(1).map(({ text }) => baseName(text));
    return files.some(isPawl) && files.some((file) => file !== "" && started.includes(file));
  });
}

/** The file that the text goes to is started in the same line. */
function isRunLater({ outputs }: ShellCommand, script: Script): boolean {
  const files = outputs.map((word) => baseName(word.text));
  return script.commands.some((other) => {
    const [first, ...others] = other.words.map((word) => baseName(word.text));
    const runs =
      SHELLS.has(first ?? "") || /^(?:expect|source|\.|python\d?|node|perl|ruby)$/.test(first ?? "");
    return files.some((file) => file === first || (runs && others.includes(file)));
  });
}

function refuse(fact: string, name: string): Refusal {
  const what = HUMAN_ONLY[name] ?? "do this";
  const ready = name === "approve" ? "Run `pawl check --stage close`, then ask" : "Ask";
  return {
    rule: `Only a human may ${what}.`,
    fact,
    way: `${ready} the person you work for to run it in their own terminal.`,
  };
}

function refuseUnclear(): Refusal {
  return {
    rule: "Only a human approves, unlocks and uninstalls.",
    fact: "This line looks as if it would start such a command, and pawl cannot tell what it does.",
    way: "Run `pawl check --stage close`, then ask the person you work for. To write about it, use a file tool.",
  };
}
