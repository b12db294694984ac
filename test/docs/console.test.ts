import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { PAGES } from "./pages.ts";
import { type Block, readPage, root } from "./read-markdown.ts";
import { matches, openSession, runStep, type Step, stepsOf } from "./run-session.ts";

let folder: string;
let built: BuiltProgram;
beforeAll(() => {
  folder = makeTemporaryFolder("docs");
  built = buildProgram();
}, 120_000);
afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const isConsole = ({ language }: Block) => language === "console";
const withConsole = PAGES.filter((path) => readPage(path).blocks.some(isConsole));

const isFirstRead = (path: string) => path === "README.md";
const testPages = (pages: readonly string[], tags: string[]) =>
  test.each(pages)("%s: every console block does what it shows", { tags, timeout: 120_000 }, async (path) => {
    const home = join(folder, path.replaceAll("/", " "));
    mkdirSync(home);
    const session = openSession(home, built.pawl);
    const blocks = readPage(path).blocks.filter(isConsole);
    const seen: string[] = [];
    for (const block of blocks) {
      const shown: string[] = [];
      for (const step of stepsOf(block)) {
        const printed = await runStep(session, built.pawl, block, step);
        const same = matches(printed, step.expected);
        if (!same && !process.env.UPDATE_DOCS)
          expect(textOf(step, printed), `${path}:${block.line}`).toBe(textOf(step, step.expected));
        shown.push(textOf(step, same ? step.expected : printed));
      }
      seen.push(shown.join(""));
    }
    if (process.env.UPDATE_DOCS) rewrite(path, blocks, seen);
  });
testPages(withConsole.filter(isFirstRead), []);
testPages(
  withConsole.filter((path) => !isFirstRead(path)),
  ["proof"],
);

const textOf = ({ command }: Step, output: readonly string[]) =>
  [`$ ${command.replaceAll("\n", "\n> ")}`, ...output].map((line) => `${line}\n`).join("");

/** UPDATE_DOCS=1 puts in what is printed now; read it before you commit it. */
function rewrite(path: string, blocks: readonly Block[], seen: readonly string[]): void {
  const file = join(root, path);
  let text = readFileSync(file, "utf8");
  let at = 0;
  for (const [index, block] of blocks.entries()) {
    at = text.indexOf(block.text, at);
    const now = seen[index] ?? "";
    text = text.slice(0, at) + now + text.slice(at + block.text.length);
    at += now.length;
  }
  writeFileSync(file, text);
}

describe("what the runner compares", () => {
  const TABLE: [string, string[], string[], boolean][] = [
    ["the same lines", ["a", "b"], ["a", "b"], true],
    ["one line less", ["a"], ["a", "b"], false],
    ["one line more", ["a", "b"], ["a"], false],
    ["other text", ["a"], ["b"], false],
    ["any text within a line", ["took 12 ms."], ["took … ms."], true],
    ["dots that are dots", ["aXb"], ["a.b"], false],
    ["any lines", ["a", "x", "y", "b"], ["a", "…", "b"], true],
    ["no lines at all", ["a", "b"], ["a", "…", "b"], true],
    ["any lines at the end", ["a", "x", "y"], ["a", "…"], true],
    ["a line that never comes", ["a", "x"], ["a", "…", "b"], false],
  ];
  test.each(TABLE)("%s", (_name, printed, expected, same) => {
    expect(matches(printed, expected)).toBe(same);
  });
});
