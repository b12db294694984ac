import type { Connection, Value } from "./sqlite.ts";
import type { Likeness, SearchHit, SearchQuery } from "./types.ts";

const DEFAULT_LIMIT = 20;
const LARGEST_LIMIT = 1_000;

/**
 * bm25's weights of names, title and text. Somebody who types a few words remembers a title; where the words of a whole
 * record are looked for, what its text says counts for more.
 */
const FOR_TYPED_WORDS = "4.0, 12.0, 1.0";
const FOR_LIKENESS = "1.0, 3.0, 1.0";

export function limitOf({ limit = DEFAULT_LIMIT }: SearchQuery): number {
  return Math.min(Math.max(0, Math.floor(limit)), LARGEST_LIMIT);
}

interface Ranked {
  record: number;
  id: string;
  kind: string;
  task: string | null;
  status: string | null;
  score: number;
  updated: string;
}

/** The best records, without a look at their texts. */
export function findLikenesses(connection: Connection, match: string, query: SearchQuery): Likeness[] {
  return rank(connection, match, query, FOR_LIKENESS).ranked.map(({ id, task, score }) => ({
    id,
    task,
    score,
  }));
}

export function findHits(
  connection: Connection,
  match: string,
  query: SearchQuery,
): { hits: SearchHit[]; total: number } {
  const { ranked, total } = rank(connection, match, query, FOR_TYPED_WORDS);
  const texts = readTexts(connection, match, ranked);
  const hits = ranked.map(({ record, ...hit }) => {
    const { title, snippet } = texts.get(record) ?? notHeld();
    return { ...hit, title, snippet: shorten(snippet) };
  });
  return { hits, total };
}

function notHeld(): never {
  throw new Error("The index names a record that it does not contain.");
}

type Row = Omit<Ranked, "id"> & { id: string | null; total: number };

function rank(
  connection: Connection,
  match: string,
  query: SearchQuery,
  weights: string,
): { ranked: Ranked[]; total: number } {
  const filter = filterOf(query);
  const limit = limitOf(query);
  const rows = connection.rows<Row>(sqlFor(filter, weights), [match, ...filter.values, limit - 1, limit]);
  const ranked = rows.map(({ total: _total, id, ...row }) => ({
    ...row,
    id: id ?? notHeld(),
    score: -row.score,
  }));
  return { ranked, total: rows[0]?.total ?? 0 };
}

interface Filter {
  conditions: string[];
  values: Value[];
}

function filterOf({ kinds = [], statuses = [], task }: SearchQuery): Filter {
  const wanted: [column: string, values: string[]][] = [
    ["kind", kinds],
    ["status", statuses],
    ["task", task === undefined ? [] : [task]],
  ];
  const active = wanted.filter(([, values]) => values.length > 0);
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
function sqlFor({ conditions }: Filter, weights: string): string {
  const join = conditions.length > 0 ? "CROSS JOIN records ON records.record = words.rowid" : "";
  return `
    WITH found AS MATERIALIZED (
      SELECT words.rowid AS record, bm25(words, ${weights}) AS score
      FROM words ${join} WHERE ${["words MATCH ?", ...conditions].join(" AND ")})
    SELECT found.record, score, id, kind, task, status, updated, (SELECT count(*) FROM found) AS total
    FROM found LEFT JOIN records ON records.record = found.record
    WHERE score <= coalesce((SELECT score FROM found ORDER BY score LIMIT 1 OFFSET ?), 1)
    ORDER BY score, updated DESC, id LIMIT ?`;
}

const [MATCH_START, MATCH_END] = ["\u0001", "\u0002"];
/** In words; about 160 characters of prose. */
const SNIPPET_WORDS = 24;

/** Only for the records that are shown: cutting out the best part takes longer than scoring. */
function readTexts(connection: Connection, match: string, ranked: readonly Ranked[]) {
  const snippet = (column: number) =>
    `snippet(words, ${column}, '${MATCH_START}', '${MATCH_END}', '…', ${SNIPPET_WORDS})`;
  // `+` keeps SQLite from asking for each record on its own, which would run the whole query as often.
  const rows = connection.rows<{ record: number; title: string; snippet: string }>(
    `SELECT rowid AS record, title, coalesce(nullif(${snippet(2)}, ''), ${snippet(1)}) AS snippet
     FROM words WHERE words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`,
    [match, JSON.stringify(ranked.map(({ record }) => record))],
  );
  return new Map(rows.map(({ record, ...texts }) => [record, texts]));
}

const LONGEST_SNIPPET = 160;
const LEAD = 40;

/** Long words make a long snippet, and an encoded picture is one word. */
function shorten(snippet: string): string {
  if (snippet.length <= LONGEST_SNIPPET) return snippet;
  const match = Math.max(0, snippet.indexOf(MATCH_START));
  const lead = Math.max(0, match - LEAD);
  const space = snippet.lastIndexOf(" ", match - 1) < lead ? lead : snippet.indexOf(" ", lead) + 1;
  const start = lead === 0 ? 0 : space;
  const whole = snippet.lastIndexOf(" ", start + LONGEST_SNIPPET);
  const end = whole > match ? whole : start + LONGEST_SNIPPET;
  const part = snippet.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const isOpen = part.lastIndexOf(MATCH_START) > part.lastIndexOf(MATCH_END);
  return `${start > 0 ? "…" : ""}${part}${isOpen ? MATCH_END : ""}${end < snippet.length ? "…" : ""}`;
}
