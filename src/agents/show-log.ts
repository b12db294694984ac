import { join } from "node:path";
import { pause } from "../files/pause.ts";
import type { LogOptions } from "../ports/agents.ts";
import { files } from "./attempt/folder.ts";
import type { AgentProgram } from "./program.ts";
import { GrowingFile, parseEvent } from "./read-stream.ts";

const LOOK_MS = 200;

/** What a person reads of one line of a stream; nothing for what is only of use to programs. */
export function shownLines(program: AgentProgram, line: string): string[] {
  if (!program.endsByEvent) return [line];
  const event = parseEvent(line);
  if (!event) return line.trim() === "" ? [] : [line];
  try {
    return program.show(event)?.split("\n") ?? [];
  } catch {
    return [];
  }
}

/** The lines of an attempt's stream, and at its end what it said on its error output. */
export async function* showLog(
  path: string,
  program: AgentProgram,
  options: LogOptions,
  isOver: () => boolean,
): AsyncGenerator<string[]> {
  const out = new GrowingFile(join(path, files.out));
  const shown = (line: string) => (options.raw ? [line] : shownLines(program, line));
  // Asked before the look: what was written before the end is then seen.
  for (let over = !options.follow || isOver(), first = true; ; over = isOver(), first = false) {
    const lines = [...out.lines(over)].flatMap(shown);
    if (over && !options.raw) lines.push(...errorsOf(path));
    yield first && options.lines !== undefined ? lines.slice(-options.lines) : lines;
    if (over) return;
    await pause(LOOK_MS);
  }
}

const MOST_ERRORS = 40;

export function errorsOf(path: string): string[] {
  const lines = [...new GrowingFile(join(path, files.err)).lines(true)].filter((line) => line.trim() !== "");
  return lines.slice(-MOST_ERRORS).map((line) => `stderr: ${line}`);
}
