import { Html, html, visible } from "./html.ts";

/**
 * The subset of Markdown that records use: paragraphs, lists, code, emphasis; tables stay as they were written. What agents
 * write stays text: no HTML, no images, and a link is printed with its target beside it.
 */
export function markdown(text: string): Html {
  const blocks: Html[] = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; ) {
    const [block, next] = readBlock(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return html`${blocks}`;
}

const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;
const FENCE = /^\s*(```|~~~)/;
const ROW = /^\s*\|/;

function readBlock(lines: readonly string[], from: number): [Html | undefined, number] {
  const line = lines[from] ?? "";
  if (line.trim() === "") return [undefined, from + 1];
  const fence = FENCE.exec(line)?.[1];
  if (fence) {
    const end = lines.findIndex((one, at) => at > from && one.trim().startsWith(fence));
    const last = end < 0 ? lines.length : end;
    return [html`<pre><code>${visible(lines.slice(from + 1, last).join("\n"))}</code></pre>`, last + 1];
  }
  if (ROW.test(line)) {
    const end = lines.findIndex((one, at) => at > from && !ROW.test(one));
    const last = end < 0 ? lines.length : end;
    // A table as it was written: its rows run into each other otherwise.
    return [html`<pre>${visible(lines.slice(from, last).join("\n"))}</pre>`, last];
  }
  const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
  if (heading !== undefined) return [html`<p><strong>${inline(heading)}</strong></p>`, from + 1];
  const end = endOf(lines, from, ITEM.test(line));
  const own = lines.slice(from, end);
  return [ITEM.test(line) ? list(own) : html`<p>${inline(own.join("\n"))}</p>`, end];
}

function endOf(lines: readonly string[], from: number, isList: boolean): number {
  let at = from + 1;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "" || FENCE.test(line) || ROW.test(line) || (!isList && ITEM.test(line))) break;
    at++;
  }
  return at;
}

/** A line that does not begin an item continues the one before. */
function list(lines: readonly string[]): Html {
  const items: { done: string | undefined; text: string }[] = [];
  for (const line of lines) {
    const [, done, text = ""] = ITEM.exec(line) ?? [];
    const last = items.at(-1);
    if (ITEM.test(line) || !last) items.push({ done, text });
    else last.text += `\n${line.trim()}`;
  }
  const shown = items.map(({ done, text }) => html`<li>${box(done)}${inline(text)}</li>`);
  return /^\s*\d/.test(lines[0] ?? "") ? html`<ol>${shown}</ol>` : html`<ul>${shown}</ul>`;
}

const box = (done: string | undefined) => done !== undefined && (done === " " ? "☐ " : "☑ ");

/** Each repetition stops at the next mark or after 1,000 characters, so that a text of 100,000 brackets takes milliseconds. */
const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\n]+)\*(?![\w*])|\[([^[\]\n]+)\]\(([^)\s]{1,1000})\)/g;

/** One line of it, such as a hint that names a command in backticks. */
export function inline(text: string): Html {
  let out = "";
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    out += visible(text.slice(at, found.index)).text;
    const [whole, code, strong, emphasis, label, target] = found;
    out += piece(code, strong, emphasis, label, target).text;
    at = found.index + whole.length;
  }
  return new Html(out + visible(text.slice(at)).text);
}

function piece(
  code: string | undefined,
  strong: string | undefined,
  emphasis: string | undefined,
  label = "",
  target = "",
): Html {
  if (code !== undefined) return html`<code>${visible(code)}</code>`;
  if (strong !== undefined) return html`<strong>${visible(strong)}</strong>`;
  if (emphasis !== undefined) return html`<em>${visible(emphasis)}</em>`;
  return html`${visible(label)} (${visible(target)})`;
}
