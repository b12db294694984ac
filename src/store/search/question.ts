import type { SearchHit, SearchQuery } from "./types.ts";

export interface Answer {
  hits: SearchHit[];
  total: number;
}

const DEFAULT_LIMIT = 20;
const LARGEST_LIMIT = 1_000;

/** bm25's weights of names, title and text. */
export const WEIGHTS = [4, 12, 1] as const;

export function limitOf(query: SearchQuery): number {
  return Math.min(Math.max(0, Math.floor(query.limit ?? DEFAULT_LIMIT)), LARGEST_LIMIT);
}

/** The fields a hit is chosen by, and the values that will do. */
export function wantedOf({ kinds = [], statuses = [], task }: SearchQuery) {
  const wanted: [field: "kind" | "status" | "task", values: string[]][] = [
    ["kind", kinds],
    ["status", statuses],
    ["task", task === undefined ? [] : [task]],
  ];
  return wanted.filter(([, values]) => values.length > 0);
}
