import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { blobHash } from "../../src/git/blob-hash.ts";
import { smallBlobHash } from "../../src/git/small-blob-hash.ts";

const gitHash = (content: Buffer) =>
  execFileSync("git", ["hash-object", "--stdin", "--no-filters"], {
    input: content,
    encoding: "utf8",
  }).trim();

test("git, node:crypto and our own few lines give a blob the same id", () => {
  for (const text of ["", "a", "export const x = 1;\n", "ß".repeat(700)]) {
    const content = Buffer.from(text);
    expect(smallBlobHash(content)).toBe(gitHash(content));
    expect(blobHash(content)).toBe(gitHash(content));
  }
});

test("every length around the borders of blocks, and of the header's own length", () => {
  for (let length = 0; length < 260; length++)
    expect(smallBlobHash(Buffer.alloc(length, 0xff)), `${length} bytes`).toBe(
      blobHash(Buffer.alloc(length, 0xff)),
    );
  for (const length of [999, 1_000, 9_999, 10_000, 100_000])
    expect(smallBlobHash(Buffer.alloc(length, 0x80))).toBe(blobHash(Buffer.alloc(length, 0x80)));
});

test("any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
      expect(smallBlobHash(Buffer.from(bytes))).toBe(blobHash(Buffer.from(bytes)));
    }),
  );
});
