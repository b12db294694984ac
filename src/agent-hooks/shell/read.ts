import { resolve } from "node:path";
import type { Assignment, Command, ParsedScript, Pipeline, Redirection, SyntaxNode } from "unbash";
import { programOf, type Script, SHELLS, type ShellCommand, type ShellWord } from "./command.ts";
import type { Parser } from "./parser.ts";
import { unwrap } from "./unwrap.ts";
import { readWord, type Variables, wordsOf } from "./word.ts";

/** What earlier commands of a line leave for later ones. A subshell and each part of a pipeline have a copy. */
interface State {
  folder: string | undefined;
  variables: Variables;
  settings: Record<string, string>;
  unset: string[];
}

interface Reading {
  parser: Parser;
  commands: ShellCommand[];
  understood: boolean;
  depth: number;
}

/** Scripts in scripts in scripts: deeper than this nobody writes by mistake. */
const DEEPEST = 6;

/** Every program that a text would start, in the order in which it is written; branches that may not run count too. */
export function readScript(text: string, folder: string | undefined, parser: Parser, depth = 0): Script {
  const reading: Reading = { parser, commands: [], understood: depth <= DEEPEST, depth };
  if (!reading.understood) return { commands: [], understood: false };
  const script = parser.parse(text);
  if (script.errors?.length) reading.understood = false;
  visitChildren(reading, script, { folder, variables: {}, settings: {}, unset: [] });
  return { commands: reading.commands, understood: reading.understood };
}

function visit(reading: Reading, node: SyntaxNode, state: State): void {
  switch (node.type) {
    case "Command":
      visitCommand(reading, node, state);
      return;
    case "Pipeline":
      visitPipeline(reading, node, state);
      return;
    case "Script":
      if ((node as ParsedScript).errors?.length) reading.understood = false;
      visitChildren(reading, node, copy(state));
      return;
    case "Subshell":
      visitChildren(reading, node, copy(state));
      return;
    default:
      visitChildren(reading, node, state);
  }
}

function visitChildren(reading: Reading, node: SyntaxNode, state: State): void {
  reading.parser.forEachChild(node, (child) => visit(reading, child, state));
}

const copy = (state: State): State => ({
  folder: state.folder,
  variables: { ...state.variables },
  settings: { ...state.settings },
  unset: [...state.unset],
});

function visitPipeline(reading: Reading, node: Pipeline, state: State): void {
  const parts = node.commands.map((part) => {
    const from = reading.commands.length;
    visit(reading, part, copy(state));
    return { from, to: reading.commands.length };
  });
  for (const { from, to } of parts) {
    const behind = reading.commands.slice(to, parts.at(-1)?.to);
    const readers = behind.map(programOf);
    const isRead = behind.some((one) => SHELLS.has(programOf(one)) && one.words.length <= 2);
    for (let at = from; at < to; at++) {
      const command = reading.commands[at];
      if (!command) continue;
      reading.commands[at] = { ...command, readers };
      const said = isRead ? whatItSays(command) : undefined;
      if (said !== undefined) readInner(reading, said, command);
    }
  }
}

/** What a shell at the end of the pipeline would read from this command, if the line tells. */
function whatItSays(command: ShellCommand): string | undefined {
  const rest = command.words.slice(1).filter((word) => !/^-[neE]+$/.test(word.text));
  if (["echo", "printf"].includes(programOf(command))) return rest.map((word) => word.text).join(" ");
  return command.input;
}

function readInner(reading: Reading, text: string, around: ShellCommand): void {
  const inner = readScript(text, around.folder, reading.parser, reading.depth + 1);
  if (!inner.understood) reading.understood = false;
  for (const one of inner.commands) reading.commands.push(within(one, around));
}

/** A command started by another one has its environment. */
const within = (inner: ShellCommand, outer: ShellCommand): ShellCommand => ({
  ...inner,
  settings: { ...outer.settings, ...inner.settings },
  unset: [...outer.unset, ...inner.unset],
});

function visitCommand(reading: Reading, node: Command, state: State): void {
  // Substitutions run first, and inside quotes and here-documents too.
  visitChildren(reading, node, copy(state));
  const assigned = assignmentsOf(node, state.variables);
  if (!node.name) {
    Object.assign(state.variables, assigned);
    return;
  }
  const command: ShellCommand = {
    words: [node.name, ...node.args].flatMap((word) => wordsOf(word, state.variables)),
    settings: { ...state.settings, ...assigned },
    unset: [...state.unset],
    outputs: outputsOf(node.redirects, state.variables),
    input: inputOf(node.redirects, state.variables),
    folder: state.folder,
    readers: [],
  };
  for (const one of unwrap(command))
    if ("text" in one) readInner(reading, one.text, one.around);
    else reading.commands.push(one);
  applyBuiltin(command, state);
}

function assignmentsOf(node: Command, variables: Variables): Record<string, string> {
  const all = node.prefix.filter((one): one is Assignment => one.type === "Assignment");
  return Object.fromEntries(
    all.map(({ name, value, text }) => [
      name,
      value.type === "Word" ? readWord(value, variables).text : text.slice(text.indexOf("=") + 1),
    ]),
  );
}

const WRITES = new Set([">", ">>", ">|", "&>", "&>>", "<>", ">&"]);

function outputsOf(redirects: readonly Redirection[], variables: Variables): ShellWord[] {
  return redirects.flatMap((one) =>
    one.type === "Redirect" && one.target && WRITES.has(one.operator)
      ? [readWord(one.target, variables)]
      : [],
  );
}

function inputOf(redirects: readonly Redirection[], variables: Variables): string | undefined {
  const last = redirects.findLast((one) => one.type !== "Redirect");
  if (last?.type === "HereDoc") return last.body.text;
  return last?.type === "HereString" && last.target ? readWord(last.target, variables).text : undefined;
}

/** The few builtins after which later commands run elsewhere or with another environment. */
function applyBuiltin({ words: [program, ...args] }: ShellCommand, state: State): void {
  const operands = args.filter((word) => !/^[-+]\w/.test(word.text));
  if (program?.text === "cd" || program?.text === "pushd") {
    const [target] = operands;
    const told = target?.known && !/^[~-]/.test(target.text) && (state.folder ?? target.text.startsWith("/"));
    state.folder = told ? resolve(state.folder ?? "/", target.text) : undefined;
  }
  if (program?.text === "popd") state.folder = undefined;
  if (program?.text === "unset") state.unset.push(...operands.map((word) => word.text));
  // Without the mark of an export a variable is as good as gone for what is started.
  const unmarks = program?.text === "export" ? /^-\w*n/ : /^\+\w*x/;
  if (
    ["export", "declare", "typeset"].includes(program?.text ?? "") &&
    args.some((word) => unmarks.test(word.text))
  )
    state.unset.push(...operands.map((word) => word.text));
  else if (["export", "declare", "typeset", "readonly", "local"].includes(program?.text ?? ""))
    for (const { text } of operands) {
      const at = text.indexOf("=");
      const name = at < 0 ? text : text.slice(0, at);
      const value = at < 0 ? state.variables[name] : text.slice(at + 1);
      if (value === undefined) continue;
      state.variables[name] = value;
      if (program?.text === "export" || args.some((word) => /^-\w*x/.test(word.text)))
        state.settings[name] = value;
    }
}
