import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { identityOf, replaceFile } from "./generation.ts";

/**
 * `index.quick` answers ordinary queries without the engine, whose start alone takes longer than they may. It is
 * made from a published generation, says which one, and is never needed: whatever is odd about it, the engine answers.
 * A head of fixed size guards the header, and the header guards the sections, each of which is read when it is needed.
 */
const MAGIC = "pawl-quick-1";
const HEAD_BYTES = 64;

/**
 * All words of all records are numbered in one row: names, title and text of the first record, then of the second.
 * `terms`: the different words, one on each line. `uses`: for each term how many places it has, and their checksum.
 * `places`: the numbers of those places, term after term. `table`: a line of numbers for each record. `facts`: JSON for
 * each record. `signatures`: JSON, path → signature of every file, broken ones included.
 */
const SECTIONS = ["table", "terms", "uses", "signatures", "places", "facts", "texts"] as const;
type SectionName = (typeof SECTIONS)[number];

interface Section {
  from: number;
  length: number;
  sum: number;
}

export interface QuickHeader {
  generation: string;
  /** Which `index.sqlite` this belongs to: one that was replaced since, by whomever, is not taken for it. */
  identity: string;
  cursor: string;
  scannedAt: number;
  scanMs: number;
  files: number;
  /** Absent when the records do not lend themselves to this file. */
  sections?: Record<SectionName, Section> | undefined;
}

/** Columns of the table: bytes and checksums of facts and text, and how many of all tokens are in names and title. */
export const COLUMNS = { facts: 0, factsSum: 1, names: 2, title: 3, tokens: 4, text: 5, textSum: 6 } as const;
export const WIDTH = Object.keys(COLUMNS).length;

/** Every part is undefined when it is not what was written. */
export interface QuickFile {
  header: QuickHeader;
  section(name: SectionName): Buffer | undefined;
  part(name: SectionName, from: number, length: number, sum: number): Buffer | undefined;
}

const pathOf = (dir: string) => join(dir, "index.quick");

/** Every step can be undone, so that no change within one word of 32 bits keeps the sum. */
export function checksum(bytes: Buffer): number {
  const whole = bytes.length >> 2;
  const words = asWords(bytes, whole);
  let sum = bytes.length | 0;
  for (let at = 0; at < whole; at++) {
    sum = Math.imul(sum ^ (words[at] as number), 0x01000193);
    sum ^= sum >>> 15;
  }
  for (let at = whole * 4; at < bytes.length; at++) sum = Math.imul(sum ^ (bytes[at] as number), 0x01000193);
  return sum >>> 0;
}

function asWords(bytes: Buffer, count: number): Int32Array {
  if (bytes.byteOffset % 4 === 0) return new Int32Array(bytes.buffer, bytes.byteOffset, count);
  return new Int32Array(new Uint8Array(bytes.subarray(0, count * 4)).buffer);
}

/** undefined when there is none that belongs to the present generation, or when it is damaged. */
export function withQuickFile<T>(dir: string, use: (file: QuickFile) => T): T | undefined {
  const identity = identityOf(dir);
  let fd: number;
  try {
    fd = openSync(pathOf(dir), "r");
  } catch {
    return undefined;
  }
  try {
    const header = readHeader(fd);
    return header && header.identity === identity ? use(openSections(fd, header)) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** The engine makes a new one when it finds none. */
export function discardQuickFile(dir: string): void {
  try {
    rmSync(pathOf(dir), { force: true });
  } catch {
    // A directory that cannot be written to keeps what it has, and the engine answers.
  }
}

function readHeader(fd: number): QuickHeader | undefined {
  const [magic, ...numbers] = readPart(fd, 0, HEAD_BYTES)?.toString("latin1").split(" ") ?? [];
  const [fileBytes, headerBytes = 0, sum] = numbers.map(Number);
  const { size } = fstatSync(fd);
  if (magic !== MAGIC || size !== fileBytes || !(headerBytes >= 0 && headerBytes < size)) return undefined;
  const bytes = readPart(fd, size - headerBytes, headerBytes);
  return bytes && checksum(bytes) === sum ? (JSON.parse(bytes.toString("utf8")) as QuickHeader) : undefined;
}

function openSections(fd: number, header: QuickHeader): QuickFile {
  const checked = (from: number, length: number, sum: number) => {
    const part = readPart(fd, from, length);
    return part && checksum(part) === sum ? part : undefined;
  };
  return {
    header,
    section(name) {
      const section = header.sections?.[name];
      return section && checked(section.from, section.length, section.sum);
    },
    part: (name, from, length, sum) => checked((header.sections?.[name].from ?? 0) + from, length, sum),
  };
}

/** Memory of its own, because numbers are read from it where they lie. */
function readPart(fd: number, from: number, length: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, from + done);
    if (count === 0) return undefined;
    done += count;
  }
  return bytes;
}

export type QuickContent = Record<SectionName, Buffer>;

/** Without content the file only says that there is no point in trying to make one for this generation. */
export function writeQuickFile(
  dir: string,
  now: number,
  description: Omit<QuickHeader, "sections">,
  content: QuickContent | undefined,
): void {
  const sections = {} as Record<SectionName, Section>;
  const parts: Buffer[] = [];
  let from = HEAD_BYTES;
  for (const name of content ? SECTIONS : []) {
    const part = content?.[name] ?? Buffer.alloc(0);
    sections[name] = { from, length: part.length, sum: checksum(part) };
    parts.push(part);
    from += part.length;
  }
  const header = Buffer.from(JSON.stringify({ ...description, sections: content && sections }));
  const numbers = [from + header.length, header.length, checksum(header)];
  const head = Buffer.from([MAGIC, ...numbers, ""].join(" ").padEnd(HEAD_BYTES, "."));
  replaceFile(pathOf(dir), now, Buffer.concat([head, ...parts, header]));
}

export const numbersOf = (bytes: Buffer) =>
  new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);

/** Where each row's part of a section starts; one more entry says where the last one ends. */
export function startsOf(table: Uint32Array, column: number, width = WIDTH): Uint32Array {
  const count = table.length / width;
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++)
    starts[row + 1] = (starts[row] as number) + (table[row * width + column] as number);
  return starts;
}
