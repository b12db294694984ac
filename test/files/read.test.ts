import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeIfEmpty } from "../../src/files/durable.ts";
import {
  bytesIfReadable,
  canonicalPath,
  isFolder,
  jsonIfReadable,
  lineIfReadable,
  linkIfReadable,
  namesIfPresent,
  namesIfReadable,
  pathsIfPresent,
  realpathOr,
  textIfPresent,
  textIfReadable,
} from "../../src/files/read.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl read ")));
const at = (name: string) => join(folder, name);
mkdirSync(at("full"));
mkdirSync(at("empty"));
writeFileSync(at("full/file"), " one line \n");
writeFileSync(at("nothing"), "");
writeFileSync(at("cut.json"), '{"half":');
writeFileSync(at("whole.json"), '{"whole":true}');
// Neither present nor absent, for whoever runs this: a link that leads to itself.
symlinkSync("loop", at("loop"));
symlinkSync("nowhere", at("dangling"));

const ABSENT = ["missing", "missing/below", "full/file/below", "dangling"];

test.each(ABSENT)("%s is absent: nothing, and no error", (name) => {
  for (const read of [textIfPresent, textIfReadable, lineIfReadable, bytesIfReadable, jsonIfReadable])
    expect(read(at(name))).toBeUndefined();
  for (const list of [namesIfPresent, namesIfReadable, pathsIfPresent]) expect(list(at(name))).toEqual([]);
});

test("a folder is no file, and a file is no folder", () => {
  expect(textIfPresent(at("full"))).toBeUndefined();
  expect(textIfReadable(at("full"))).toBeUndefined();
  expect(namesIfPresent(at("full/file"))).toEqual([]);
  expect(namesIfReadable(at("full/file"))).toEqual([]);
  expect(pathsIfPresent(at("full/file"))).toEqual([]);
});

test("what is there but cannot be read is an error for one kind, and nothing for the other", () => {
  expect(() => textIfPresent(at("loop"))).toThrow("ELOOP");
  expect(() => namesIfPresent(at("loop"))).toThrow("ELOOP");
  expect(() => pathsIfPresent(at("loop"))).toThrow("ELOOP");
  expect(() => textIfPresent(at("loop/below"))).toThrow("ELOOP");
  expect(textIfReadable(at("loop"))).toBeUndefined();
  expect(lineIfReadable(at("loop"))).toBeUndefined();
  expect(namesIfReadable(at("loop"))).toEqual([]);
});

test("what is there is read", () => {
  expect(textIfPresent(at("full/file"))).toBe(" one line \n");
  expect(textIfReadable(at("full/file"))).toBe(" one line \n");
  expect(lineIfReadable(at("full/file"))).toBe("one line");
  expect(bytesIfReadable(at("full/file"))?.length).toBe(11);
  expect(namesIfPresent(at("full"))).toEqual(["file"]);
  expect(namesIfReadable(at("full"))).toEqual(["file"]);
  expect(pathsIfPresent(folder).filter((path) => path.startsWith("full"))).toEqual(["full", "full/file"]);
  expect(linkIfReadable(at("dangling"))).toBe("nowhere");
  expect(linkIfReadable(at("full"))).toBeUndefined();
  expect(jsonIfReadable(at("whole.json"))).toEqual({ whole: true });
  expect(jsonIfReadable(at("cut.json"))).toBeUndefined();
  // An empty file is text, but no line.
  expect([textIfPresent(at("nothing")), textIfReadable(at("nothing"))]).toEqual(["", ""]);
  expect(lineIfReadable(at("nothing"))).toBeUndefined();
});

test("only an empty folder is removed", () => {
  expect(removeIfEmpty(at("full"))).toBe(false);
  expect(removeIfEmpty(at("missing"))).toBe(false);
  expect(removeIfEmpty(at("full/file"))).toBe(false);
  expect(namesIfPresent(at("full"))).toEqual(["file"]);
  expect(removeIfEmpty(at("empty"))).toBe(true);
});

test("paths lose their links, as far as anything is there", () => {
  symlinkSync("full", at("link"));
  expect([realpathOr(at("link/file")), canonicalPath(at("link/file"))]).toEqual(
    Array(2).fill(at("full/file")),
  );
  expect([realpathOr(at("link/new/one")), canonicalPath(at("link/new/one"))]).toEqual([
    at("link/new/one"),
    at("full/new/one"),
  ]);
  expect(canonicalPath(at("dangling"))).toBe(at("dangling"));
  expect(["full", "link", "full/file", "full/file/below", "missing"].map((one) => isFolder(at(one)))).toEqual(
    [...[true, true, false, false, false]],
  );
});
