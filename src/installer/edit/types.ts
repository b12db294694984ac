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

/** Where one of our entries is in the text. */
export interface Place {
  /** More than one where the definition is scattered, as TOML allows. */
  ranges: Range[];
  value: Json;
  /** A comment was written into it: it is no longer ours alone. */
  commented: boolean;
  /** Takes it out, with its comma or its lines. */
  removal(): Edit[];
  /** Another value in its place; undefined where it has no single place. */
  replacement(value: Json): Edit[] | undefined;
}

/** A file that was read; every position counts from the start of `text`, which has no byte order mark. */
export interface Document {
  text: string;
  comments: Range[];
  /** Everywhere the entry could be: at its path whatever its value, or the elements of the array that equal it. */
  places(entry: Entry): Place[];
  insertion(entries: Entry[]): { edits: Edit[]; made: string[][] };
  /** Takes out a container of ours if it has nothing in it any more. */
  emptied(made: string[]): Edit[] | undefined;
  /** The comma that separates what begins here from what is before it, past comments. */
  commaBefore(offset: number): Range | undefined;
  /** Every value with its path, written as in the file and in its order; not what lies in those ranges. */
  outline(without: Range[], made: string[][]): string[];
}
