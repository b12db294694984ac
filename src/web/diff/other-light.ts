import { Failure } from "../../model/failure.ts";
import type { Ask } from "../ask.ts";
import type { Looked } from "./looked.ts";
import type { Wish } from "./reading.ts";
import { patchFiles, type SavedFile, type SavedRepo } from "./saved-diff.ts";

/**
 * The same files in another view: without white space, or only what changed since the reader's last look. Order, marks and
 * digests stay those of the saved diff, so a file with nothing to show in this view is still listed and says so.
 */
export async function inOtherLight(
  ask: Ask,
  task: string | undefined,
  repos: readonly SavedRepo[],
  wish: Wish,
  looked: Looked,
): Promise<SavedRepo[]> {
  if (!wish.ignoreSpace && !wish.sinceLook) return [...repos];
  return Promise.all(
    repos.map(async (repo) => {
      const seen = new Map<string, Promise<Lit>>();
      const light = (since: string | undefined) => {
        const key = since ?? "";
        const known = seen.get(key) ?? lit(ask, task, repo, wish, since);
        seen.set(key, known);
        return known;
      };
      const files = await Promise.all(
        repo.files.map(async (file) => {
          const since = wish.sinceLook ? looked.before(repo.repo, file)?.commit : undefined;
          if (since === undefined && !wish.ignoreSpace) return file;
          return shownIn(file, await light(since));
        }),
      );
      return { ...repo, files };
    }),
  );
}

/** What git says in this light; undefined where the commit for it is not here. */
type Lit = ReadonlyMap<string, SavedFile> | undefined;

async function lit(
  ask: Ask,
  task: string | undefined,
  { repo, patch, commit }: SavedRepo,
  { run, ignoreSpace }: Wish,
  since: string | undefined,
): Promise<Lit> {
  const input = {
    task,
    repo,
    ignore_space: ignoreSpace,
    ...(run === undefined ? {} : { run }),
    ...(since === undefined ? {} : { since }),
  };
  try {
    const files = await patchFiles(ask, input, `${patch} ${commit} ${since ?? ""} ${ignoreSpace}`);
    return new Map(files.map((file) => [file.path, file]));
  } catch (error) {
    if (error instanceof Failure && error.code === "commit_missing") return undefined;
    throw error;
  }
}

function shownIn(file: SavedFile, found: Lit): SavedFile {
  if (!found)
    return { ...file, said: "This clone no longer has the commit, so this is the whole saved change." };
  const other = found.get(file.path);
  if (other) return { ...other, digest: file.digest };
  return { ...file, hunks: [], binary: false, said: "Nothing else changed in this file." };
}
