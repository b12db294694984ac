import { expect, test } from "vitest";
import {
  insertEntries,
  lookAtEntries,
  removeEntries,
  replaceEntries,
} from "../../../src/installer/edit/entries.ts";
import type { Entry } from "../../../src/installer/edit/types.ts";

const file = { path: ".mcp.json", format: "json" } as const;
const server: Entry = {
  at: ["mcpServers", "pawl"],
  kind: "key",
  value: { command: "node", args: ["-e", "1"] },
};
const hook: Entry = {
  at: ["hooks", "Stop"],
  kind: "item",
  value: { hooks: [{ type: "command", command: "x" }] },
};

const PRINTED = '"pawl": {\n      "command": "node",\n      "args": ["-e", "1"]\n    }';

test.each([
  ["no file", undefined, `{\n  "mcpServers": {\n    ${PRINTED}\n  }\n}\n`],
  ["an empty file", "", `{\n  "mcpServers": {\n    ${PRINTED}\n  }\n}\n`],
  ["an empty object", "{}\n", `{\n  "mcpServers": {\n    ${PRINTED}\n  }\n}\n`],
  [
    "other servers",
    '{\n  "mcpServers": {\n    "a": {}\n  }\n}',
    `{\n  "mcpServers": {\n    "a": {},\n    ${PRINTED}\n  }\n}`,
  ],
  [
    "a comment behind the last one",
    '{\n  "mcpServers": {\n    "a": {} // mine\n  }\n}',
    `{\n  "mcpServers": {\n    "a": {}, // mine\n    ${PRINTED}\n  }\n}`,
  ],
  [
    "a comma behind the last one",
    '{\n  "mcpServers": {\n    "a": {},\n  },\n}',
    `{\n  "mcpServers": {\n    "a": {},\n    ${PRINTED},\n  },\n}`,
  ],
  [
    "one line",
    '{ "mcpServers": {} }',
    '{ "mcpServers": { "pawl": { "command": "node", "args": ["-e", "1"] } } }',
  ],
  [
    "one line without spaces",
    '{"a":[]}',
    '{"a":[],"mcpServers":{"pawl":{"command":"node","args":["-e","1"]}}}',
  ],
  ["nothing but a comment", "// mine\n", `// mine\n{\n  "mcpServers": {\n    ${PRINTED}\n  }\n}\n`],
  [
    "tabs",
    '{\n\t"a": 1\n}\n',
    `{\n\t"a": 1,\n\t"mcpServers": {\n\t\t${PRINTED.replaceAll(/ {6}/g, "\t\t\t").replace(/ {4}}/, "\t\t}")}\n\t}\n}\n`,
  ],
])("how an entry looks in: %s", (_, before, after) => {
  const { text, inserted } = insertEntries(file, before, [server]);
  expect(text).toBe(after);
  expect(removeEntries(file, text, [server], inserted)).toEqual({ text: before, exact: true, left: [] });
});

const COMPACT = '"pawl":{"command":"node","args":["-e","1"]}';

test.each([
  ["alone, in a container of the user's", `{\n  "mcpServers": { ${COMPACT} }\n}`, '{\n  "mcpServers": {}\n}'],
  ["first", `{"mcpServers":{ ${COMPACT}, "a": 1 }}`, '{"mcpServers":{ "a": 1 }}'],
  ["last", `{"mcpServers":{ "a": 1 , ${COMPACT} }}`, '{"mcpServers":{ "a": 1  }}'],
  [
    "in the middle",
    `{"mcpServers":{\n  "a": 1,\n  ${COMPACT},\n  "b": 2\n}}`,
    '{"mcpServers":{\n  "a": 1,\n  "b": 2\n}}',
  ],
  [
    "with a comma at the end",
    `{"mcpServers":{\n  "a": 1,\n  ${COMPACT},\n}}`,
    '{"mcpServers":{\n  "a": 1,\n}}',
  ],
  [
    "after a comment",
    `{"mcpServers":{\n  "a": 1, // mine\n  ${COMPACT}\n}}`,
    '{"mcpServers":{\n  "a": 1 // mine\n}}',
  ],
  [
    "between a comment and a bracket",
    `{"mcpServers":{"a": 1, // mine\n${COMPACT}}}`,
    '{"mcpServers":{"a": 1 // mine\n}}',
  ],
  ["alone with a comment", `{"mcpServers":{ // mine\n${COMPACT}}}`, '{"mcpServers":{ // mine\n}}'],
  [
    "before a comment",
    `{"mcpServers":{\n  ${COMPACT}, // why\n  "b": 2\n}}`,
    '{"mcpServers":{\n  // why\n  "b": 2\n}}',
  ],
])("an entry that was moved or reformatted is removed: %s", (_, before, after) => {
  const inserted = { created: false, pieces: ["not there any more"], made: [] };
  expect(removeEntries(file, before, [server], inserted)).toEqual({ text: after, exact: false, left: [] });
});

test.each([
  ["{", "file_unreadable", "line 1, column 2"],
  ['{\n  "a": 1\n  "b": 2\n}', "file_unreadable", "line 3, column 3"],
  ["[]", "container_of_another_type", "the whole file is an array"],
  ['{ "mcpServers": [] }', "container_of_another_type", "`mcpServers` is an array"],
  ['{\n  "mcpServers": "x"\n}', "container_of_another_type", "line 2, column 17"],
  ['{ "mcpServers": {}, "mcpServers": {} }', "key_defined_twice", "`mcpServers` appears twice"],
  ['{ "mcpServers": { "pawl": 1 } }', "entry_taken", "`mcpServers.pawl` already exists"],
])("%s is refused", (before, code, words) => {
  expect(() => insertEntries(file, before, [server])).toThrow(
    expect.objectContaining({
      code,
      message: expect.stringContaining(words),
      hint: expect.stringContaining(".mcp.json"),
    }),
  );
});

test("an object where an array belongs is refused", () => {
  expect(() => insertEntries(file, '{ "hooks": { "Stop": {} } }', [hook])).toThrow(
    expect.objectContaining({ code: "container_of_another_type" }),
  );
});

test("looking reports each entry with its value", () => {
  const look = (text: string) => lookAtEntries(file, text, [server]).map(({ found }) => found);
  expect(look("{}")).toEqual(["absent"]);
  expect(look('{"mcpServers":{"pawl":{"args":["-e","1"],"command":"node"}}}')).toEqual(["same"]);
  expect(look('{"mcpServers":{"pawl":{"args":["-e","1"],"command":"node" /* why */}}}')).toEqual([
    "different",
  ]);
  expect(lookAtEntries(file, '{"mcpServers":{"pawl":{"command":"other"}}}', [server])).toEqual([
    { at: ["mcpServers", "pawl"], found: "different", value: { command: "other" } },
  ]);
});

test("an entry that the user already had is not ours", () => {
  const theirs = '{"mcpServers":{"pawl":{"command":"node","args":["-e","1"]}}}';
  const { text, inserted, entries } = insertEntries(file, theirs, [server]);
  expect({ text, inserted, entries }).toEqual({
    text: theirs,
    inserted: { created: false, pieces: [], made: [] },
    entries: [],
  });
});

test("a user's edit of our entry stays and is reported", () => {
  const { text, inserted } = insertEntries(file, '{\n  "a": 1\n}\n', [server, hook]);
  const edited = text.replace('"-e"', '"--eval"');
  const removed = removeEntries(file, edited, [server, hook], inserted);
  expect(removed.left).toEqual([server]);
  expect(removed.exact).toBe(false);
  expect(JSON.parse(removed.text ?? "")).toEqual({
    a: 1,
    mcpServers: { pawl: { command: "node", args: ["--eval", "1"] } },
  });
});

test("a path with __proto__ works like any other", () => {
  const entry: Entry = { at: ["__proto__", "polluted"], kind: "key", value: { yes: true } };
  const { text, inserted } = insertEntries(file, "{}\n", [entry]);
  expect(text).toContain('"__proto__": {');
  expect(lookAtEntries(file, text, [entry])[0]?.found).toBe("same");
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(removeEntries(file, text, [entry], inserted).text).toBe("{}\n");
});

test("after an update that also removed the user's white space, removal does not claim to be exact", () => {
  const other: Entry = { ...hook, value: "second" };
  const { text, inserted } = insertEntries(file, '{ "hooks": { "Stop": [1] } }', [hook, other]);
  const edited = text.replace('"second"', '"second",   2');
  const updated = replaceEntries(file, edited, [hook, other], [hook], inserted);
  expect(updated.inserted.pieces).toEqual([]);
  expect(removeEntries(file, updated.text, [hook], updated.inserted)).toEqual({
    text: '{ "hooks": { "Stop": [1, 2] } }',
    exact: false,
    left: [],
  });
});
