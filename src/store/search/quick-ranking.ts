import { limitOf, wantedOf } from "./question.ts";
import { COLUMNS, numbersOf, type QuickFile, startsOf, WIDTH } from "./quick-file.ts";
import { countPhrases, type Phrase } from "./quick-phrases.ts";
import type { SearchQuery } from "./types.ts";

/** As FTS5 has them. */
const K1 = 1.2;
const B = 0.75;
const LEAST_IDF = 1e-6;

export interface Facts {
  path: string;
  id: string;
  kind: string;
  task: string | null;
  status: string | null;
  title: string;
  updated: string;
}

interface Ranked {
  facts: Facts;
  score: number;
  text: string;
}

/** What `rank` does, on the words themselves; undefined when they are damaged. */
export function rankQuickly(
  file: QuickFile,
  phrases: readonly Phrase[],
  query: SearchQuery,
): { ranked: Ranked[]; total: number } | undefined {
  const tableBytes = file.section("table");
  const table = tableBytes && numbersOf(tableBytes);
  const frequencies = table && countPhrases(file, table, phrases);
  if (!frequencies) return undefined;
  const readFacts = reader(file, table, "facts");
  const readText = reader(file, table, "text");
  const factsOf = (row: number) => JSON.parse(readFacts(row)) as Facts;

  const isWanted = filterFor(query);
  const matching = matchingRows(phrases, frequencies, query.match ?? "all");
  const rows = isWanted ? matching.filter((row) => isWanted(factsOf(row))) : matching;
  const ranked = best(rows, scorer(table, frequencies), limitOf(query), factsOf);
  return { ranked: ranked.map(({ row, ...hit }) => ({ ...hit, text: readText(row) })), total: rows.length };
}

function reader(file: QuickFile, table: Uint32Array, column: "facts" | "text"): (row: number) => string {
  const starts = startsOf(table, COLUMNS[column]);
  const section = column === "text" ? "texts" : column;
  return (row) => {
    const [length = 0, sum = 0] = table.subarray(row * WIDTH + COLUMNS[column]);
    const part = file.part(section, starts[row] ?? 0, length, sum);
    if (!part) throw new Error(`Row ${row} of ${section} is damaged.`);
    return part.toString("utf8");
  };
}

/** Only what is at least as good as the last one shown is looked up and sorted fully. */
function best(
  rows: readonly number[],
  scoreOf: (row: number) => number,
  limit: number,
  factsOf: (row: number) => Facts,
) {
  const scores = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index++) scores[index] = scoreOf(rows[index] as number);
  const worst = scores.slice().sort()[rows.length - limit] ?? -1;
  const candidates: { row: number; score: number; facts: Facts }[] = [];
  for (let index = 0; index < rows.length; index++) {
    const [row, score] = [rows[index] as number, scores[index] as number];
    if (score >= worst) candidates.push({ row, score, facts: factsOf(row) });
  }
  return candidates
    .sort(
      (a, b) =>
        b.score - a.score || compare(b.facts.updated, a.facts.updated) || compare(a.facts.id, b.facts.id),
    )
    .slice(0, limit);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function matchingRows(
  phrases: readonly Phrase[],
  frequencies: readonly Uint32Array[],
  match: "all" | "any",
): number[] {
  const rows = frequencies[0]?.length ?? 0;
  const needed = match === "all" ? (phrases.at(-1)?.word ?? 0) + 1 : 1;
  const matched = new Uint8Array(rows);
  const lastWord = new Int16Array(rows).fill(-1);
  for (const [index, { word }] of phrases.entries()) {
    const frequency = frequencies[index] as Uint32Array;
    for (let row = 0; row < rows; row++)
      if ((frequency[row] as number) > 0 && lastWord[row] !== word) {
        lastWord[row] = word;
        matched[row] = (matched[row] as number) + 1;
      }
  }
  const matching: number[] = [];
  for (let row = 0; row < rows; row++) if ((matched[row] as number) >= needed) matching.push(row);
  return matching;
}

/** bm25 in the order of operations that FTS5 has, so that the sums are rounded alike and ties stay ties. */
function scorer(table: Uint32Array, frequencies: readonly Uint32Array[]): (row: number) => number {
  const rows = table.length / WIDTH;
  let tokens = 0;
  for (let row = 0; row < rows; row++) tokens += table[row * WIDTH + COLUMNS.tokens] as number;
  const average = tokens / rows;
  const idfs = frequencies.map((frequency) => idfOf(frequency));
  return (row) => {
    const length = table[row * WIDTH + COLUMNS.tokens] as number;
    const norm = K1 * (1 - B + (B * length) / average);
    let score = 0;
    for (let index = 0; index < idfs.length; index++) {
      const frequency = (frequencies[index] as Uint32Array)[row] as number;
      if (frequency > 0) score += (idfs[index] as number) * ((frequency * (K1 + 1)) / (frequency + norm));
    }
    return score;
  };
}

function idfOf(frequency: Uint32Array): number {
  let hits = 0;
  for (let row = 0; row < frequency.length; row++) if ((frequency[row] as number) > 0) hits++;
  const idf = Math.log((frequency.length - hits + 0.5) / (hits + 0.5));
  return idf <= 0 ? LEAST_IDF : idf;
}

function filterFor(query: SearchQuery): ((facts: Facts) => boolean) | undefined {
  const wanted = wantedOf(query);
  if (wanted.length === 0) return undefined;
  return (facts) => wanted.every(([field, values]) => facts[field] !== null && values.includes(facts[field]));
}
