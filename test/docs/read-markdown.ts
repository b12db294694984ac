import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Block {
  /** The first word after the fence: `console`, `sh`, `yaml`. */
  language: string;
  /** What else stands there, such as `as=author`. */
  info: string;
  line: number;
  text: string;
}

export interface Page {
  blocks: Block[];
  /** Code inside of sentences. */
  spans: { line: number; text: string }[];
  links: { line: number; target: string }[];
  headings: string[];
}

const FENCE = /^```(\w*) ?(.*)$/;

/** The little of Markdown that our own pages use. */
export function readPage(path: string): Page {
  const page: Page = { blocks: [], spans: [], links: [], headings: [] };
  let open: Block | undefined;
  for (const [index, text] of readFileSync(`${root}/${path}`, "utf8").split("\n").entries()) {
    const line = index + 1;
    const fence = FENCE.exec(text);
    if (open) {
      if (text === "```") open = undefined;
      else open.text += `${text}\n`;
    } else if (fence) {
      open = { language: fence[1] ?? "", info: fence[2] ?? "", line, text: "" };
      page.blocks.push(open);
    } else readLine(page, text, line);
  }
  if (open) throw new Error(`${path}:${open.line}: this block does not end`);
  return page;
}

function readLine(page: Page, text: string, line: number): void {
  const heading = /^#+ (.*)$/.exec(text);
  if (heading) page.headings.push(anchorOf(heading[1] ?? ""));
  for (const [, , span] of text.matchAll(/(`+)(.+?)\1/g)) page.spans.push({ line, text: span ?? "" });
  const prose = text.replace(/(`+)(.+?)\1/g, "code");
  for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g))
    page.links.push({ line, target: target ?? "" });
  for (const [, target] of prose.matchAll(/(?:src|href|srcset)="([^"]+)"/g))
    page.links.push({ line, target: target ?? "" });
}

/** As GitHub makes it from a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
