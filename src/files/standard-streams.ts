import { readSync, writeSync } from "node:fs";
import { pauseSync } from "./pause.ts";

/**
 * Everything that standard input or another open file has; it may be a pipe that has nothing to say yet. A device such as
 * /dev/zero never ends, so reading stops soon after `most` bytes.
 */
export function readInput(fd = 0, most = Number.POSITIVE_INFINITY): Buffer {
  const chunks: Buffer[] = [];
  const chunk = Buffer.alloc(65_536);
  for (let size = 0; ; )
    try {
      const got = readSync(fd, chunk);
      size += got;
      if (got > 0) chunks.push(Buffer.from(chunk.subarray(0, got)));
      if (got === 0 || size > most) return Buffer.concat(chunks);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return Buffer.concat(chunks);
      if (code !== "EAGAIN") throw error;
      pauseSync(5);
    }
}

/** All of it; a reader that is slow is waited for. Opening `process.stdout` instead would cost several milliseconds. */
export function writeWhole(fd: number, data: Buffer): void {
  for (let done = 0; done < data.length; )
    try {
      done += writeSync(fd, data, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      pauseSync(2);
    }
}
