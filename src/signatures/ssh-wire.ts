/** Reads the wire format of ssh (RFC 4251 §5): whatever is too short, left over or not in its one form is refused. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  raw(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedSignature("it is cut off");
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  byte(): number {
    return this.raw(1)[0] as number;
  }

  number(): number {
    return this.raw(4).readUInt32BE();
  }

  string(): Buffer {
    return this.raw(this.number());
  }

  text(): string {
    return this.string().toString("latin1");
  }

  /** A number that is not negative, without superfluous zeros in front. */
  unsigned(): Buffer {
    const bytes = this.string();
    const [first = 0, second = 0] = bytes;
    if (bytes.length === 0 || first > 0x7f || (first === 0 && second < 0x80))
      throw new MalformedSignature("a number is not in its shortest form");
    return first === 0 ? bytes.subarray(1) : bytes;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new MalformedSignature("something follows it");
  }
}

export class MalformedSignature extends Error {}

/** The bytes of a base64 text; a text that other characters could stand for is refused. */
export function strictBase64(source: string, encoding: "base64" | "base64url"): Buffer {
  const bytes = Buffer.from(source, encoding);
  if (source === "" || bytes.toString(encoding) !== source)
    throw new MalformedSignature(`it is not ${encoding}`);
  return bytes;
}

export function sshString(bytes: Buffer | string): Buffer {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}
