/**
 * The id of a blob without node:crypto, whose loading takes longer than hashing a few small files does (SHA-1, FIPS
 * 180-4). Nothing hostile is told apart by it: it is git's own name for the content. It runs once in a cold process, so
 * it is written for the interpreter: no calls within the rounds.
 */
export function smallBlobHash(content: Buffer): string {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const message = padded(content);
  const words = new Int32Array(ROUNDS);
  for (let at = 0; at < message.length; at += BLOCK) {
    for (let index = 0; index < 16; index++) words[index] = message.readInt32BE(at + index * 4);
    for (let index = 16; index < ROUNDS; index++) {
      const mixed =
        (words[index - 3] as number) ^
        (words[index - 8] as number) ^
        (words[index - 14] as number) ^
        (words[index - 16] as number);
      words[index] = (mixed << 1) | (mixed >>> 31);
    }
    mix(state, words);
  }
  return Array.from(state, (value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
}

const BLOCK = 64;
const ROUNDS = 80;

/** Git's header, the content, a one, zeros, and the length in bits at the end of the last block. */
function padded(content: Buffer): Buffer {
  const head = Buffer.from(`blob ${content.length}\0`, "latin1");
  const length = head.length + content.length;
  const message = Buffer.alloc(Math.ceil((length + 9) / BLOCK) * BLOCK);
  head.copy(message);
  content.copy(message, head.length);
  message[length] = 0x80;
  message.writeUInt32BE(length * 8, message.length - 4);
  return message;
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let round = 0; round < ROUNDS; round++) {
    const chosen =
      round < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : round < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : round < 60
            ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
    const next = (((a << 5) | (a >>> 27)) + chosen + e + (words[round] as number)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  const added = [a, b, c, d, e];
  for (let index = 0; index < added.length; index++)
    state[index] = (state[index] as number) + (added[index] as number);
}
