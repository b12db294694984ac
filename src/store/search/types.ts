export type { Likeness, SearchHit, SearchQuery } from "../../ports/ports.ts";

/** One record as the index sees it. */
export interface SearchDocument {
  id: string;
  kind: string;
  task: string | null;
  status: string | null;
  title: string;
  text: string;
  updated: string;
}

/** Where the records are: the index is made from this, and never the other way round. */
export interface SearchSource {
  /** Cheap check: record paths that writes touched since `cursor`, plus the new cursor; undefined = cannot tell. */
  changedSince(cursor: string): { paths: string[]; cursor: string } | undefined;
  /** Cursor that stands for "now"; taken before scanning, so that a write in between is seen twice and never missed. */
  cursor(): string;
  /** Every record file now: path → signature, which starts with the file's ctime in milliseconds. */
  scan(): Map<string, string>;
  /** undefined when the file is gone or broken. */
  read(path: string): SearchDocument | undefined;
}
