import { expect, test } from "vitest";
import {
  insertEntries,
  lookAtEntries,
  removeEntries,
  replaceEntries,
} from "../../../src/installer/edit/entries.ts";
import type { Entry } from "../../../src/installer/edit/types.ts";

const file = { path: ".codex/config.toml", format: "toml" } as const;
const server: Entry = {
  at: ["mcp_servers", "pawl"],
  kind: "key",
  value: { command: "node", args: ["-e", "1"] },
};
const TABLE = '[mcp_servers.pawl]\ncommand = "node"\nargs = ["-e", "1"]';
const INLINE = 'pawl = { command = "node", args = ["-e", "1"] }';

test.each([
  ["no file", undefined, `${TABLE}\n`],
  ["an empty file", "", `${TABLE}\n`],
  ["other settings", 'model = "x"\n', `model = "x"\n\n${TABLE}\n`],
  ["no line end at the end", 'model = "x" # mine', `model = "x" # mine\n\n${TABLE}`],
  ["an empty line at the end", "a = 1\n\n", `a = 1\n\n${TABLE}\n`],
  ["other servers", '[mcp_servers.a]\ncommand = "b"\n', `[mcp_servers.a]\ncommand = "b"\n\n${TABLE}\n`],
  ["a server with dots", 'mcp_servers.a.command = "b"\n', `mcp_servers.a.command = "b"\n\n${TABLE}\n`],
  [
    "servers on one line",
    'mcp_servers = { a = { command = "b" } }\n',
    `mcp_servers = { a = { command = "b" }, ${INLINE} }\n`,
  ],
  ["no servers on one line", "mcp_servers = {}", `mcp_servers = { ${INLINE} }`],
  ["no servers, with a space", "mcp_servers = { }", `mcp_servers = { ${INLINE} }`],
  ["windows", "a = 1\r\n", `a = 1\r\n\r\n${TABLE.replaceAll("\n", "\r\n")}\r\n`],
  [
    "newer TOML",
    "mcp_servers = {\n  a = {}, # mine\n}\n",
    `mcp_servers = {\n  a = {}, # mine\n  ${INLINE},\n}\n`,
  ],
])("what an entry looks like in: %s", (_, before, after) => {
  const { text, inserted } = insertEntries(file, before, [server]);
  expect(text).toBe(after);
  expect(removeEntries(file, text, [server], inserted)).toEqual({ text: before, exact: true, left: [] });
});

test.each([
  ["a = ", "file_unreadable", "line 1, column 5"],
  ["a = 1\na = 2\n", "file_unreadable", "line 2, column 1"],
  ["mcp_servers = []\n", "container_of_another_type", "`mcp_servers` is an array"],
  ["[[mcp_servers]]\n", "container_of_another_type", "`mcp_servers` is an array"],
  [
    'x = 1\nmcp_servers = "no"\n',
    "container_of_another_type",
    "line 2, column 15: `mcp_servers` is a string",
  ],
  ['[mcp_servers.pawl]\ncommand = "mine"\n', "entry_taken", "`mcp_servers.pawl` is there already"],
  ['[mcp_servers]\npawl.command = "mine"\n', "entry_taken", "line 2, column 1"],
])("%j is refused", (before, code, words) => {
  expect(() => insertEntries(file, before, [server])).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(words) }),
  );
});

test.each([
  ["a table", TABLE],
  ["a table in another order", '[mcp_servers.pawl]\nargs = [ "-e", "1", ]\ncommand = "node"'],
  ["an inline table", `[mcp_servers]\n${INLINE}`],
  ["dots", "mcp_servers.pawl.command = 'node'\nmcp_servers.pawl.args = ['-e', '1']"],
  ["quoted names", '["mcp_servers" . \'pawl\']\n"command" = "node"\nargs = ["-e", """1"""]'],
])("ours is recognised by its value, written as %s, and taken out without a trace of it", (_, ours) => {
  const look = lookAtEntries(file, `a = 1\n\n${ours}\n\n[b]\nc = 1\n`, [server]);
  expect(look[0]?.found).toBe("same");
  const inserted = { created: false, pieces: ["gone"], made: [] };
  // Dots come before the first table, everything else may come after one.
  const before = ours.startsWith("mcp_servers.") ? "a = 1\n" : "a = 1\n\n[z]\n";
  const { text, exact } = removeEntries(file, `${before}\n${ours}\n\n[b]\nc = 1\n`, [server], inserted);
  const rest = ours.startsWith("[mcp_servers]") ? "[mcp_servers]\n\n" : "";
  expect({ text, exact }).toEqual({ text: `${before}\n${rest}[b]\nc = 1\n`, exact: false });
});

test("a comment in our table makes it the user's", () => {
  const { text, inserted } = insertEntries(file, "a = 1\n", [server]);
  const edited = text.replace("args", "# because\nargs");
  expect(lookAtEntries(file, edited, [server])[0]?.found).toBe("different");
  expect(removeEntries(file, edited, [server], inserted)).toEqual({
    text: edited,
    exact: false,
    left: [server],
  });
});

test("a value that is scattered over the file comes together when it is replaced", () => {
  const scattered =
    '[mcp_servers.pawl]\ncommand = "node"\n\n[other]\nx = 1 # mine\n\n[mcp_servers.pawl.env]\nA = "b"\n';
  const old: Entry = { ...server, value: { command: "node", env: { A: "b" } } };
  const inserted = { created: false, pieces: [], made: [] };
  const { text } = replaceEntries(file, scattered, [old], [server], inserted);
  expect(text).toBe(`[other]\nx = 1 # mine\n\n${TABLE}\n`);
});

test("a path with __proto__ is a path like any other", () => {
  const entry: Entry = { at: ["__proto__", "polluted"], kind: "key", value: { yes: true } };
  const { text, inserted } = insertEntries(file, "a = 1\n", [entry]);
  expect(lookAtEntries(file, text, [entry])[0]?.found).toBe("same");
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(removeEntries(file, text, [entry], inserted).text).toBe("a = 1\n");
});
