/**
 * The id of a blob without node:crypto, whose loading takes longer than hashing some small files does (SHA-1, FIPS 180-4).
 * Nothing secret or hostile is told apart by it: it is git's own name for the content.
 */
export function smallBlobHash(content: Buffer): string {
  const state: State = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
  const message = padded(content);
  const words = new Int32Array(ROUNDS);
  for (let at = 0; at < message.length; at += BLOCK) {
    for (let index = 0; index < 16; index++) words[index] = message.readInt32BE(at + index * 4);
    for (let index = 16; index < ROUNDS; index++)
      words[index] = rotated(
        word(words, index - 3) ^ word(words, index - 8) ^ word(words, index - 14) ^ word(words, index - 16),
        1,
      );
    mix(state, words);
  }
  return state.map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
}

type State = [number, number, number, number, number];

const BLOCK = 64;
const ROUNDS = 80;

const rotated = (value: number, by: number) => (value << by) | (value >>> (32 - by));
const word = (words: Int32Array, index: number) => words[index] ?? 0;

/** Git's header, the content, a one, zeros, and the length in bits at the end of the last block. */
function padded(content: Buffer): Buffer {
  const head = Buffer.from(`blob ${content.length}\0`, "latin1");
  const length = head.length + content.length;
  const message = Buffer.alloc(Math.ceil((length + 9) / BLOCK) * BLOCK);
  head.copy(message);
  content.copy(message, head.length);
  message[length] = 0x80;
  message.writeBigUInt64BE(BigInt(length) * 8n, message.length - 8);
  return message;
}

function mix(state: State, words: Int32Array): void {
  let [a, b, c, d, e] = state;
  for (let round = 0; round < ROUNDS; round++) {
    const next = (rotated(a, 5) + chosen(round, b, c, d) + e + word(words, round)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  for (const [index, value] of [a, b, c, d, e].entries()) state[index] = ((state[index] ?? 0) + value) | 0;
}

/** The function and the constant of each quarter of the rounds. */
function chosen(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
