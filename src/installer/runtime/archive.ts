/*
 * A tar archive as npm reads it, in gzip's form but not compressed: what zlib makes of the same bytes differs between
 * versions of Node, and a file that git tracks may not. Git compresses it, and finds what two versions have in common.
 */

export interface ArchiveFile {
  name: string;
  bytes: Buffer;
  executable: boolean;
}

const BLOCK = 512;
/** As npm dates everything that it packs. */
const TIME = 499_162_500;

export function packArchive(files: readonly ArchiveFile[]): Buffer {
  const blocks = files.flatMap((one) => [
    header(one),
    one.bytes,
    Buffer.alloc(-one.bytes.length & (BLOCK - 1)),
  ]);
  return gzipped(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

function header({ name, bytes, executable }: ArchiveFile): Buffer {
  const block = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for an archive`);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(name, 0);
  block.write(octal(executable ? 0o755 : 0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(bytes.length, 11), 124);
  block.write(octal(TIME, 11), 136);
  block.write(" ".repeat(8), 148);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

const MOST_STORED = 65_535;

function gzipped(content: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])];
  for (let at = 0; at < content.length; at += MOST_STORED) {
    const piece = content.subarray(at, at + MOST_STORED);
    const head = Buffer.alloc(5);
    head.writeUInt8(at + MOST_STORED >= content.length ? 1 : 0, 0);
    head.writeUInt16LE(piece.length, 1);
    head.writeUInt16LE(~piece.length & 0xffff, 3);
    parts.push(head, piece);
  }
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(content), 0);
  end.writeUInt32LE(content.length, 4);
  return Buffer.concat([...parts, end]);
}

/** Node has one of its own only since 20.15. */
function crc32(content: Buffer): number {
  const table = Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  let crc = -1;
  for (const byte of content) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] ?? 0);
  return ~crc >>> 0;
}
