import { type Answer, limitOf } from "./question.ts";
import { answerQuickly } from "./quick.ts";
import type { SearchQuery, SearchSource } from "./types.ts";
import { parseWords } from "./words.ts";

export interface SearchOptions {
  /** Where the index lives; created when missing. */
  dir: string;
  source: SearchSource;
  query: SearchQuery;
  now: number;
  /** The process ends after this search, so that code is not worth optimising. */
  oneShot: boolean;
  /** Told once, before something that takes long. */
  progress?: (message: string) => void;
}

/** Always answers for the records as they are now; the index only makes it fast, and repairs itself. */
export async function search(options: SearchOptions): Promise<Answer> {
  const { query } = options;
  const words = parseWords(query.words, query.match ?? "all");
  if (words.length === 0 || limitOf(query) === 0) return { hits: [], total: 0 };

  const quick = answerQuickly(options, words);
  if (quick && "answer" in quick) return quick.answer;
  const { answerByEngine } = await import("./engine.ts");
  return answerByEngine(options, words, quick?.glance);
}
