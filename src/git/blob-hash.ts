import { createHash } from "node:crypto";

/** The id of a blob with exactly these bytes; what a link points to is its content. */
export function blobHash(content: string | Buffer): string {
  const bytes = Buffer.from(content);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
