// Lists every sentence that a person can read, with its place, so that all of them can be read in one go:
// `npm run words`, `npm run words -- src/ops`, `npm run words -- --count`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Where sentences are: code, scripts that git and the page run, templates, settings that are written into a project. */
const PLACES = ["src", "hooks", "skills", "adapters"];

/** Two words in a row: what is shorter is a name, a flag or a key. */
const isSentence = (text) => /[A-Za-z]{2,}[,.:;]? [`"'(<{$]?[A-Za-z]/.test(text);

function* literals(node, code) {
  if (!node || typeof node.type !== "string") return;
  if (/^(?:Import|Export(?:All|Named))|^TS/.test(node.type) && !node.declaration) return;
  if (node.type === "Literal" && typeof node.value === "string") yield { at: node.start, text: node.value };
  else if (node.type === "TemplateLiteral") {
    const parts = node.quasis.map(({ value }, nth) => {
      const inside = node.expressions[nth];
      return value.cooked + (inside ? `{${code.slice(inside.start, inside.end)}}` : "");
    });
    yield { at: node.start, text: parts.join("") };
  }
  for (const [key, child] of Object.entries(node))
    if (key !== "parent")
      for (const one of Array.isArray(child) ? child : [child])
        if (one && typeof one === "object") yield* literals(one, code);
}

const lineAt = (code, at) => code.slice(0, at).split("\n").length;

const inCode = (code, lang) =>
  [...literals(parseAst(code, { lang }), code)].map(({ at, text }) => ({ line: lineAt(code, at), text }));

/** Templates and shell scripts are read line by line, without their comments. */
const inLines = (code, comment) =>
  code.split("\n").flatMap((text, nth) => (comment.test(text) ? [] : [{ line: nth + 1, text: text.trim() }]));

function wordsIn(path) {
  const code = readFileSync(join(root, path), "utf8");
  if (/\.d\.m?ts$/.test(path)) return [];
  if (/\.m?[jt]s$/.test(path)) return inCode(code, /ts$/.test(path) ? "ts" : "js");
  return inLines(code, /\.hbs$|\.md$|\.css$/.test(path) ? /^\s*\{\{!/ : /^\s*#/);
}

const filesIn = (place) =>
  readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !/\.(?:css|png|svg)$/.test(one.name))
    .map((one) => join(one.parentPath, one.name).slice(root.length));

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const found = PLACES.flatMap(filesIn)
  .filter((path) => wanted.length === 0 || wanted.some((one) => path.startsWith(one)))
  .sort()
  .flatMap((path) =>
    wordsIn(path)
      .filter(({ text }) => isSentence(text))
      .map(({ line, text }) => `${path}:${line}  ${text.replaceAll("\n", "⏎")}`),
  );
if (!process.argv.includes("--count")) for (const line of found) console.log(line);
console.log(`${found.length} sentences`);
