import { createHash } from "node:crypto";
import { PLAIN } from "../../model/text.ts";
import { diff } from "../../ops/diff.ts";
import type { Ask } from "../ask.ts";
import { type PatchFile, parsePatch } from "./parse-patch.ts";

export interface SavedFile extends PatchFile {
  /** Of the patch's lines about this file; a viewed mark holds as long as it stays the same. */
  digest: string;
  /** What a reader has to know before they read it. */
  said?: string;
}

export interface SavedRepo {
  repo: string;
  run: string;
  saved: string;
  base: string;
  head: string;
  /** What was saved, with what had not been committed. */
  commit: string;
  patch: string;
  /** Lines around the changes can be read. */
  kept: boolean;
  files: SavedFile[];
}

/** A saved patch never changes, so its parsed files are cached by digest; a few are enough. */
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
      commit: one.commit,
      patch: one.patch_sha256,
      kept: one.kept,
      files: await patchFiles(ask, { ...input, repo: one.repo }, one.patch_sha256),
    })),
  );
}

/** The files of a patch; `name` is the cache key and changes whenever the patch does. */
export async function patchFiles(ask: Ask, input: PatchInput, name: string): Promise<SavedFile[]> {
  const cached = known.get(name);
  if (cached) return cached;
  const patch = await textOf(ask, input);
  const lines = patch.split("\n");
  const files = parsePatch(patch).map((file) => ({
    ...file,
    digest: digestOf(lines.slice(file.firstLine, file.lastLine + 1)),
  }));
  known.set(name, files);
  for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest);
  return files;
}

interface PatchInput {
  task: string | undefined;
  repo: string;
  run?: string;
  since?: string;
  ignore_space?: boolean;
}

const digestOf = (lines: readonly string[]) => createHash("sha256").update(lines.join("\n")).digest("hex");

/** The patch itself; its first line is the heading of the repository. */
async function textOf(ask: Ask, input: PatchInput): Promise<string> {
  const { body } = await ask(diff, input);
  if (!body) return "";
  const pieces: Uint8Array[] = [];
  for await (const piece of body({ style: PLAIN, terminal: false })) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  return text.slice(text.indexOf("\n") + 1);
}
