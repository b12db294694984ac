import { createHash } from "node:crypto";

/** What git writes where there is no commit: before a branch is made, and after it is deleted. */
export const NOTHING = "0".repeat(40);

/** Every repository knows this tree, whether it has it or not. */
export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** The id of a blob with exactly these bytes; what a link points to is its content. */
export function blobId(content: string | Buffer): string {
  const bytes = Buffer.from(content);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
