import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { PAGES } from "./pages.ts";
import { type Block, readPage, root } from "./read-markdown.ts";
import { matches, openSession, runStep, type Step, stepsOf } from "./run-session.ts";

let folder: string;
let program: string;
beforeAll(async () => {
  folder = makeTemporaryFolder("docs");
  program = await bundlePawl(join(folder, "bundle"));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const isConsole = ({ language }: Block) => language === "console";
const withConsole = PAGES.filter((path) => readPage(path).blocks.some(isConsole));

test.each(withConsole)(
  "%s: every console block does what it shows",
  async (path) => {
    const home = join(folder, path.replaceAll("/", " "));
    mkdirSync(home);
    const session = openSession(home, program);
    for (const block of readPage(path).blocks.filter(isConsole)) {
      if (/\bfresh\b/.test(block.info)) {
        rmSync(home, { recursive: true, force: true });
        Object.assign(session, openSession(home, program));
      }
      for (const step of stepsOf(block)) {
        const printed = await runStep(session, program, block, step);
        if (process.env.UPDATE_DOCS && !matches(printed, step.expected)) rewrite(path, step, printed);
        else if (!matches(printed, step.expected))
          expect(`$ ${step.command}\n${printed.join("\n")}`, `${path}:${block.line}`).toBe(
            `$ ${step.command}\n${step.expected.join("\n")}`,
          );
      }
    }
  },
  120_000,
);

/** UPDATE_DOCS=1 puts in what is printed now; read it before you commit it. */
function rewrite(path: string, step: Step, printed: readonly string[]): void {
  const file = join(root, path);
  const text = readFileSync(file, "utf8");
  const begin = `$ ${step.command.replaceAll("\n", "\n> ")}\n`;
  const linesOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  const old = `${begin}${linesOf(step.expected)}`;
  if (text.split(old).length !== 2) throw new Error(`"${begin}" with its output is not there exactly once`);
  writeFileSync(file, text.split(old).join(`${begin}${linesOf(printed)}`));
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
