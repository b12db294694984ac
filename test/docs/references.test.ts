import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { optionsOf } from "../../src/cli/arguments.ts";
import { findCommand } from "../../src/cli/command-words.ts";
import { VERSION } from "../../src/model/version.ts";
import type { Command } from "../../src/ports/operation.ts";
import { allCommands } from "../helpers/all-commands.ts";
import { PAGES } from "./pages.ts";
import { readPage, root } from "./read-markdown.ts";

const commands = new Map((await allCommands()).map((command) => [command.id, command]));

/** Commands for a shell that are no `console` block, and the test that runs each; the others must not be there. */
const RUN_BY: Record<string, string> = {
  "npm run demo": "test/scenarios/demo.test.ts",
  "npm test": "scripts/test.mjs",
  "npm run check": "scripts/test.mjs",
  "npm run proofs": "scripts/test.mjs",
  "npm run long": "scripts/test.mjs",
  "npm run pack": "test/scenarios/package.test.ts",
  [`npm install -g ./pawl-${VERSION}.tgz`]: "test/scenarios/package.test.ts",
  [`npx --yes file:/path/to/pawl-${VERSION}.tgz --help`]: "test/scenarios/package.test.ts",
};

describe.each(PAGES)("%s", (path) => {
  const page = readPage(path);

  test("every link leads somewhere", () => {
    const wrong = page.links.filter(({ target }) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [file = "", anchor] = target.split("#");
      const found = file === "" ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(root, found))) return true;
      if (anchor === undefined || statSync(join(root, found)).isDirectory()) return false;
      return found.endsWith(".md") && !readPage(found).headings.includes(anchor);
    });
    expect(wrong).toEqual([]);
  });

  test("every file of ours that it names is there", () => {
    const named = page.spans.filter(({ text }) =>
      /^(?:test|src|bench|scripts|hooks|docs)\/[\w./-]+$/.test(text),
    );
    expect(named.filter(({ text }) => !existsSync(join(root, text)))).toEqual([]);
  });

  test("every command in a sentence is one, with options that it has", () => {
    const wrong = page.spans.flatMap(({ line, text }) =>
      mistakesIn(text).map((why) => `${line}: ${text}: ${why}`),
    );
    expect(wrong).toEqual([]);
  });

  test("a command for the shell is in a console block, or run by a test that is named", () => {
    const lines = page.blocks
      .filter(({ language }) => ["sh", "bash", "shell"].includes(language))
      .flatMap(({ text }) => text.trimEnd().split("\n"))
      .map((line) => line.replace(/\s+#.*$/, ""))
      .filter((line) => path !== "docs/commands.md" || !/^pawl\b/.test(line));
    expect(lines.filter((line) => !existsSync(join(root, RUN_BY[line] ?? "nothing runs it")))).toEqual([]);
  });
});

test.each(PAGES.filter((path) => /^(?:README|docs\/(?!benchmarks).*)\.md$/.test(path)))(
  "%s names this version and no other",
  (path) => {
    const named =
      readFileSync(join(root, path), "utf8").match(
        /\bpawl[ -]\d+\.\d+\.\d+(?:-[0-9A-Za-z]+(?:\.(?!tgz)[0-9A-Za-z]+)*)?/g,
      ) ?? [];
    const other = named.filter((one) => one.slice("pawl ".length) !== VERSION);
    expect(other, "node scripts/name-version.mjs renews it").toEqual([]);
  },
);

/** What stands for a value is written in capitals, with an ellipsis, or as alternatives; options are words of their own. */
function mistakesIn(span: string): string[] {
  if (!/^pawl(?: |$)/.test(span)) return [];
  const [before = ""] = span.split(" -- ");
  const words = before
    .split(" ")
    .slice(1)
    .filter((word) => /^[a-z-]/.test(word));
  if (/^(?:help$|--(?:help|version)\b)/.test(words[0] ?? "") || words[0] === undefined) return [];
  try {
    const found = findCommand([...commands.keys()], words);
    if ("group" in found) return [];
    const known = optionsOf(commands.get(found.id) as Command);
    return words
      .filter((word) => word.startsWith("--"))
      .map((word) => word.slice(2).split(/[=|]/)[0] ?? "")
      .filter((name) => name !== "" && !known.has(name))
      .map((name) => `has no --${name}`);
  } catch {
    return ["is no command"];
  }
}
