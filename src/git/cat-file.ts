import { expectGit, type Git } from "./run-git.ts";

/** The contents of many blobs, by one git; without those that the repository lacks. */
export async function readBlobs(
  git: Git,
  what: string,
  ids: readonly string[],
): Promise<Map<string, Buffer>> {
  const answer = await git.askBytes(["cat-file", "--batch"], ids.map((id) => `${id}\n`).join(""));
  expectGit({ ...answer, out: "" }, what);
  return parseBatch(answer.out);
}

/** `id type size LF content LF`, again and again; `id missing LF` for one that is not there. */
function parseBatch(out: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [id = "", , size] = out.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (size === undefined) continue;
    contents.set(id, out.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}

/** Text, or undefined for bytes that would not come back the same from being read as text. */
export function textOf(bytes: Buffer | undefined): string | undefined {
  const text = bytes?.toString("utf8");
  return text !== undefined && bytes && Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}
