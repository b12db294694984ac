import type { ViewedFile } from "../../ports/viewed.ts";
import type { SavedFile, SavedRepo } from "./saved-diff.ts";

/** What the reader has looked at, compared with a saved diff. */
export interface Looked {
  /** Looked at as it is now. */
  isViewed(repo: string, file: SavedFile): boolean;
  /** The mark of an earlier version; undefined if the file was never viewed or has not changed since. */
  before(repo: string, file: SavedFile): ViewedFile | undefined;
  /** Files that were looked at and are no longer part of the change. */
  gone: ViewedFile[];
}

/** A mark belongs to one version of a file: once its part of the patch changes, it only says that somebody looked before. */
export function lookedAt(viewed: readonly ViewedFile[], repos: readonly SavedRepo[]): Looked {
  const nameOf = (repo: string, path: string) => `${repo}\0${path}`;
  const marks = new Map(viewed.map((one) => [nameOf(one.repo, one.path), one]));
  const markOf = (repo: string, { path }: SavedFile) => marks.get(nameOf(repo, path));
  const files = new Set(repos.flatMap(({ repo, files: all }) => all.map(({ path }) => nameOf(repo, path))));
  return {
    isViewed: (repo, file) => markOf(repo, file)?.digest === file.digest,
    before(repo, file) {
      const mark = markOf(repo, file);
      return mark?.digest === file.digest ? undefined : mark;
    },
    gone: viewed.filter(({ repo, path }) => !files.has(nameOf(repo, path))),
  };
}
