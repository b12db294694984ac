import { createHash } from "node:crypto";
import { PLAIN } from "../../model/text.ts";
import { diff } from "../../ops/diff.ts";
import type { Ask } from "../ask.ts";
import { type PatchFile, parsePatch } from "./parse-patch.ts";

export interface SavedFile extends PatchFile {
  /** Of the patch's lines about this file; a viewed mark holds as long as it stays the same. */
  digest: string;
}

export interface SavedRepo {
  repo: string;
  run: string;
  saved: string;
  base: string;
  head: string;
  patch: string;
  /** Lines around the changes can be read. */
  kept: boolean;
  files: SavedFile[];
}

/** A saved patch never changes, so what was read of it is kept by its digest; a few are enough. */
const known = new Map<string, SavedFile[]>();
const MOST_KNOWN = 12;

/** The saved diff of a task, repository by repository. */
export async function savedDiff(
  ask: Ask,
  task: string | undefined,
  run: string | undefined,
): Promise<SavedRepo[]> {
  const input = { task, ...(run === undefined ? {} : { run }) };
  const { data } = await ask(diff, { ...input, stat: true });
  return Promise.all(
    data.diffs.map(async (one) => ({
      repo: one.repo,
      run: one.run,
      saved: one.saved,
      base: one.base_head,
      head: one.head,
      patch: one.patch_sha256,
      kept: one.kept,
      files: await filesOf(one.patch_sha256, async () => textOf(ask, { ...input, repo: one.repo })),
    })),
  );
}

async function filesOf(digest: string, read: () => Promise<string>): Promise<SavedFile[]> {
  const cached = known.get(digest);
  if (cached) return cached;
  const patch = await read();
  const lines = patch.split("\n");
  const files = parsePatch(patch).map((file) => ({
    ...file,
    digest: digestOf(lines.slice(file.firstLine, file.lastLine + 1)),
  }));
  known.set(digest, files);
  for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest);
  return files;
}

const digestOf = (lines: readonly string[]) => createHash("sha256").update(lines.join("\n")).digest("hex");

/** The patch itself; its first line is the heading of the repository. */
async function textOf(
  ask: Ask,
  input: { task: string | undefined; run?: string; repo: string },
): Promise<string> {
  const { body } = await ask(diff, input);
  if (!body) return "";
  const pieces: Uint8Array[] = [];
  for await (const piece of body({ style: PLAIN, terminal: false })) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  return text.slice(text.indexOf("\n") + 1);
}
