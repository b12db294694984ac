// @module-tag again
import fc from "fast-check";
import { applyEdits, modify, type Node, parse, parseTree, visit } from "jsonc-parser";
import prettier from "prettier";
import { expect, test } from "vitest";
import {
  insertEntries,
  lookAtEntries,
  removeEntries,
  replaceEntries,
} from "../../../src/installer/edit/entries.ts";
import type { Entry, Json } from "../../../src/installer/edit/types.ts";
import { Failure } from "../../../src/model/failure.ts";
import { runs } from "../../helpers/long-runs.ts";
import { isInterleaving } from "./interleaving.ts";
import { anyFiles, type Odd, roomyFiles } from "./odd-json.ts";

const file = { path: ".claude/settings.json", format: "json" } as const;
const RUNS = runs(100);

const command = (name: string): Json => ({
  matcher: "Bash",
  hooks: [
    { type: "command", command: `node "\${CLAUDE_PROJECT_DIR:-.}/.pawl/hook.cjs" ${name}`, timeout: 20 },
  ],
});
const server = (args: string[]): Entry => ({
  at: ["mcpServers", "pawl"],
  kind: "key",
  value: { command: "node", args },
});
const hook = (event: string, name: string): Entry => ({
  at: ["hooks", event],
  kind: "item",
  value: command(name),
});

const OURS = [server(["-e", "x"]), hook("PreToolUse", "a"), hook("Stop", "a"), hook("PreToolUse", "b")];
const NEWER = [
  server(["-e", "longer ".repeat(12), "y"]),
  hook("PreToolUse", "c"),
  hook("Stop", "c"),
  hook("PreToolUse", "d"),
];
const some = fc.subarray([0, 1, 2, 3], { minLength: 1 });
const pick = (all: Entry[], which: number[]) => which.map((index) => all[index] as Entry);

/** As JSON.parse reads it, `__proto__` included, but with comments and commas. */
function plain(text: string): unknown {
  const read = (node: Node | undefined): unknown => {
    if (node?.type === "array") return node.children?.map(read);
    if (node?.type !== "object") return node?.value;
    return Object.fromEntries(
      (node.children ?? []).map(({ children }) => [children?.[0]?.value, read(children?.[1])]),
    );
  };
  return read(parseTree(text.replace(/^\ufeff/, ""), [], { allowTrailingComma: true }));
}

function commentsOf(text: string): string[] {
  const found: string[] = [];
  visit(text, { onComment: (offset, length) => found.push(text.slice(offset, offset + length)) });
  return found;
}

test("an insertion only inserts, and removing it restores the file", () => {
  fc.assert(
    fc.property(roomyFiles, some, ({ text: before }, which) => {
      const entries = pick(OURS, which);
      const { text, inserted, entries: wrote } = insertEntries(file, before, entries);
      expect(isInterleaving(before, inserted.pieces, text)).toBe(true);
      expect(wrote).toEqual(entries);
      expect(lookAtEntries(file, text, entries).every(({ found }) => found === "same")).toBe(true);
      expect(removeEntries(file, text, entries, inserted)).toEqual({ text: before, exact: true, left: [] });
    }),
    RUNS,
  );
});

test("inserting twice is the same as inserting once", () => {
  fc.assert(
    fc.property(roomyFiles, some, ({ text: before }, which) => {
      const once = insertEntries(file, before, pick(OURS, which));
      const twice = insertEntries(file, once.text, pick(OURS, which));
      expect(twice).toEqual({
        text: once.text,
        inserted: { created: false, pieces: [], made: [] },
        entries: [],
      });
      const grown = insertEntries(file, once.text, OURS);
      expect(lookAtEntries(file, grown.text, OURS).every(({ found }) => found === "same")).toBe(true);
    }),
    RUNS,
  );
});

test("the user's values and comments stay, and ours are present", () => {
  fc.assert(
    fc.property(roomyFiles, some, ({ text: before }, which) => {
      const entries = pick(OURS, which);
      const { text, inserted } = insertEntries(file, before, entries);
      const errors: never[] = [];
      parse(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true });
      expect(errors).toEqual([]);
      const after = plain(text) as Record<string, Record<string, unknown>>;
      expect(pruned(after, entries, inserted.made)).toEqual(plain(before) ?? {});
      for (const { at, kind, value } of entries) {
        const held = after[at[0] as string]?.[at[1] as string];
        expect(kind === "key" ? [held] : held).toContainEqual(value);
      }
    }),
    RUNS,
  );
});

test("new values replace ours in place, and can be removed as exactly", () => {
  fc.assert(
    fc.property(roomyFiles, some, some, ({ text: before }, which, then) => {
      const first = insertEntries(file, before, pick(OURS, which));
      const second = replaceEntries(file, first.text, pick(OURS, which), pick(NEWER, then), first.inserted);
      expect(lookAtEntries(file, second.text, pick(NEWER, then)).every(({ found }) => found === "same")).toBe(
        true,
      );
      expect(lookAtEntries(file, second.text, pick(OURS, which)).some(({ found }) => found === "same")).toBe(
        false,
      );
      if (which.every((index) => then.includes(index)))
        expect(removeEntries(file, second.text, pick(NEWER, then), second.inserted).text).toBe(before);
      const paths = (value: unknown) => Object.keys((value as { mcpServers?: object }).mcpServers ?? {});
      if (which.includes(0) && then.includes(0))
        expect(paths(plain(second.text))).toEqual(paths(plain(first.text)));
    }),
    RUNS,
  );
});

test("an update removes what is no longer wanted and keeps what is the user's", () => {
  fc.assert(
    fc.property(roomyFiles, some, some, ({ text: before }, which, then) => {
      const first = insertEntries(file, before, pick(OURS, which));
      const second = replaceEntries(file, first.text, pick(OURS, which), pick(NEWER, then), first.inserted);
      const { text, exact } = removeEntries(file, second.text, pick(NEWER, then), second.inserted);
      if (exact) expect(text).toBe(before);
      expect(plain(text ?? "")).toEqual(plain(before));
      expect(commentsOf(text ?? "")).toEqual(commentsOf(before));
    }),
    RUNS,
  );
});

/** What a user may do to the file between an installation and its removal. */
const EDITS: Record<string, (text: string) => string | Promise<string>> = {
  prettier: (text) =>
    prettier.format(text, { parser: "json", trailingComma: "none", quoteProps: "preserve" }),
  "prettier with commas": (text) =>
    prettier.format(text, { parser: "jsonc", trailingComma: "all", tabWidth: 4 }),
  "a key before": (text) => edit(text, ["0 first"], 0),
  "a key after": (text) => edit(text, ["zz last"], 99),
  "a server before": (text) => edit(text, ["mcpServers", "0 first"], 0),
  "a server after": (text) => edit(text, ["mcpServers", "zz last"], 99),
  "an event after": (text) => edit(text, ["hooks", "zz"], 99),
  "other line ends": (text) => text.replaceAll(/\r?\n/g, (end) => (end === "\n" ? "\r\n" : "\n")),
};

function edit(text: string, path: string[], index: number): string {
  const [mark, rest] = text.startsWith("\ufeff") ? ["\ufeff", text.slice(1)] : ["", text];
  const options = {
    formattingOptions: { insertSpaces: true, tabSize: 2 },
    getInsertionIndex: (names: string[]) => Math.min(index, names.length),
  };
  const edited = mark + applyEdits(rest, modify(rest, path, { of: "theirs" }, options));
  // The library puts a comma into a comment that ends a list; such an edit is not one that a user would keep.
  const errors: never[] = [];
  parse(edited.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true });
  return errors.length > 0 ? text : edited;
}

test.each(Object.keys(EDITS))("after %s, removal takes only ours", async (name) => {
  await fc.assert(
    fc.asyncProperty(roomyFiles, some, async ({ text: before }, which) => {
      const entries = pick(OURS, which);
      const { text, inserted } = insertEntries(file, before, entries);
      const edited = await (EDITS[name] as (typeof EDITS)[string])(text);
      const removed = removeEntries(file, edited, entries, inserted);
      expect(removed.left).toEqual([]);
      expect(lookAtEntries(file, removed.text, entries).every(({ found }) => found === "absent")).toBe(true);
      expect(plain(removed.text ?? "") ?? {}).toEqual(pruned(plain(edited), entries, inserted.made));
      if (!name.startsWith("prettier")) expect(commentsOf(removed.text ?? "")).toEqual(commentsOf(edited));
    }),
    runs(100),
  );
});

/** Ours taken out of a parsed document, and what was made for it where it is empty now. */
function pruned(value: unknown, entries: Entry[], made: string[][]): unknown {
  const copy = structuredClone(value) as Record<string, Record<string, unknown[]>>;
  for (const { at, kind, value: ours } of entries) {
    const [outer = "", inner = ""] = at;
    const container = copy[outer] as Record<string, unknown[]>;
    if (kind === "key") delete container[inner];
    else
      container[inner] = (container[inner] as unknown[]).filter(
        (item) => JSON.stringify(item) !== JSON.stringify(ours),
      );
  }
  for (const path of [...made].sort((one, other) => other.length - one.length)) {
    const [outer, inner] = path;
    if (outer === undefined) continue;
    const holder = (inner === undefined ? copy : copy[outer]) as Record<string, object>;
    const key = inner ?? outer;
    if (Object.keys(holder[key] ?? { x: 1 }).length === 0) delete holder[key];
  }
  return copy;
}

function refusal(root: Odd | undefined, { at, kind }: Entry): string | undefined {
  let odd = root;
  for (const key of at) {
    if (odd === undefined) return undefined;
    if (odd.kind !== "object") return "container_of_another_type";
    const found: [string, Odd][] = odd.members.filter(([name]) => name === key);
    if (found.length > 1) return "key_defined_twice";
    odd = found[0]?.[1];
  }
  if (odd === undefined) return undefined;
  if (kind === "key") return "entry_taken";
  return odd.kind === "array" ? undefined : "container_of_another_type";
}

test("only a file without room for an entry is refused, for the right reason", () => {
  fc.assert(
    fc.property(anyFiles, fc.constantFrom(...OURS), ({ root, text }, entry) => {
      const expected = refusal(root, entry);
      try {
        insertEntries(file, text, [entry]);
        expect(expected).toBeUndefined();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        expect(error.code).toBe(expected);
        expect(error.message).toMatch(/line \d+, column \d+/);
      }
    }),
    runs(300),
  );
});

test("any text is either edited or refused", () => {
  fc.assert(
    fc.property(anyFiles, fc.nat(), fc.nat({ max: 9 }), fc.string(), ({ text }, at, cut, put) => {
      const from = text.length === 0 ? 0 : at % text.length;
      const broken = text.slice(0, from) + put + text.slice(from + cut);
      try {
        const { text: after, inserted, entries } = insertEntries(file, broken, OURS);
        expect(removeEntries(file, after, entries, inserted).text).toBe(broken);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        expect(error.kind).not.toBe("internal");
      }
    }),
    runs(300),
  );
});
