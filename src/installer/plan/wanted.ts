import type { Entry } from "../edit/types.ts";

/** One file, or part of a file, that an installation is to have. */
export type Wanted = WantedFile | WantedPart;

export interface WantedFile {
  mode: "own";
  path: string;
  text: string;
  /** In place of the text, for what is none. */
  bytes?: Uint8Array;
  /** What it was rendered from; the ledger keeps its digest. */
  template: string;
  /** Written when absent, and the user's from then on. */
  seed?: true;
}

export type WantedPart = WantedBlock | WantedEntries;

export interface WantedBlock {
  mode: "block";
  path: string;
  body: string;
  comment: "html" | "hash";
  template: string;
  /** Where the user's own text has this line, the block would say nothing new. */
  unlessLine?: string | undefined;
  /** The TOML tables that it defines: the user's own file may not have them already. */
  tables?: string[][] | undefined;
}

/** Entries in a JSON file. */
interface WantedEntries {
  mode: "entry";
  path: string;
  entries: Entry[];
  template: string;
}
