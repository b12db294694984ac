import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { parseInput } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import { VERSION } from "../model/version.ts";
import { operations } from "../ops/index.ts";
import type { AnyOperation, Command } from "../ports/operation.ts";
import { type Answer, answerOf } from "../runtime/answer.ts";
import { openRuntime } from "../runtime/open.ts";
import { run } from "../runtime/run.ts";
import { type CommonOptions, type ParsedLine, parseLine } from "./arguments.ts";
import { type OwnCommand, ownCommands, surfaces } from "./own-commands.ts";
import { styleFor } from "./style.ts";
import { seenFrom } from "./target-folder.ts";
import { findOperation } from "./words.ts";

/** The outside of the process, so that tests can be the outside. */
export interface Io {
  cwd: string;
  env: Environment;
  out(text: string | Buffer): void;
  err(text: string | Buffer): void;
  outIsTerminal(): boolean;
  errIsTerminal(): boolean;
  /** What a human types at a terminal in answer to this; undefined when standard input is none. */
  ask(question: string): string | undefined;
  /** The text of a file the user named; `-` is standard input. */
  readText(path: string): string;
}

/** Runs one command line. Everything is printed here, and the exit code is returned, never set from within. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  // Known before anything can fail, so that even a wrong command line is answered in the form that was asked for.
  const json = beforeRest(argv).includes("--json");
  try {
    return await command(argv, io);
  } catch (error) {
    return report(error, json, io);
  }
}

function beforeRest(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("--");
  return at < 0 ? argv : argv.slice(0, at);
}

async function command(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === "--version" || argv[0] === "-v") {
    io.out(`${VERSION}\n`);
    return 0;
  }
  const asked = argv[0] === "help" ? [...argv.slice(1), "--help"] : commandFirst(argv);
  if (asked[0] === "--help" || asked[0] === "-h") return help(undefined, io);
  if (asked[0] === "mcp") return serveMcp(asked.slice(1), io);
  if (asked[0] === "ui") return serveUi(asked.slice(1), io);
  const found = findOperation([...Object.keys(commands), ...Object.keys(surfaces)], asked);
  if ("group" in found) return help(found.group, io);
  const operation = await load(found.id);
  const line = await parseOrHelp(operation, found.rest, io);
  if (!line) return 0;
  readFiles(operation, line.input, io);
  const answer =
    "answer" in operation
      ? answerOf(operation.answer(parseInput(operation.input, line.input), await loadAll()), [])
      : await run(operation, line.input, openAt(io, line.common, line.input[operation.cli?.folder ?? ""]), {
          dryRun: line.common["dry-run"],
          key: line.common.key,
        });
  await print(operation, answer, line.common, io);
  return answer.ready ? 0 : 1;
}

/** Another surface, with nothing of this one's but its start. */
async function serveMcp(rest: readonly string[], io: Io): Promise<number> {
  const { mcpCommand } = await import("../mcp/command.ts");
  const line = await parseOrHelp(mcpCommand, rest, io);
  if (!line) return 0;
  const { json, actor, key, "dry-run": dryRun } = line.common;
  if (json || actor || key || dryRun)
    throw new Failure("usage", "not_here", "`pawl mcp` takes --tools and --agent only.", {
      hint: "Who calls is an agent, and what it does is said in each call.",
    });
  const { tools, agent } = parseInput(mcpCommand.input, line.input);
  const { serve } = await import("../mcp/serve.ts");
  await serve({ tier: tools ?? "core", agent, env: io.env, version: VERSION });
  return 0;
}

async function serveUi(rest: readonly string[], io: Io): Promise<number> {
  const { uiCommand } = await import("../web/command.ts");
  const line = await parseOrHelp(uiCommand, rest, io);
  if (!line) return 0;
  const { port, "no-open": noOpen } = parseInput(uiCommand.input, line.input);
  const { runUi } = await import("../web/run-ui.ts");
  const say = (text: string) => io.err(`${text}\n`);
  await runUi({
    cwd: io.cwd,
    env: io.env,
    port,
    open: !noOpen,
    say,
    ask: async (question) => io.ask(question),
  });
  return 0;
}

/** What a line says, unless it asks for help. */
async function parseOrHelp(
  described: Command,
  rest: readonly string[],
  io: Io,
): Promise<ParsedLine | undefined> {
  const line = await parseLine(described, wantsHelp(rest) ? ["--help"] : rest);
  if (!line.common.help) return line;
  const { commandHelp } = await import("./help.ts");
  io.out(`${commandHelp(described, styleFor(io.outIsTerminal(), io.env))}\n`);
  return undefined;
}

/** `pawl --json task list` means what `pawl task list --json` means. */
function commandFirst(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => word !== "--json" && word !== "--dry-run");
  return at <= 0 || argv[at]?.startsWith("-") ? argv : [...argv.slice(at), ...argv.slice(0, at)];
}

/** Somebody who asks for help gets it, also from a line that is not right yet. */
function wantsHelp(rest: readonly string[]): boolean {
  return beforeRest(rest).some((word) => word === "--help" || word === "-h");
}

const commands: Readonly<Record<string, () => Promise<AnyOperation | OwnCommand>>> = {
  ...operations,
  ...ownCommands,
};

async function load(id: string): Promise<AnyOperation | OwnCommand> {
  const loader = commands[id];
  if (!loader) throw new Error(`The registry has no operation "${id}"`);
  return loader();
}

/** Everything that help and completions tell of. */
async function loadAll(): Promise<Command[]> {
  const all: (() => Promise<Command>)[] = [...Object.values(commands), ...Object.values(surfaces)];
  return Promise.all(all.map((one) => one()));
}

async function help(group: string | undefined, io: Io): Promise<number> {
  const { overview } = await import("./help.ts");
  io.out(`${overview(await loadAll(), group, styleFor(io.outIsTerminal(), io.env))}\n`);
  return 0;
}

function openAt(io: Io, common: CommonOptions, folder: unknown) {
  return openRuntime({
    ...seenFrom(io, folder),
    actor: common.actor,
    operations: Object.keys(operations),
    oneShot: true,
    progress: (chunk) => io.err(chunk),
    ask: async (question) => io.ask(question),
  });
}

function readFiles(operation: Command, input: Record<string, unknown>, io: Io): void {
  for (const field of operation.cli?.files ?? []) {
    const path = input[field];
    if (typeof path === "string") input[field] = io.readText(path);
  }
}

async function print(
  operation: AnyOperation | OwnCommand,
  answer: Answer,
  common: CommonOptions,
  io: Io,
): Promise<void> {
  if (common.json) {
    const { data, next, warnings, planned } = answer;
    io.out(`${JSON.stringify({ schema: 1, ok: true, data, next, warnings, planned })}\n`);
    return;
  }
  const rehearsed = answer.planned && "rehearse" in operation && operation.rehearse;
  if (answer.body) {
    const { printBody } = await import("./pager.ts");
    await printBody(answer.body, io);
  }
  const text =
    rehearsed || answer.body ? "" : operation.text(answer.data, styleFor(io.outIsTerminal(), io.env));
  if (text !== "") io.out(printable(text.endsWith("\n") ? text : `${text}\n`));
  const style = styleFor(io.errIsTerminal(), io.env);
  for (const step of answer.planned ?? []) io.err(printable(`would ${step.do} ${step.path}\n`));
  for (const warning of answer.warnings) io.err(printable(`${style.yellow("note:")} ${warning}\n`));
  if (answer.next)
    io.err(
      printable(`${style.dim("next:")} ${answer.next.command}  ${style.dim(`(${answer.next.reason})`)}\n`),
    );
}

function report(error: unknown, json: boolean, io: Io): number {
  if (!(error instanceof Failure)) return reportBug(error, json, io);
  if (json) {
    const { code, message, hint, details } = error;
    io.out(`${JSON.stringify({ schema: 1, ok: false, error: { code, message, hint, details } })}\n`);
  } else {
    const style = styleFor(io.errIsTerminal(), io.env);
    io.err(printable(`${style.red("pawl:")} ${error.message}\n${error.hint ? `${error.hint}\n` : ""}`));
  }
  return error.exitCode;
}

function reportBug(error: unknown, json: boolean, io: Io): number {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `This is a bug in pawl ${VERSION}, not your mistake.`;
  if (json) {
    const body = {
      code: "internal",
      message,
      hint: "Please report it.",
      details: { version: VERSION, stack },
    };
    io.out(`${JSON.stringify({ schema: 1, ok: false, error: body })}\n`);
  } else io.err(`pawl: ${message} Please report it.\n${stack}\n`);
  return 70;
}
