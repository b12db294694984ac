export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A JSON file of the user's that holds entries of ours. */
export interface EntryFile {
  path: string;
}

/** `key`: the value at that path is ours. `item`: one element of the array at that path is ours. */
export interface Entry {
  at: string[];
  kind: "key" | "item";
  value: Json;
}

/** What an insertion put into a file; kept in the ledger and given back for an update or a removal. */
export interface Inserted {
  /** The file was not there before. */
  created: boolean;
  /** The stretches of text that were put in, in their order; without them the file is what it was, byte for byte. */
  pieces: string[];
  /** Objects and arrays that were made to hold our entries; `[]` is the whole document. */
  made: string[][];
}

export interface Range {
  start: number;
  end: number;
}

/** Replaces a stretch of text; an insertion replaces an empty one. */
export interface Edit extends Range {
  text: string;
}
