import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recall, remember } from "../../src/files/cache.ts";
import { namesIfPresent } from "../../src/files/read.ts";

const fresh = () => mkdtempSync(join(tmpdir(), "pawl cache "));

test("an answer is known by its name and by all that it was made from", () => {
  const folder = fresh();
  remember(folder, "seal", "these words", { digest: "1" });
  expect(recall(folder, "seal", "these words")).toEqual({ digest: "1" });
  expect(recall(folder, "seal", "other words")).toBeUndefined();
  expect(recall(folder, "other", "these words")).toBeUndefined();
  remember(folder, "seal", "other words", { digest: "2" });
  expect(recall(folder, "seal", "these words")).toBeUndefined();
  expect(recall(folder, "seal", "other words")).toEqual({ digest: "2" });
});

test("only the latest are kept, and nothing lies beside them", () => {
  const folder = fresh();
  for (let at = 0; at < 100; at++) remember(folder, `name ${at}`, "", at);
  expect(recall(folder, "name 99")).toBe(99);
  expect(recall(folder, "name 36")).toBe(36);
  expect(recall(folder, "name 35")).toBeUndefined();
  expect(namesIfPresent(folder)).toEqual(["answers.cache"]);
});

test.each(["", "{}", "[null]", '[["name"', "5"])(
  "a file with %j in it knows nothing, and is replaced",
  (text) => {
    const folder = fresh();
    writeFileSync(join(folder, "answers.cache"), text);
    expect(recall(folder, "name")).toBeUndefined();
    remember(folder, "name", "", "answer");
    expect(recall(folder, "name")).toBe("answer");
  },
);

test("where nothing can be written nothing is remembered, and nobody is stopped by it", () => {
  const folder = join(fresh(), "not there");
  remember(folder, "name", "", "answer");
  expect(recall(folder, "name")).toBeUndefined();
  const file = join(fresh(), "file");
  writeFileSync(file, "text");
  remember(file, "name", "", "answer");
  expect(readFileSync(file, "utf8")).toBe("text");
});
