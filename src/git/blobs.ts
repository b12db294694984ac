import { createHash } from "node:crypto";
import { SHA256_LENGTH } from "./object-ids.ts";

/**
 * Whether a blob is exactly these bytes; what a link points to is its content. It has a file of its own because most
 * commands hash nothing, and cryptography takes its time to load.
 */
export function isBlob(id: string, content: string | Buffer): boolean {
  const bytes = Buffer.from(content);
  const how = id.length === SHA256_LENGTH ? "sha256" : "sha1";
  return createHash(how).update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}
