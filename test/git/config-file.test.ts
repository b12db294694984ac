// @module-tag again
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { configValue, isOn, readConfig } from "../../src/git/config-file.ts";
import { runs } from "../helpers/long-runs.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const folder = makeTemporaryFolder("config file");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What git itself reads, as `section.key=value`; undefined where it refuses the file. */
function asGitReads(text: string): string[] | undefined {
  const file = join(folder, "config");
  writeFileSync(file, text);
  const { status, stdout } = spawnSync("git", ["config", "-f", file, "--list", "-z"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  return stdout
    .split("\0")
    .filter(Boolean)
    .map((one) => (one.includes("\n") ? one.replace("\n", "=") : `${one}=true`));
}

const asWeRead = (text: string) =>
  readConfig(text).map(({ section, key, value }) => `${section.replace(" ", ".")}.${key}=${value}`);

test.each([
  ["one line with its header", "[core] hooksPath = /x\n", "/x"],
  ["quotes, and a comment after them", '[core]\n\thooksPath = "/a b" # not /c\n', "/a b"],
  ["a comment that ends with a backslash", "[core]\n# C:\\\\dir\\\n\thooksPath = /x\n", "/x"],
  ["a value that goes on in the next line", "[core]\n\thooksPath = /a\\\n/b\n", "/a/b"],
  ["two headers in one line", '[alias] [core] hooksPath = "/x"\n', "/x"],
  ["the last one counts", "[core]\nhooksPath = /a\n[CORE]\nHOOKSPATH = /b\n", "/b"],
  ["a byte order mark and Windows' line ends", "\ufeff[core]\r\n\thooksPath = C:/x\r\n", "C:/x"],
  ["another section's key", "[other]\n\thooksPath = /x\n", undefined],
  ["a carriage return alone, which is a space", "[core]\n\r\thooksPath =\r/x\r \n", "/x"],
  ["escapes", '[core]\n\thooksPath = "C:\\\\a\\"b"\n', 'C:\\a"b'],
  ["nothing at all", "[core]\n\thooksPath =\n", ""],
])("%s", (_, text, value) => {
  expect(configValue(text, "core", "hookspath")).toBe(value);
  expect(asWeRead(text)).toEqual(asGitReads(text));
});

test("a file is read as git reads it", () => {
  const word = fc.constantFrom(
    "a",
    "B",
    " ",
    "  ",
    "\t",
    '"',
    '\\"',
    "\\\\",
    "\\t",
    "\\\n",
    "\r",
    "#",
    ";",
    "=",
    "[",
    "/x",
  );
  const value = fc.array(word, { maxLength: 6 }).map((words) => words.join(""));
  const line = fc.oneof(
    fc.constantFrom(
      "[core]",
      "[CORE]",
      "[Branch.A]",
      '[branch.x "Y.z"]',
      '[branch "a B"]',
      '[branch "q\\"s"]',
      "# note \\",
      "; ]",
      "",
      "  ",
      "[core] [a]",
    ),
    fc
      .tuple(fc.constantFrom("bare", "hooksPath", " Bare", "x-1"), value)
      .map(([key, said]) => `${key} = ${said}`),
    fc.constantFrom("bare", "\tbare  ", "\rbare = 1", "\r[core]", "[core] bare", "[a]bare=1"),
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
    .map(([lines, end, last]) => ["[core]", ...lines].join(end) + (last ? end : ""));
  fc.assert(
    fc.property(text, (config) => {
      const theirs = asGitReads(config);
      fc.pre(theirs !== undefined);
      expect(asWeRead(config).map(single)).toEqual(theirs?.map(single));
    }),
    runs(300),
  );
}, 60_000);

test("a section may be written with a dot", () => {
  for (const header of ['[hook "pawl"]', "[hook.pawl]", "[Hook.Pawl]"])
    expect(configValue(`${header}\n\tcommand = true\n`, "hook pawl", "command")).toBe("true");
});

/** Versions of git differ in whether spaces within a value stay as they are. */
const single = (entry: string) => entry.replace(/[ \t\r]+/g, " ");

test.each([
  ["[core]\n\tx = 1\n", false],
  ["[core]\n\tx = 1", true],
  ["[core]\n\tx", true],
  ["[core]\n\tx = 1\\\n", true],
  ["[core]\n\tx = 1 # no end \\\n", false],
])("whether the last entry of %j goes on", (text, open) => {
  expect(readConfig(text).at(-1)?.open).toBe(open);
});

test.each([
  ["true", true],
  ["Yes", true],
  ["on", true],
  ["1", true],
  ["false", false],
  ["0", false],
  ["", false],
  [undefined, false],
])("%s as a switch", (value, expected) => {
  expect(isOn(value)).toBe(expected);
});
