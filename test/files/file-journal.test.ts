import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../src/files/digest.ts";
import {
  applyChanges,
  type FileChange,
  isApplied,
  parseJournal,
  UNCOMPARED,
} from "../../src/files/file-journal.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let top: string;
let root: string;
let staging: string;
beforeEach(() => {
  top = makeTemporaryFolder("file journal");
  [root, staging] = [join(top, "the root"), join(top, "staging")];
  mkdirSync(root);
  mkdirSync(staging);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const textAt = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : undefined;

/** What was placed, what was left alone, and what is there afterwards. */
function apply(change: Omit<FileChange, "path" | "staged">, more: { path?: string; appears?: string } = {}) {
  const whole: FileChange = { path: more.path ?? "folder/file", staged: "0", ...change };
  const seen: string[] = [];
  applyChanges(
    [whole],
    { root, staging },
    {
      placing: () => {
        seen.push("placing");
        if (more.appears !== undefined) put(join(root, whole.path), more.appears);
      },
      foreign: (_, staged) => seen.push(`foreign ${textAt(staged)}`),
    },
  );
  return {
    seen,
    there: textAt(join(root, whole.path)),
    waiting: readdirSync(staging),
    applied: isApplied(whole, { root, staging }),
  };
}

const OLD = sha256("old");
const NEW = sha256("new");

const ROWS: [string, { there?: string; staged?: string; change: [string | null, string | null] }, object][] =
  [
    [
      "a new file takes its place, in a folder that is missing",
      { staged: "new", change: [null, NEW] },
      { seen: ["placing"], there: "new", waiting: [], applied: true },
    ],
    [
      "a new file does not replace what somebody else made there",
      { there: "theirs", staged: "new", change: [null, NEW] },
      { seen: ["foreign new"], there: "theirs", waiting: ["0"], applied: false },
    ],
    [
      "a file that is as it was is replaced",
      { there: "old", staged: "new", change: [OLD, NEW] },
      { seen: ["placing"], there: "new", waiting: [], applied: true },
    ],
    [
      "a file that somebody edited since is left alone",
      { there: "edited", staged: "new", change: [OLD, NEW] },
      { seen: ["foreign new"], there: "edited", waiting: ["0"], applied: false },
    ],
    [
      "a file that somebody removed since stays away",
      { staged: "new", change: [OLD, NEW] },
      { seen: ["foreign new"], there: undefined, waiting: ["0"], applied: false },
    ],
    [
      "what was placed before a kill is placed, and what waited is thrown away",
      { there: "new", staged: "new", change: [OLD, NEW] },
      { seen: [], there: "new", waiting: [], applied: true },
    ],
    [
      "what was placed before a kill and edited since is nobody's business any more",
      { there: "edited", change: [OLD, NEW] },
      { seen: [], there: "edited", waiting: [] },
    ],
    [
      "a file that is as it was is removed",
      { there: "old", change: [OLD, null] },
      { seen: ["placing"], there: undefined, waiting: [], applied: true },
    ],
    [
      "an edited file is not removed",
      { there: "edited", change: [OLD, null] },
      { seen: ["foreign undefined"], there: "edited", waiting: [], applied: false },
    ],
    [
      "a file that is gone already is removed",
      { change: [OLD, null] },
      { seen: [], there: undefined, waiting: [], applied: true },
    ],
    [
      "what is not compared takes its place whatever is there",
      { there: "theirs", staged: "new", change: [null, UNCOMPARED] },
      { seen: ["placing"], there: "new", waiting: [], applied: true },
    ],
  ];

describe("one change", () => {
  test.each(ROWS)("%s", (_, { there, staged, change: [before, after] }, expected) => {
    if (there !== undefined) put(join(root, "folder/file"), there);
    if (staged !== undefined) put(join(staging, "0"), staged);
    expect(apply({ before, after })).toMatchObject(expected);
  });

  test("a file that appears at the last moment is not replaced", () => {
    put(join(staging, "0"), "new");
    expect(apply({ after: NEW }, { appears: "theirs" })).toMatchObject({
      seen: ["placing", "foreign new"],
      there: "theirs",
    });
  });

  test("a file keeps its mode", () => {
    put(join(root, "folder/file"), "old");
    chmodSync(join(root, "folder/file"), 0o754);
    put(join(staging, "0"), "new");
    apply({ before: OLD, after: NEW });
    expect(statSync(join(root, "folder/file")).mode & 0o7777).toBe(0o754);
  });

  test("a folder comes into being whole, or stays beside the one that is there", () => {
    put(join(staging, "0/file"), "new");
    expect(apply({ after: NEW })).toMatchObject({ seen: ["placing"], there: "new", waiting: [] });
    put(join(staging, "0/file"), "newer");
    expect(apply({ after: sha256("newer") })).toMatchObject({ there: "new", waiting: ["0"] });
  });
});

describe("a journal", () => {
  const pathsOf = (journal: { changes: FileChange[] }) =>
    journal.changes.flatMap(({ path, staged }) => [path, staged]);
  const journal = (path: string, staged = "0") => JSON.stringify({ changes: [{ path, staged, after: NEW }] });

  test("is read when all of it stays inside", () => {
    for (const path of ["a", "a/b.md", ".pawl/x", "a..b/c", "..a"])
      expect(parseJournal(journal(path), pathsOf)).toBeDefined();
  });

  test.each(["../a", "a/../../b", "/etc/passwd", "..", "C:\\x", "a\\..\\..\\b"])(
    "is refused for %s",
    (path) => {
      expect(parseJournal(journal(path), pathsOf)).toBeUndefined();
      expect(parseJournal(journal("a", path), pathsOf)).toBeUndefined();
    },
  );

  test.each(["", '{"changes":[{"pa', "null", "{}", '{"changes":[{}]}'])(
    "that is torn, %j, is none",
    (text) => {
      expect(parseJournal(text, pathsOf)).toBeUndefined();
    },
  );
});
