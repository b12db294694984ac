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
import { afterEach, beforeEach, expect, test } from "vitest";
import { search } from "../../src/store/search/search.ts";
import { loadSqlite, withConnection } from "../../src/store/search/sqlite.ts";
import { document, makeHome, Records } from "./search-fixture.ts";

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

function change(sql: string) {
  withConnection(loadSqlite({ oneShot: false }), index, "build", (connection) => connection.exec(sql));
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
    () => change("UPDATE about SET schema = 999999; UPDATE texts SET title = 'of another time'"),
  ],
  ["no self-description", () => change("DELETE FROM about")],
  ["a missing table", () => change("DROP TABLE texts")],
  ["missing words", () => change("DROP TABLE words")],
  ["a cursor that the source cannot read", () => change("UPDATE about SET cursor = 'nonsense'")],
  ["hits whose records are missing", () => change("UPDATE records SET record = record + 1000")],
  ["hits whose texts are missing", () => change("DELETE FROM texts WHERE record % 2 = 0")],
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
