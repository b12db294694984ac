import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Database } from "node-sqlite3-wasm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NeedsFullYaml } from "../../src/model/record.ts";
import { search } from "../../src/store/search/search.ts";
import { document, leftOvers, makeHome, Records } from "./search-fixture.ts";

let home: string;
let dir: string;
let index: string;
let records: Records;

beforeEach(() => {
  home = makeHome();
  dir = join(home, "index dir");
  index = join(dir, "index.sqlite");
  records = new Records(home);
  for (let id = 0; id < 60; id++)
    records.put(`${id}.md`, document(`T${id}`, `alpha ${id}`, `${"beta gamma ".repeat(id)} delta`));
});

afterEach(() => rmSync(join(home, ".."), { recursive: true, force: true }));

const find = (at = dir) =>
  search({
    dir: at,
    source: records,
    query: { words: "alpha gamma" },
    now: Date.now() + 60_000,
    oneShot: false,
  });

/** Node 24's own SQLite refuses to write to the tables that FTS5 keeps. */
function change(sql: string) {
  const database = new Database(index);
  database.exec(sql);
  database.close();
}

function overwrite(from: number, length: number) {
  const bytes = readFileSync(index);
  for (let at = from; at < Math.min(bytes.length, from + length); at++) bytes[at] = (at * 31 + 7) % 256;
  rmSync(index);
  writeFileSync(index, bytes);
}

function replaceByDirectory() {
  rmSync(index);
  mkdirSync(join(index, "sub"), { recursive: true });
}

const damages: [name: string, damage: () => void][] = [
  ["deleted", () => rmSync(index)],
  ["the whole directory deleted", () => rmSync(dir, { recursive: true })],
  ["empty", () => writeFileSync(index, "")],
  ["truncated to half", () => truncateSync(index, Math.floor(statSync(index).size / 2))],
  ["truncated within the first page", () => truncateSync(index, 1_000)],
  [
    "random bytes",
    () => writeFileSync(index, Buffer.from(Array.from({ length: 40_000 }, (_, at) => (at * 7919) % 251))),
  ],
  ["a broken header", () => overwrite(0, 100)],
  ["broken pages after the first", () => overwrite(4_096, 1e9)],
  [
    "text",
    () =>
      writeFileSync(index, "this is not a database, but it is long enough to be taken for one\n".repeat(200)),
  ],
  ["a directory in its place", replaceByDirectory],
  [
    "another schema",
    () => change("UPDATE about SET schema = 999999; UPDATE words SET title = 'of another time'"),
  ],
  ["no self-description", () => change("DELETE FROM about")],
  ["a missing table", () => change("DROP TABLE records")],
  ["missing words", () => change("DROP TABLE words")],
  ["a cursor that the source cannot read", () => change("UPDATE about SET cursor = 'nonsense'")],
  ["hits whose records are missing", () => change("UPDATE records SET record = record + 1000")],
  ["hits whose texts are missing", () => change("DELETE FROM words_content WHERE id % 2 = 0")],
  ["the lock directory of a killed process", () => mkdirSync(`${index}.lock`)],
  ["no readers directory", () => rmSync(join(dir, "readers"), { recursive: true })],
  ["a damaged scan stamp", () => writeFileSync(join(dir, "index.scanned"), "{")],
];

test.each(damages)("%s: the same answer, then and afterwards", async (_name, damage) => {
  const expected = await find();
  expect(expected.total).toBe(59);
  damage();
  expect(await find()).toEqual(expected);
  expect(await find()).toEqual(expected);
  records.put("new.md", document("T900", "alpha gamma"));
  expect((await find()).total).toBe(60);
  expect(statSync(index).isFile()).toBe(true);
  expect(readdirSync(join(dir, "readers"))).toEqual([]);
});

test("what killed processes left is removed after ten minutes, and not before", async () => {
  await find();
  const now = Date.now() + 60_000;
  const names = (age: number) => [`${now - age}-1-abc.sqlite`, `${now - age}-1-abc.sqlite.lock`];
  const lay = (folder: string, age: number) => {
    const [file = "", lock = ""] = names(age).map((name) => join(dir, folder + name));
    writeFileSync(file, "x");
    mkdirSync(lock);
  };
  for (const age of [60_000, 11 * 60_000]) for (const folder of ["readers/", ".build-"]) lay(folder, age);
  writeFileSync(join(dir, "readers", "foreign"), "x");
  utimesSync(join(dir, "readers", "foreign"), new Date(0), new Date(0));
  records.put("new.md", document("T900", "alpha gamma"));
  expect((await find()).total).toBe(60);
  expect(readdirSync(join(dir, "readers")).sort()).toEqual(names(60_000));
  expect(
    readdirSync(dir)
      .filter((name) => name.startsWith(".build-"))
      .sort(),
  ).toEqual(names(60_000).map((name) => `.build-${name}`));
});

test.each([
  ["a file where the directory should be", () => join(home, "records", "0.md", "sub")],
  ["a place where nobody can create anything", () => "/proc/pawl"],
])("%s: the same answer, from memory", async (_name, place) => {
  expect(await find(place())).toEqual(await find());
});

test("a source that fails is not taken for a damaged index", async () => {
  await find();
  records.scan = () => {
    throw new Error("the state is gone");
  };
  await expect(find()).rejects.toThrow("the state is gone");
  expect(readdirSync(join(dir, "readers"))).toEqual([]);
  expect(readdirSync(join(dir, "index.lock"))).toEqual([]);
});

describe("a record that needs the full parser", () => {
  test.each(["while building", "while refreshing"])(
    "%s: said at once, and nothing stays locked",
    async (when) => {
      if (when === "while refreshing") await find();
      records.put("1.md", document("T1", "alpha gamma by hand"));
      records.counts.read = 0;
      const read = records.read;
      records.read = (path) => {
        records.counts.read++;
        throw new NeedsFullYaml(path);
      };
      await expect(find()).rejects.toThrow(NeedsFullYaml);
      expect(records.counts.read).toBe(1);
      expect(leftOvers(dir)).toEqual([]);
      expect(readdirSync(join(dir, "index.lock"), { recursive: true })).toEqual([]);
      records.read = read;
      expect((await find()).total).toBe(59);
    },
  );
});

test("building an index of many records is announced once, of few not at all", async () => {
  const said: string[] = [];
  const run = (at: string) =>
    search({
      dir: at,
      source: records,
      query: { words: "alpha" },
      now: Date.now() + 60_000,
      oneShot: true,
      progress: (message) => void said.push(message),
    });
  for (let id = 60; id < 2_000; id++) records.editByHand(`${id}.md`, document(`T${id}`, "alpha"));
  await run(dir);
  expect(said).toEqual([]);
  records.editByHand("more.md", document("T9999", "alpha"));
  for (const at of [join(home, "other"), join(home, "other"), "/proc/pawl"]) await run(at);
  const message = "building the search index of 2001 records …";
  expect(said).toEqual([message, message]);
});
