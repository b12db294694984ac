import { isUtf8 } from "node:buffer";
import { Transform, type TransformCallback } from "node:stream";

/** More than any call that we accept; a longer line would only fill the memory. */
const LONGEST = 8 * 1024 * 1024;
const NEWLINE = 10;

/** Answers for a message that goes no further, to the id that it has, if that can be told. */
type Refuse = (why: string, id?: string | number) => void;

/**
 * Lets whole lines through. A line that is not UTF-8 is refused and not mended, because a mended text would be
 * recorded as if somebody had said it; one that is too long is skipped without being kept. A key that the SDK would drop unseen is refused like any other that
 * no tool knows.
 */
export class Lines extends Transform {
  readonly #refuse: Refuse;
  #kept: Buffer[] = [];
  #length = 0;

  constructor(refuse: Refuse) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end + 1));
      this.#pass();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    done();
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= LONGEST) this.#kept.push(piece);
    else this.#kept = [];
  }

  #pass(): void {
    const line = Buffer.concat(this.#kept);
    if (this.#length > LONGEST) this.#refuse(`a message can have at most ${LONGEST} bytes`);
    else if (!isUtf8(line)) this.#refuse("the message is not UTF-8");
    else if (hasHiddenKey(line)) this.#refuse(`"${HIDDEN}" is not an option here`, idOf(line));
    else this.push(line);
    this.#kept = [];
    this.#length = 0;
  }
}

const HIDDEN = "__proto__";

function hasHiddenKey(line: Buffer): boolean {
  if (!line.includes(HIDDEN)) return false;
  let found = false;
  try {
    JSON.parse(line.toString("utf8"), (key, value) => {
      found ||= key === HIDDEN;
      return value;
    });
  } catch {
    // What is no JSON is told to be none by whoever reads it next.
  }
  return found;
}

function idOf(line: Buffer): string | number | undefined {
  const { id } = JSON.parse(line.toString("utf8")) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
