import { type Answer, limitOf, WEIGHTS, wantedOf } from "./question.ts";
import type { Snip } from "./snippet.ts";
import type { Connection, Value } from "./sqlite.ts";
import type { SearchHit, SearchQuery } from "./types.ts";

type Row = Omit<SearchHit, "snippet" | "id"> & { id: string | null; text: string | null; total: number };

export function rank(connection: Connection, match: string, query: SearchQuery, snip: Snip): Answer {
  const filter = filterOf(query);
  const limit = limitOf(query);
  const rows = connection.rows<Row>(sqlFor(filter), [match, ...filter.values, limit - 1, limit]);
  const hits = rows.map(({ total: _total, text, id, ...hit }) => {
    if (id === null || text === null) throw new Error("The index names a record that it does not hold.");
    return { id, ...hit, score: -hit.score, snippet: snip(hit.title, text) };
  });
  return { hits, total: rows[0]?.total ?? 0 };
}

interface Filter {
  conditions: string[];
  values: Value[];
}

function filterOf(query: SearchQuery): Filter {
  const active = wantedOf(query);
  return {
    conditions: active.map(
      ([column, values]) => `records.${column} IN (${values.map(() => "?").join(", ")})`,
    ),
    values: active.flatMap(([, values]) => values),
  };
}

/**
 * Every match is scored once; only those at least as good as the last one shown are looked up and sorted fully, so
 * that ties fall the same way in every index. CROSS JOIN keeps SQLite from turning the join around; LEFT JOIN shows
 * what is missing from a damaged index.
 */
function sqlFor({ conditions }: Filter): string {
  const join = conditions.length > 0 ? "CROSS JOIN records ON records.record = words.rowid" : "";
  return `
    WITH found AS MATERIALIZED (
      SELECT words.rowid AS record, bm25(words, ${WEIGHTS.map((weight) => weight.toFixed(1)).join(", ")}) AS score
      FROM words ${join} WHERE ${["words MATCH ?", ...conditions].join(" AND ")})
    SELECT top.id, kind, task, status, title, score, updated, text, (SELECT count(*) FROM found) AS total
    FROM (
      SELECT found.record, score, id, kind, task, status, updated
      FROM found LEFT JOIN records ON records.record = found.record
      WHERE score <= coalesce((SELECT score FROM found ORDER BY score LIMIT 1 OFFSET ?), 1)
      ORDER BY score, updated DESC, id LIMIT ?) AS top
    LEFT JOIN texts ON texts.record = top.record
    ORDER BY score, updated DESC, id`;
}
