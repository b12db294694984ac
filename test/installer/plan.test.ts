import { describe, expect, test } from "vitest";
import { sha256 } from "../../src/files/digest.ts";
import type { Ledger, LedgerFile, OwnRecord } from "../../src/installer/plan/ledger.ts";
import type { Look } from "../../src/installer/plan/look.ts";
import { planFiles } from "../../src/installer/plan/plan-files.ts";
import type { Wanted } from "../../src/installer/plan/wanted.ts";

const look = (path: string, text: string | undefined, more: Partial<Look> = {}): Look => ({
  ...{ path, real: path, text, bytes: text === undefined ? undefined : Buffer.from(text), missing: [] },
  ...{ blocked: undefined, ...more },
});
const ledgerOf = (...files: LedgerFile[]): Ledger => ({
  ...{ schema: 1, pawl: "0.0.1", profile: "all", agents: [], flags: [], directories: [], files },
});
const ownRecord = (text: string, more: Partial<OwnRecord> = {}): OwnRecord => ({
  ...{ path: ".pawl/a", mode: "own", sha256: sha256(text), template: sha256("t"), created: true, ...more },
});
const own: Wanted = { mode: "own", path: ".pawl/a", text: "new\n", template: "t" };
const seed: Wanted = { ...own, seed: true };

interface Row {
  name: string;
  wanted?: Wanted[];
  ledger?: Ledger;
  there?: string | Look;
  force?: boolean;
  lenient?: boolean;
  expected: Record<string, unknown>;
}

const ROWS: Row[] = [
  { name: "absent", expected: { do: "create", record: { created: true } } },
  {
    name: "already the same, not ours",
    there: "new\n",
    expected: { do: "keep", record: { created: false } },
  },
  {
    name: "already the same, ours",
    there: "new\n",
    ledger: ledgerOf(ownRecord("new\n")),
    expected: { do: "keep", record: { created: true } },
  },
  {
    name: "the same with other line ends",
    there: "new\r\n",
    ledger: ledgerOf(ownRecord("new\n")),
    expected: { do: "keep" },
  },
  {
    name: "what we wrote before, to the byte",
    there: "old\n",
    ledger: ledgerOf(ownRecord("old\n")),
    expected: { do: "update", record: { sha256: sha256("new\n"), created: true } },
  },
  { name: "somebody else's", there: "theirs\n", expected: { do: "refuse", texts: { before: "theirs\n" } } },
  {
    name: "ours, empty as a power cut may leave it",
    there: "",
    ledger: ledgerOf(ownRecord("new\n")),
    expected: { do: "update", changes: [{ after: Buffer.from("new\n") }], record: { created: true } },
  },
  { name: "somebody else's, empty", there: "", expected: { do: "refuse" } },
  {
    name: "ours, edited, nothing newer",
    there: "edited\n",
    ledger: ledgerOf(ownRecord("new\n")),
    expected: { do: "keep", why: "you edited it" },
  },
  {
    name: "ours, edited, something newer",
    there: "edited\n",
    ledger: ledgerOf(ownRecord("old\n")),
    expected: { do: "refuse", why: "you edited it, and there is a newer one" },
  },
  {
    name: "the same for an upgrade",
    there: "edited\n",
    ledger: ledgerOf(ownRecord("old\n")),
    lenient: true,
    expected: { do: "keep", record: { sha256: sha256("old\n") } },
  },
  {
    name: "somebody else's, forced",
    there: "theirs\n",
    force: true,
    expected: {
      do: "update",
      record: { created: false, replaced: { original: sha256("theirs\n"), whole: sha256("new\n") } },
      changes: [{ keepAs: sha256("theirs\n") }],
    },
  },
  { name: "a seed that is there", wanted: [seed], there: "mine\n", expected: { do: "keep" } },
  {
    name: "a folder in the way",
    there: look(".pawl/a", undefined, { blocked: "is a folder" }),
    force: true,
    expected: { do: "refuse", why: "it is a folder" },
  },
  {
    name: "not wanted any more",
    wanted: [],
    there: "old\n",
    ledger: ledgerOf(ownRecord("old\n")),
    expected: { do: "remove" },
  },
  {
    name: "not wanted any more, edited",
    wanted: [],
    there: "edited\n",
    ledger: ledgerOf(ownRecord("old\n")),
    expected: { do: "leave", why: "you edited it; it is yours now" },
  },
  {
    name: "not wanted any more, there before us",
    wanted: [],
    there: "old\n",
    ledger: ledgerOf(ownRecord("old\n", { created: false })),
    expected: { do: "leave", why: "it was there before pawl" },
  },
];

test("a file that is also wanted under another path is not removed under its old one", () => {
  const old = ownRecord("new\n", { path: ".pawl/old" });
  const one = (path: string) => look(path, "new\n", { real: ".pawl/a" });
  const facts = { ledger: ledgerOf(old), look: one, kept: () => undefined, force: false, lenient: false };
  expect(planFiles({ ...facts, wanted: [own] }).map((step) => [step.do, step.path])).toEqual([
    ["keep", ".pawl/a"],
  ]);
  expect(planFiles({ ...facts, wanted: [] }).map((step) => step.do)).toEqual(["remove"]);
});

describe("one file of our own", () => {
  test.each(ROWS)("$name", ({ wanted = [own], ledger, there, force = false, lenient = false, expected }) => {
    const found = typeof there === "object" ? there : look(".pawl/a", there);
    const steps = planFiles({ wanted, ledger, look: () => found, kept: () => undefined, force, lenient });
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject(expected);
  });

  test("a replaced file is restored, or put beside one that was edited since", () => {
    const record = ownRecord("new\n", {
      created: false,
      replaced: { original: sha256("theirs\n"), whole: sha256("new\n") },
    });
    const plan = (text: string | undefined, kept: string | undefined) =>
      planFiles({
        ...{
          wanted: [],
          ledger: ledgerOf(record),
          look: () => look(".pawl/a", text),
          force: false,
          lenient: true,
        },
        kept: () => (kept === undefined ? undefined : Buffer.from(kept)),
      })[0];
    expect(plan("new\n", "theirs\n")).toMatchObject({
      do: "remove",
      changes: [{ path: ".pawl/a", after: Buffer.from("theirs\n"), dropKept: sha256("theirs\n") }],
    });
    expect(plan("edited\n", "theirs\n")).toMatchObject({
      do: "leave",
      changes: [{ path: ".pawl/a.pawl-orig", after: Buffer.from("theirs\n") }],
    });
    // In a fresh clone there is no copy.
    expect(plan("new\n", undefined)).toMatchObject({ do: "remove", changes: [{ path: ".pawl/a" }] });
  });
});

test.each([
  ["own", "src/main.ts"],
  ["own", "AGENTS.md"],
  ["own", ".github/workflows/ci.yml"],
  ["own", ".pawl/overrides/tdd/SKILL.md"],
  ["block", "notes.md"],
  ["entry", "package.json"],
] as const)("a ledger that claims %s %s removes nothing from it", (mode, path) => {
  const text = mode === "entry" ? '{"a":1}\n' : "<!-- pawl:begin -->\n\nx\n\n<!-- pawl:end -->\n";
  const inserted = { created: true, pieces: [], made: [] };
  const more = {
    own: {},
    block: { comment: "html", body: "x", inserted, created: undefined },
    entry: {
      format: "json",
      entries: [{ at: ["a"], kind: "key", value: 1 }],
      inserted,
      created: undefined,
    },
  }[mode];
  const record = { ...ownRecord(text), ...more, mode, path } as LedgerFile;
  const [step] = planFiles({
    ...{ wanted: [], ledger: ledgerOf(record), look: () => look(path, text), force: false, lenient: true },
    kept: () => undefined,
  });
  expect(step).toMatchObject({ do: "leave", path });
  expect(step?.changes).toBe(undefined);
});

describe("entries and blocks", () => {
  const entries: Wanted = {
    ...{ mode: "entry", path: "a", format: "json", template: "t" },
    entries: [{ at: ["servers", "pawl"], kind: "key", value: { command: "node" } }],
  };
  const block: Wanted = { mode: "block", path: "a", body: "ours\n", comment: "html", template: "t" };
  const plan = (wanted: Wanted[], text: string | undefined, ledger?: Ledger, force = false) =>
    planFiles({
      wanted,
      ledger,
      look: () => look("a", text),
      kept: () => undefined,
      force,
      lenient: false,
    })[0];

  test("a key with another value of the user's is refused, and replaced only with force", () => {
    const theirs = '{"servers":{"pawl":{"command":"mine"}}}\n';
    expect(plan([entries], theirs)).toMatchObject({
      do: "refuse",
      texts: { before: theirs, after: expect.stringContaining('"node"') },
    });
    const forced = plan([entries], theirs, undefined, true);
    expect(forced).toMatchObject({ do: "update", record: { replaced: { original: sha256(theirs) } } });
    expect(Buffer.from(forced?.changes?.[0]?.after ?? []).toString()).toContain('"node"');
  });

  test("an equal entry that the user already had is not ours", () => {
    const step = plan([entries], '{"servers":{"pawl":{"command":"node"}}}\n');
    expect(step).toMatchObject({ do: "keep", record: { entries: [] } });
  });

  test("a newer value replaces ours, unless the user edited it", () => {
    const first = plan([entries], "{}\n");
    const text = Buffer.from(first?.changes?.[0]?.after ?? []).toString();
    const newer: Wanted = { ...entries, entries: [{ at: ["servers", "pawl"], kind: "key", value: 2 }] };
    const ledger = ledgerOf(first?.record as LedgerFile);
    expect(plan([newer], text, ledger)).toMatchObject({ do: "update" });
    const edited = text.replace("node", "edited");
    expect(plan([newer], edited, ledger)).toMatchObject({ do: "refuse" });
    expect(plan([entries], edited, ledger)).toMatchObject({ do: "keep", why: "you edited it" });
  });

  test("an unreadable file is refused with the editor's own words", () => {
    expect(plan([entries], "{ broken")).toMatchObject({
      do: "refuse",
      why: expect.stringContaining("a is not readable as JSON"),
    });
    expect(plan([block], "<!-- pawl:begin -->\n")).toMatchObject({ do: "refuse" });
  });

  test("no block is needed where a line already says it", () => {
    const wanted: Wanted = { ...block, unlessLine: "@AGENTS.md" } as Wanted;
    expect(plan([wanted], "x\n@AGENTS.md\n")).toMatchObject({ do: "leave" });
    expect(plan([wanted], "see @AGENTS.md\n")).toMatchObject({ do: "update" });
  });

  test("two paths to one file are written once", () => {
    const steps = planFiles({
      ...{ wanted: [block, { ...block, path: "b" }], ledger: undefined, force: false, lenient: false },
      ...{ look: (path) => look(path, "x\n", { real: "b" }), kept: () => undefined },
    });
    expect(steps.map((one) => [one.path, one.do])).toEqual([
      ["a", "update"],
      ["b", "leave"],
    ]);
  });
});
