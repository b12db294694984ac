/** A file of a saved diff that somebody has looked at, as it was then. */
export interface ViewedFile {
  repo: string;
  path: string;
  /** Of the patch's part about this file: another digest means that the file changed since. */
  digest: string;
  /** The saved commit that it was part of, so that what changed since can be shown. */
  commit?: string | undefined;
}

/** What the human of this clone has looked at. It is nobody else's business, so it stays out of the records. */
export interface Viewed {
  of(task: string): ViewedFile[];
  mark(task: string, file: ViewedFile): void;
  unmark(task: string, file: Pick<ViewedFile, "repo" | "path">): void;
}
