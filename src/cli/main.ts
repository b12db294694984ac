import type { AgentAbove } from "../files/agent-above.ts";
import { explainFileError } from "../files/durable.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { fieldInfo, type Parsed, parseInput } from "../model/input.ts";
import { printable } from "../model/printable.ts";
import { VERSION } from "../model/version.ts";
import { operations } from "../ops/index.ts";
import type { AnyOperation, Command } from "../ports/operation.ts";
import { type Answer, answerOf, exitCodeOf } from "../runtime/answer.ts";
import { openRuntime } from "../runtime/open.ts";
import { run } from "../runtime/run.ts";
import { type CommonOptions, optionName, type ParsedLine, parseLine, typed } from "./arguments.ts";
import { findCommand, noneOfGroup } from "./command-words.ts";
import { type AnyCommand, type Around, commands, loadAll, loadCommand, type OwnCommand } from "./commands.ts";
import { progressOn } from "./progress.ts";
import { styleFor } from "./style.ts";
import { seenFrom } from "./target-folder.ts";

/** The outside of the process, so that tests can be the outside. */
export interface Io {
  cwd: string;
  env: Environment;
  out(text: string | Buffer): void;
  err(text: string | Buffer): void;
  outIsTerminal(): boolean;
  errIsTerminal(): boolean;
  /** How big the terminal is that the output goes to. */
  outSize?(): { columns: number; rows: number } | undefined;
  /** Whoever read the output has gone, so that nothing more has to be made for them. */
  outIsGone?(): boolean;
  /** Whether the output is a pipe, which a reader can leave. */
  outIsPipe?(): boolean;
  /** Whether a human could sit there: what is asked and what is typed go through a terminal. */
  atTerminal(): boolean;
  /** What a human types at a terminal in answer to this; undefined when standard input is none. */
  ask(question: string): Promise<string | undefined>;
  /** The text of a file the user named; `-` is standard input. */
  readText(path: string): string;
  /** From here on this process serves others, and may have something to finish after it stopped serving. */
  serves?(): void;
  /** The agents that this process descends from, whatever its own environment says. */
  agentsAbove?(isGuard?: (run: string, pid: number) => boolean): AgentAbove[];
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
  const ids = Object.keys(commands);
  if (VERSION_FLAGS.includes(argv[0] ?? "")) {
    if (argv.includes("--json")) return carryOut(await loadCommand("version"), ["--json"], io);
    io.out(`${VERSION}\n`);
    return 0;
  }
  if (argv[0] === "help" || beforeRest(argv).some((word) => HELP_FLAGS.includes(word))) {
    const words = argv[0] === "help" ? argv.slice(1) : beforeRest(argv);
    return help(
      words.filter((word) => !HELP_FLAGS.includes(word)),
      io,
    );
  }
  const named = findCommand(ids, argv);
  if ("group" in named) {
    // Whoever asked for an object reads no help.
    if (argv.includes("--json")) throw noneOfGroup(ids, named.group);
    return help([named.group], io);
  }
  return carryOut(await loadCommand(named.id), named.rest, io);
}

const VERSION_FLAGS = ["--version", "-v", "-V"];
const HELP_FLAGS = ["--help", "-h"];

/** Somebody who asks for help gets it, also from a line that is not right yet. */
async function help(words: readonly string[], io: Io): Promise<number> {
  const { commandHelp, overview } = await import("./help.ts");
  const terminal = io.outIsTerminal();
  const style = styleFor(terminal, io.env);
  const isNamed = words.some((word) => !word.startsWith("-"));
  const named = isNamed ? findCommand(Object.keys(commands), words) : undefined;
  const text = named
    ? await commandHelp("group" in named ? named.group : named.id, style)
    : await overview(style);
  io.out(`${text}\n`);
  return 0;
}

/** Mistakes are told in the words of the command line, whether a line cannot be read or cannot be meant. */
async function carryOut(command: AnyCommand, words: readonly string[], io: Io): Promise<number> {
  try {
    return await answerLine(command, words, io);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "usage") throw error;
    const { explainUsage } = await import("./explain-usage.ts");
    throw explainUsage(command, error);
  }
}

async function answerLine(command: AnyCommand, words: readonly string[], io: Io): Promise<number> {
  const { common, input } = readCommand(command, words, io);
  if ("serve" in command) {
    refuseOptions(command, common);
    io.serves?.();
    await command.serve(input, io);
    return 0;
  }
  const answer =
    "answer" in command
      ? answerOf(await command.answer(input, around(io, common)), [])
      : await operate(command, input, common, io);
  await print(command, answer, common, io);
  return exitCodeOf(answer);
}

const around = (io: Io, common: CommonOptions): Around => ({
  loadAll,
  async ask(id) {
    const operation = (await loadCommand(id)) as AnyOperation;
    return (await operate(operation, parseInput(operation.input, {}), common, io)).data;
  },
});

async function operate(
  operation: AnyOperation,
  input: Parsed<Record<string, unknown>>,
  common: CommonOptions,
  io: Io,
): Promise<Answer> {
  const runtime = openAt(io, common, input[operation.cli?.folder ?? ""]);
  return run(operation, input, runtime, { dryRun: common["dry-run"], key: common.key });
}

/** What a line says. */
function readCommand(command: Command, words: readonly string[], io: Io) {
  const line = parseLine(command, words);
  const { common, input } = line;
  readFiles(command, line, io);
  return { common, input: parseInput(command.input, input) as Parsed<Record<string, unknown>> };
}

/** A command that serves takes none of the options that are about one answer of the command line. */
function refuseOptions(command: Command, { json, actor, key, "dry-run": dryRun }: CommonOptions): void {
  if (!json && !actor && !key && !dryRun) return;
  const own = Object.keys(command.input.shape).map((field) => `--${optionName(field)}`);
  throw new Failure("usage", "not_here", `\`pawl ${command.id}\` takes ${own.join(" and ")} only.`);
}

function openAt(io: Io, common: CommonOptions, folder: unknown) {
  return openRuntime({
    ...seenFrom(io, folder),
    above: (isGuard) => io.agentsAbove?.(isGuard) ?? [],
    attended: () => io.atTerminal(),
    actor: common.actor,
    operations: Object.keys(operations),
    oneShot: true,
    progress: progressOn(io),
    ask: (question) => io.ask(question),
    page: async (body) => (await import("./pager.ts")).showBody(body, io),
  });
}

function readFiles(operation: Command, { input, files }: ParsedLine, io: Io): void {
  for (const [field, path] of Object.entries(files))
    input[field] = typed(
      `${optionName(field)}-file`,
      fieldInfo(operation.input.shape[field]),
      io.readText(path),
    );
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
    await printBody(answer.body, io, answer.live !== undefined);
  }
  const text =
    rehearsed || answer.body ? "" : operation.text(answer.data, styleFor(io.outIsTerminal(), io.env));
  if (text !== "") io.out(printable(text.endsWith("\n") ? text : `${text}\n`));
  // What would be done is what somebody asked for with --dry-run, and may be long enough for a pipe.
  if (rehearsed && answer.planned?.length === 0) io.out("Nothing would be done.\n");
  for (const step of answer.planned ?? []) io.out(printable(`would ${step.do} ${step.path}\n`));
  const style = styleFor(io.errIsTerminal(), io.env);
  for (const warning of answer.warnings)
    io.err(printable(`${style.yellow("note:")} ${style.times(warning)}\n`));
  const next = answer.live ? answer.live.next?.() : answer.next;
  if (next) io.err(printable(`${style.dim("next:")} ${next.command}  ${style.dim(`(${next.reason})`)}\n`));
}

function report(thrown: unknown, json: boolean, io: Io): number {
  // What the file system refuses is seldom ours: a full disk, no permission, something else where a file belongs.
  const error = thrown instanceof Failure ? thrown : explainFileError(thrown, "pawl cannot continue");
  if (!(error instanceof Failure)) return reportBug(error, json, io);
  if (json) {
    const { code, message, hint, details } = error;
    io.out(`${JSON.stringify({ schema: 1, ok: false, error: { code, message, hint, details } })}\n`);
  } else {
    const style = styleFor(io.errIsTerminal(), io.env);
    const told = `${style.red("pawl:")} ${error.message}\n${error.hint ? `${error.hint}\n` : ""}`;
    io.err(printable(style.times(told)));
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
