import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  go,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Which endings of file names belong to which language. */
const ENDINGS: Readonly<Record<keyof typeof LANGUAGES, string>> = {
  bash: "sh bash zsh",
  c: "c h",
  cpp: "cc cpp cxx hpp hh",
  csharp: "cs",
  css: "css",
  go: "go",
  java: "java",
  javascript: "js mjs cjs jsx",
  json: "json",
  kotlin: "kt kts",
  markdown: "md",
  php: "php",
  python: "py",
  ruby: "rb",
  rust: "rs",
  sql: "sql",
  swift: "swift",
  typescript: "ts tsx mts cts",
  xml: "html xml svg vue",
  yaml: "yml yaml",
};
const languageOf = byWord(ENDINGS);

/** A handful of colours is enough to tell keywords, strings, numbers and comments apart. */
const colourOf = byWord({
  k: "keyword built literal type tag selector section meta",
  s: "string regexp link addition code",
  u: "number symbol bullet attr attribute property variable",
  c: "comment quote doctag deletion",
  f: "title name function",
});

/** Turns `{ bash: "sh zsh" }` around: `sh` and `zsh` mean `bash`. */
function byWord(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(words).flatMap(([meaning, list]) =>
      list.split(" ").map((word) => [word, meaning] as const),
    ),
  );
}

/** A piece of a line in one colour; no class for plain text. */
export interface Piece {
  text: string;
  colour: string | undefined;
}

const LONGEST_LINE = 500;

/** Lines in the colours of their language; undefined where it is not known or a line is too long to be worth it. */
export function colourLines(path: string, lines: readonly string[]): Piece[][] | undefined {
  const language = languageOf.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "");
  if (language === undefined || lines.some((line) => line.length > LONGEST_LINE)) return undefined;
  return piecesOf(hljs.highlight(lines.join("\n"), { language, ignoreIllegals: true }).value);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** highlight.js returns HTML. We take only the text and our own class from it and build the markup ourselves. */
function piecesOf(answer: string): Piece[][] {
  const open: (string | undefined)[] = [];
  const lines: Piece[][] = [[]];
  const add = (text: string) => {
    for (const [at, part] of text.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: part, colour: open.findLast((one) => one !== undefined) });
    }
  };
  for (const [, name, close, entity, text] of answer.matchAll(
    /<span class="([^"]*)">|(<\/span>)|&([^;]+);|([^<&]+)/g,
  )) {
    if (name !== undefined) open.push(colourOf.get(name.replace(/^hljs-/, "").split(/[ _]/)[0] ?? ""));
    else if (close) open.pop();
    else add(entity === undefined ? (text ?? "") : (ENTITIES[entity] ?? ""));
  }
  return lines;
}
