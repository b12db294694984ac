import { stem } from "./stem.ts";
import type { Word } from "./words.ts";

export const MATCH_START = "\u0001";
export const MATCH_END = "\u0002";
const LONGEST_SNIPPET = 160;
const LEAD = 40;

interface Span {
  start: number;
  end: number;
  /** Which of the user's words it is. */
  word: number;
}

interface Pattern {
  tokens: string[];
  isPrefix: boolean;
}

export type Snip = (title: string, text: string) => string;

/** A function that cuts the best part out of a record: one line, the user's words marked. */
export function prepareSnippets(words: readonly Word[]): Snip {
  const patterns = words.map(({ text, isPrefix }) => ({
    tokens: [...tokens(text)].map(([token]) => stem(fold(token))),
    isPrefix,
  }));
  return (title, text) => {
    const line = onOneLine(text);
    const spans = findSpans(line, patterns);
    if (spans.length > 0) return cut(line, spans);
    const heading = onOneLine(title);
    return line === "" ? cut(heading, findSpans(heading, patterns)) : cut(line, []);
  };
}

const tokens = (text: string) => text.matchAll(/[\p{L}\p{N}\p{Co}\p{M}]+/gu);

function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

function fold(token: string): string {
  const lower = token.toLowerCase();
  return /^[\0-\x7f]*$/.test(lower) ? lower : lower.normalize("NFD").replace(/\p{M}+/gu, "");
}

function findSpans(text: string, patterns: readonly Pattern[]): Span[] {
  const found = [...tokens(text)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    text: match[0],
  }));
  const spans: Span[] = [];
  let taken = 0;
  for (let at = 0; at < found.length; at++) {
    if (at < taken) continue;
    const word = patterns.findIndex((pattern) =>
      pattern.tokens.every((token, offset) => {
        const candidate = found[at + offset]?.text;
        const isUnfinished = pattern.isPrefix && offset === pattern.tokens.length - 1;
        return candidate !== undefined && isSame(candidate, token, isUnfinished);
      }),
    );
    const last = found[at + (patterns[word]?.tokens.length ?? 0) - 1];
    const first = found[at];
    if (!first || !last || word < 0) continue;
    spans.push({ start: first.start, end: last.end, word });
    taken = at + (patterns[word]?.tokens.length ?? 1);
  }
  return spans;
}

/** Stemming keeps the first letters, so that most tokens are ruled out by looking at them. */
function isSame(candidate: string, stemmed: string, isUnfinished: boolean): boolean {
  const folded = fold(candidate);
  if (folded.slice(0, 2) !== stemmed.slice(0, 2)) return false;
  return isUnfinished ? stem(folded) === stemmed || folded.startsWith(stemmed) : stem(folded) === stemmed;
}

function cut(text: string, spans: readonly Span[]): string {
  if (text.length <= LONGEST_SNIPPET) return mark(text, spans, 0, text.length);
  const start = wordStart(text, bestStart(text, spans));
  let end = Math.min(text.length, start + LONGEST_SNIPPET);
  if (end < text.length) end = Math.max(text.lastIndexOf(" ", end), start + LONGEST_SNIPPET / 2);
  const inside = spans.filter((span) => span.start >= start && span.end <= end);
  return `${start > 0 ? "…" : ""}${mark(text, inside, start, end)}${end < text.length ? "…" : ""}`;
}

/** The window that shows the most different words wins, then the earliest one. */
function bestStart(text: string, spans: readonly Span[]): number {
  let best = 0;
  let most = 0;
  for (const first of spans) {
    const start = Math.max(0, Math.min(first.start - LEAD, text.length - LONGEST_SNIPPET));
    const shown = spans.filter(
      (span) => span.start >= start && span.end <= start + LONGEST_SNIPPET - LEAD / 2,
    );
    const different = new Set(shown.map((span) => span.word)).size;
    if (different > most) {
      most = different;
      best = start;
    }
  }
  return best;
}

function wordStart(text: string, from: number): number {
  if (from === 0) return 0;
  const space = text.indexOf(" ", from);
  return space >= 0 && space < from + LEAD ? space + 1 : from;
}

function mark(text: string, spans: readonly Span[], start: number, end: number): string {
  let marked = "";
  let done = start;
  for (const span of spans) {
    marked += text.slice(done, span.start) + MATCH_START + text.slice(span.start, span.end) + MATCH_END;
    done = span.end;
  }
  return marked + text.slice(done, end);
}
