import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { textIfReadable } from "../files/read.ts";
import type { AgentProgress } from "../ports/agents.ts";
import { type AttemptSpec, files, sizeOf } from "./attempt/folder.ts";
import { type AgentProgram, NOTHING_YET, type StreamEvent } from "./program.ts";

const PIECE = 256 * 1024;
/** A line that never ends is no event; what is longer than this is passed over. */
const LONGEST_LINE = 8 * 1024 * 1024;

/** Reads a file that grows, piece by piece and line by line; what is not ended yet waits for the rest. */
export class GrowingFile {
  private readonly path: string;
  private offset: number;
  private rest: Buffer = Buffer.alloc(0);

  constructor(path: string, from = 0) {
    this.path = path;
    this.offset = from;
  }

  /** The lines that were completed since the last call; with `whole`, what is left without an end as well. */
  *lines(whole = false): Generator<string> {
    for (;;) {
      const piece = this.next();
      if (piece.length === 0) break;
      const all = this.rest.length === 0 ? piece : Buffer.concat([this.rest, piece]);
      const end = all.lastIndexOf(10);
      this.rest = Buffer.from(all.subarray(end + 1));
      if (this.rest.length > LONGEST_LINE) this.rest = Buffer.alloc(0);
      if (end >= 0) yield* all.toString("utf8", 0, end).split("\n");
    }
    if (!whole || this.rest.length === 0) return;
    const last = this.rest.toString("utf8");
    this.rest = Buffer.alloc(0);
    yield last;
  }

  private next(): Buffer {
    // Most looks find nothing new, and need not open it.
    if (sizeOf(this.path) <= this.offset) return Buffer.alloc(0);
    const fd = openSync(this.path, "r");
    try {
      const piece = Buffer.allocUnsafe(PIECE);
      const length = readSync(fd, piece, 0, PIECE, this.offset);
      this.offset += length;
      return piece.subarray(0, length);
    } finally {
      closeSync(fd);
    }
  }
}

/** An event, or undefined for a line that is none: programs also print warnings and half lines. */
export function parseEvent(line: string): StreamEvent | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as StreamEvent;
  } catch {
    return undefined;
  }
}

/** Follows one attempt's stream: what is known so far, brought up to date with every look. */
export class StreamReader {
  private progress: AgentProgress;
  private readonly folder: string;
  private readonly before: AttemptSpec["before"];
  private readonly program: AgentProgram;
  private readonly out: GrowingFile;

  constructor(folder: string, spec: Pick<AttemptSpec, "before" | "session">, program: AgentProgram) {
    this.folder = folder;
    this.before = spec.before;
    this.program = program;
    this.out = new GrowingFile(join(folder, files.out));
    this.progress = { ...NOTHING_YET, session: spec.session };
  }

  look(whole = false): AgentProgress {
    for (const line of this.out.lines(whole)) {
      const event = parseEvent(line);
      if (event) this.progress = safely(() => this.program.read(event, this.progress), this.progress);
    }
    return this.told();
  }

  /** Programs that count on from an earlier attempt, and those that write their usage elsewhere, are put right here. */
  private told(): AgentProgress {
    const { usageFile, countsOn } = this.program;
    const usage = usageFile && textIfReadable(join(this.folder, usageFile.name));
    const all = usage ? safely(() => usageFile.read(usage, this.progress), this.progress) : this.progress;
    if (!countsOn || all.tokens.input + all.tokens.output === 0) return all;
    const { before } = this;
    return {
      ...all,
      tokens: {
        input: Math.max(0, all.tokens.input - before.input),
        cached: Math.max(0, all.tokens.cached - before.cached),
        output: Math.max(0, all.tokens.output - before.output),
      },
    };
  }
}

/** Another program's event may have any shape; one that we do not understand says nothing. */
function safely<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
