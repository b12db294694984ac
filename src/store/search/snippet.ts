import { stem } from "./stem.ts";
import { isAscii, tokenOf, type Word } from "./words.ts";

const MATCH_START = "\u0001";
const MATCH_END = "\u0002";
const LONGEST_SNIPPET = 160;
const LEAD = 40;
/** A log pasted into a record is not searched to its end for something to show. */
const LONGEST_TEXT = 50_000;

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
  const patterns = words.map(({ text, isPrefix }) => {
    const tokens = [...text.matchAll(tokenOf(text))].map(([token]) => stem(fold(token)));
    return { tokens, isPrefix };
  });
  const mayStart = startsOf(patterns);
  const find = (text: string) => findSpans(text, patterns, isAscii(text) ? mayStart : tokenOf(text));
  return (title, text) => {
    const line = onOneLine(text.slice(0, LONGEST_TEXT)) || onOneLine(title);
    return cut(line, find(line));
  };
}

/** Stemming keeps the first letters of a word, so that most words of a text need no closer look. */
function startsOf(patterns: readonly Pattern[]): RegExp {
  const starts = patterns.map(({ tokens: [first = ""] }) => first.slice(0, 2)).filter(isAscii);
  return new RegExp(`(?<![a-z0-9])(?:${[...new Set(starts), "(?!)"].join("|")})[a-z0-9]*`, "gi");
}

function onOneLine(text: string): string {
  const spaced = isAscii(text) ? text.replace(/[\0-\x20\x7f]+/g, " ") : text.replace(/[\s\p{Cc}]+/gu, " ");
  return spaced.trim();
}

function fold(token: string): string {
  const lower = token.toLowerCase();
  return isAscii(lower) ? lower : lower.normalize("NFD").replace(/\p{M}+/gu, "");
}

function findSpans(text: string, patterns: readonly Pattern[], mayStart: RegExp): Span[] {
  const spans: Span[] = [];
  // Chosen once for the whole text: choosing looks at every character.
  const token = new RegExp(tokenOf(text));
  let done = 0;
  for (const { index } of text.matchAll(mayStart)) {
    if (index < done) continue;
    for (const [word, pattern] of patterns.entries()) {
      const end = endOfMatch(text, index, pattern, token);
      if (end === undefined) continue;
      spans.push({ start: index, end, word });
      done = end;
      break;
    }
  }
  return spans;
}

/** Where the pattern ends if it starts at `start`; what separates its tokens does not matter. */
function endOfMatch(
  text: string,
  start: number,
  { tokens, isPrefix }: Pattern,
  next: RegExp,
): number | undefined {
  next.lastIndex = start;
  for (const [index, token] of tokens.entries()) {
    const candidate = next.exec(text)?.[0];
    if (candidate === undefined) return undefined;
    const stemmed = stem(fold(candidate));
    const isUnfinished = isPrefix && index === tokens.length - 1;
    if (isUnfinished ? !stemmed.startsWith(token) : stemmed !== token) return undefined;
  }
  return next.lastIndex;
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
    const end = start + LONGEST_SNIPPET - LEAD;
    const shown = spans.filter((span) => span === first || (span.start >= start && span.end <= end));
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
