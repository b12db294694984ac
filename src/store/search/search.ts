import { askIndex, type IndexOptions } from "./ask-index.ts";
import { findHits, findLikenesses, limitOf } from "./ranking.ts";
import type { Connection } from "./sqlite.ts";
import type { Likeness, SearchHit, SearchQuery } from "./types.ts";
import { matchFor } from "./words.ts";

export interface SearchOptions extends IndexOptions {
  query: SearchQuery;
}

/** Always answers for the records as they are now; the index only makes it fast, and repairs itself. */
export async function search(options: SearchOptions): Promise<{ hits: SearchHit[]; total: number }> {
  return (await ask(options, findHits)) ?? { hits: [], total: 0 };
}

/** The ids that a search would find, and how well they match. */
export async function findAlike(options: SearchOptions): Promise<Likeness[]> {
  return (await ask(options, findLikenesses)) ?? [];
}

async function ask<T extends object>(
  options: SearchOptions,
  find: (connection: Connection, match: string, query: SearchQuery) => T,
): Promise<T | undefined> {
  const { query } = options;
  const match = matchFor(query.words, query.match ?? "all");
  if (match === undefined || limitOf(query) === 0) return undefined;
  return askIndex(options, (connection) => find(connection, match, query));
}
