import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { expect, test } from "vitest";
import {
  insertEntries,
  lookAtEntries,
  removeEntries,
  replaceEntries,
} from "../../../src/installer/edit/entries.ts";
import type { Entry } from "../../../src/installer/edit/types.ts";
import { Failure } from "../../../src/model/failure.ts";
import { isInterleaving } from "./interleaving.ts";
import { oddToml } from "./odd-toml.ts";

const file = { path: ".codex/config.toml", format: "toml" } as const;
const RUNS = { numRuns: 300 };

const server = (name: string, args: string[]): Entry => ({
  at: ["mcp_servers", name],
  kind: "key",
  value: { command: "node", args, env: { "A b": "é\u007f" }, enabled: true, startup_timeout_sec: 20 },
});
const OURS = [server("pawl", ["-e", 'import("x")']), server("pawl two", [])];
const NEWER = [server("pawl", ["-e", "y", "\\ \" '"]), server("pawl two", ["z"])];

/** Read by another parser than ours. */
function plain(text: string): Record<string, unknown> {
  return parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: "asNeeded" });
}

function withoutOurs(text: string): Record<string, unknown> {
  const { mcp_servers: servers, ...rest } = plain(text) as { mcp_servers?: Record<string, unknown> };
  const others = Object.entries(servers ?? {}).filter(([name]) => !name.startsWith("pawl"));
  return others.length > 0 ? { ...rest, mcp_servers: Object.fromEntries(others) } : rest;
}

test("an insertion only inserts, another parser reads it, and taking it out gives the file back", () => {
  fc.assert(
    fc.property(oddToml([true]), ({ text: before }) => {
      const { text, inserted, entries } = insertEntries(file, before, OURS);
      expect(entries).toEqual(OURS);
      expect(isInterleaving(before, inserted.pieces, text)).toBe(true);
      const servers = plain(text).mcp_servers as Record<string, unknown>;
      expect([servers.pawl, servers["pawl two"]]).toEqual(OURS.map(({ value }) => value));
      expect(withoutOurs(text)).toEqual(withoutOurs(before));
      expect(insertEntries(file, text, OURS)).toMatchObject({ text, entries: [] });
      expect(removeEntries(file, text, OURS, inserted)).toEqual({ text: before, exact: true, left: [] });
    }),
    RUNS,
  );
});

test("new values come where the old ones were, and can be taken out as exactly", () => {
  fc.assert(
    fc.property(oddToml([true]), ({ text: before }) => {
      const first = insertEntries(file, before, OURS);
      const second = replaceEntries(file, first.text, OURS, NEWER, first.inserted);
      const servers = plain(second.text).mcp_servers as Record<string, unknown>;
      expect([servers.pawl, servers["pawl two"]]).toEqual(NEWER.map(({ value }) => value));
      expect(removeEntries(file, second.text, NEWER, second.inserted).text).toBe(before);
      const one = replaceEntries(file, first.text, OURS, NEWER.slice(0, 1), first.inserted);
      expect(withoutOurs(removeEntries(file, one.text, NEWER, one.inserted).text ?? "")).toEqual(
        withoutOurs(before),
      );
    }),
    RUNS,
  );
});

/** What a user may do to the file between an installation and its removal. */
const EDITS: Record<string, (text: string) => string> = {
  "a formatter": (text) => stringify(plain(text)),
  "a table at the end": (text) => `${text}\n[theirs]\nx = 1 # mine\n`,
  "a server at the end": (text) => {
    const closed = /^\ufeff?(?:[^[]*\n)?mcp_servers\s*=/.test(text);
    return closed ? text.replace("pawl = {", "theirs = 1, pawl = {") : `${text}\n[mcp_servers.theirs]\n`;
  },
  "a key at the start": (text) => text.replace(/^\ufeff?/, (mark) => `${mark}"first key" = 1 # mine\n`),
  "other spacing": (text) =>
    text.replaceAll(' = "node"', '="node"').replaceAll("[mcp_servers.pawl]", "[ mcp_servers . pawl ]"),
  "other line ends": (text) => text.replaceAll(/\r?\n/g, (end) => (end === "\n" ? "\r\n" : "\n")),
};

test.each(Object.keys(EDITS))("after %s, removal takes ours alone", (name) => {
  fc.assert(
    fc.property(oddToml([true]), ({ text: before }) => {
      const { text, inserted } = insertEntries(file, before, OURS);
      const edited = (EDITS[name] as (text: string) => string)(text);
      const removed = removeEntries(file, edited, OURS, inserted);
      expect(removed.left).toEqual([]);
      expect(lookAtEntries(file, removed.text, OURS).every(({ found }) => found === "absent")).toBe(true);
      expect(withoutOurs(removed.text ?? "")).toEqual(withoutOurs(edited));
    }),
    RUNS,
  );
});

test("a file without room is refused, any other text is edited or refused", () => {
  fc.assert(
    fc.property(oddToml([false]), ({ text }) => {
      expect(() => insertEntries(file, text, OURS)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(container_of_another_type|entry_taken)$/) }),
      );
    }),
    RUNS,
  );
  fc.assert(
    fc.property(
      oddToml([true, false]),
      fc.nat(),
      fc.nat({ max: 9 }),
      fc.string(),
      ({ text }, at, cut, put) => {
        const from = text.length === 0 ? 0 : at % text.length;
        const broken = text.slice(0, from) + put + text.slice(from + cut);
        try {
          const { text: after, inserted, entries } = insertEntries(file, broken, OURS);
          expect(removeEntries(file, after, entries, inserted).text).toBe(broken);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          expect(error.kind).not.toBe("internal");
        }
      },
    ),
    { numRuns: 800 },
  );
});
