import { ALWAYS_SCANNED_FILES, isScanDue, lookAtFiles, type Sight } from "./freshness.ts";
import { readScanStamp, writeScanStamp } from "./generation.ts";
import type { Answer } from "./question.ts";
import { discardQuickFile, type QuickFile, withQuickFile } from "./quick-file.ts";
import { type Phrase, phrasesOf } from "./quick-phrases.ts";
import { rankQuickly } from "./quick-ranking.ts";
import { prepareSnippets } from "./snippet.ts";
import type { SearchQuery, SearchSource } from "./types.ts";
import type { Word } from "./words.ts";

interface Question {
  dir: string;
  source: SearchSource;
  query: SearchQuery;
  now: number;
}

/** What was seen on the way, for the engine to start from; true of one generation only. */
export interface Glance {
  generation: string;
  sight: Sight;
}

type Outcome = { answer: Answer } | { glance: Glance } | undefined;

/** Answers when the records are certainly as the side file says; every doubt is left to the engine. */
export function answerQuickly(question: Question, words: readonly Word[]): Outcome {
  const phrases = phrasesOf(words);
  if (!phrases) return undefined;
  try {
    return withQuickFile(question.dir, (file) => answerFrom(file, question, words, phrases));
  } catch {
    return undefined;
  }
}

function answerFrom(
  file: QuickFile,
  { dir, source, query, now }: Question,
  words: readonly Word[],
  phrases: readonly Phrase[],
): Outcome {
  const { generation, cursor, files, scannedAt, scanMs } = file.header;
  const written = source.changedSince(cursor);
  if (!file.header.sections || !written || written.paths.length > 0) return undefined;

  const lastScan = readScanStamp(dir, generation) ?? { at: scannedAt, tookMs: scanMs };
  const sight = isScanDue(files, lastScan, now) ? lookAtFiles(source, now) : undefined;
  const glance = sight && { glance: { generation, sight } };
  if (sight && !isAsSigned(file, sight)) return glance;
  const best = rankUnlessDamaged(file, phrases, query);
  if (!best) {
    discardQuickFile(dir);
    return glance;
  }

  const snip = prepareSnippets(words);
  const hits = best.ranked.map(({ facts: { id, kind, task, status, title, updated }, score, text }) => {
    return { id, kind, task, status, title, score, updated, snippet: snip(title, text) };
  });
  if (sight && files > ALWAYS_SCANNED_FILES) writeScanStamp(dir, generation, sight.scan);
  return { answer: { hits, total: best.total } };
}

function rankUnlessDamaged(file: QuickFile, phrases: readonly Phrase[], query: SearchQuery) {
  try {
    return rankQuickly(file, phrases, query);
  } catch {
    return undefined;
  }
}

function isAsSigned(file: QuickFile, { found }: Sight): boolean {
  const known = JSON.parse(file.section("signatures")?.toString("utf8") ?? "{}") as Record<string, string>;
  const paths = Object.keys(known);
  return paths.length === found.size && paths.every((path) => found.get(path) === known[path]);
}
