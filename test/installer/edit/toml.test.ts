// @module-tag again
import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/files/digest.ts";
import { refuseTakenTables } from "../../../src/installer/edit/toml-lines.ts";
import { printTables } from "../../../src/installer/edit/toml-print.ts";
import type { Entry } from "../../../src/installer/edit/types.ts";
import { type Ledger, type PartRecord, parseLedger } from "../../../src/installer/plan/ledger.ts";
import type { Look } from "../../../src/installer/plan/look.ts";
import { insertPart, removePart } from "../../../src/installer/plan/parts.ts";
import { planFiles } from "../../../src/installer/plan/plan-files.ts";
import type { WantedBlock } from "../../../src/installer/plan/wanted.ts";
import { Failure } from "../../../src/model/failure.ts";
import { runs } from "../../helpers/long-runs.ts";
import { oddToml } from "./odd-toml.ts";
import old from "./toml-entries-0.1.0.json" with { type: "json" };

const PATH = ".codex/config.toml";
const server: Entry = {
  at: ["mcp_servers", "pawl"],
  kind: "key",
  value: { command: "node", args: ["-e", "y", "\\ \" '"], env: { "A b": "é\u007f" }, on: true, sec: 20 },
};
const wanted: WantedBlock = {
  mode: "block",
  path: PATH,
  comment: "hash",
  body: printTables([server], "\n"),
  tables: [server.at],
  template: "t",
};

/** Read by another program than ours. */
const plain = (text: string) =>
  parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: "asNeeded" }) as Record<string, unknown>;

function withoutOurs(text: string): Record<string, unknown> {
  const { mcp_servers: servers, ...rest } = plain(text) as { mcp_servers?: Record<string, unknown> };
  const others = Object.entries(servers ?? {}).filter(([name]) => name !== "pawl");
  return others.length > 0 ? { ...rest, mcp_servers: Object.fromEntries(others) } : rest;
}

describe("the tables of a block", () => {
  test("are formatted as expected, and another parser reads them", () => {
    const { text } = insertPart(wanted, 'model = "x"\n');
    expect(text).toBe(`model = "x"

# pawl:begin
[mcp_servers.pawl]
command = "node"
args = ["-e", "y", "\\\\ \\" '"]
env = { "A b" = "é\\u007f" }
on = true
sec = 20
# pawl:end
`);
    expect(plain(text)).toEqual({ model: "x", mcp_servers: { pawl: server.value } });
  });

  test("are inserted and removed in any file, or refused because there is no room", () => {
    fc.assert(
      fc.property(oddToml([true, false]), ({ text: before, room }) => {
        if (!room) {
          expect(() => insertPart(wanted, before)).toThrow(Failure);
          return;
        }
        const { text, record } = insertPart(wanted, before);
        expect((plain(text).mcp_servers as Record<string, unknown>).pawl).toEqual(server.value);
        expect(withoutOurs(text)).toEqual(withoutOurs(before));
        expect(removePart(record, text)).toEqual({ text: before, exact: true, left: [] });
      }),
      runs(500),
    );
  });

  test.each([
    ['[mcp_servers.pawl]\ncommand = "mine"\n', "entry_taken", "line 1: `mcp_servers.pawl` already exists"],
    ["a = 1\n[ 'mcp_servers' . \"pawl\" ] # mine\n", "entry_taken", "line 2"],
    ["[mcp_servers.pawl.env]\n", "entry_taken", "line 1"],
    ["[mcp_servers]\n\npawl = {}\n", "entry_taken", "line 3"],
    ['mcp_servers.pawl.command = "mine"\n', "entry_taken", "line 1"],
    ["mcp_servers = {}\n", "table_closed", "`mcp_servers` has its whole value in one place"],
    ["mcp_servers = [\n  1,\n]\n", "table_closed", "line 1"],
    ["x = [\n  ['a']\n]\nmcp_servers = {}\n", "table_closed", "line 4"],
    ['x = """\n[a]\n"""\nmcp_servers = {}\n', "table_closed", "line 4"],
    ["[[mcp_servers]]\n", "table_closed", "`mcp_servers` is an array"],
  ])("%j is refused, with what to do", (text, code, words) => {
    expect(() => refuseTakenTables(PATH, text, [server.at])).toThrow(
      expect.objectContaining({
        code,
        message: expect.stringContaining(words),
        hint: expect.stringMatching(/then run the same command again/),
      }),
    );
  });

  test.each([
    "[mcp_servers]\nother = {}\n",
    "[profiles.a]\nmcp_servers = {}\n",
    '[mcp_servers.a]\ncommand = "b"\n',
    'prompt = """\n[mcp_servers.pawl]\nmcp_servers = {}\n"""\n',
    "list = [\n  '[mcp_servers.pawl]',\n  # [mcp_servers.pawl]\n]\n",
    "# [mcp_servers.pawl]\n",
    "[mcp_servers.pawlowski]\n",
    "x = 'mcp_servers = 1' # mcp_servers = {}\n",
  ])("%j has room", (text) => {
    refuseTakenTables(PATH, text, [server.at]);
  });
});

const recordOf = (one: (typeof old.cases)[number]): PartRecord => ({
  path: PATH,
  mode: "entry",
  format: "toml",
  sha256: old.sha256,
  template: old.template,
  entries: old.entries as Entry[],
  inserted: one.inserted,
  ...("replaced" in one && one.replaced ? { replaced: one.replaced } : {}),
});
const ledgerOf = (record: PartRecord): Ledger =>
  // What is in a ledger of that version is what this one reads.
  parseLedger(
    JSON.stringify({
      ...{ schema: 1, pawl: "0.1.0", profile: "all", agents: [], flags: [], directories: [] },
      files: [record],
    }),
  );

function plan(record: PartRecord, text: string, blocks: WantedBlock[], original?: string) {
  const look = (path: string): Look => ({
    ...{ path, real: path, text, bytes: Buffer.from(text), missing: [], blocked: undefined },
  });
  const kept = () => (original === undefined ? undefined : Buffer.from(original));
  const facts = { wanted: blocks, ledger: ledgerOf(record), look, kept, force: false, lenient: false };
  const [step] = planFiles(facts);
  const [change] = step?.changes ?? [];
  return { step, after: change?.after && Buffer.from(change.after).toString("utf8") };
}

const isClosed = ({ before }: { before: string | null }) => before?.startsWith("mcp_servers =");

describe("what 0.1.0 wrote, without marks", () => {
  test.each(old.cases)("$name: uninstall restores the file byte for byte", (one) => {
    const original = "replaced" in one ? one.before : undefined;
    const { step, after } = plan(recordOf(one), one.after, [], original ?? undefined);
    expect([step?.do, after]).toEqual(["remove", one.before ?? undefined]);
  });

  test.each(old.cases.filter((one) => !isClosed(one)))(
    "$name: the next install replaces it with a block, which can be removed as exactly",
    (one) => {
      const { step, after } = plan(recordOf(one), one.after, [wanted]);
      expect(step).toMatchObject({ do: "update", record: { mode: "block" } });
      if (!("replaced" in one)) expect(after).toBe(insertPart(wanted, one.before ?? undefined).text);
      expect((plain(after ?? "").mcp_servers as Record<string, unknown>).pawl).toEqual(server.value);
      const again = plan(step?.record as PartRecord, after ?? "", [wanted]);
      expect(again.step?.do).toBe("keep");
      const original = "replaced" in one ? (one.before ?? undefined) : undefined;
      const gone = plan(step?.record as PartRecord, after ?? "", [], original);
      expect([gone.step?.do, gone.after]).toEqual(["remove", one.before ?? undefined]);
    },
  );

  test.each(old.cases.filter(isClosed))("$name: the next install refuses and says what to do", (one) => {
    const { step } = plan(recordOf(one), one.after, [wanted]);
    expect(step).toMatchObject({
      do: "refuse",
      why: expect.stringContaining("`mcp_servers` has its whole value in one place"),
      how: expect.stringContaining("[mcp_servers.name]"),
    });
  });

  const [, , plainCase] = old.cases;
  const EDITS: [string, (text: string) => string][] = [
    ["a value", (text) => text.replace('command = "node"', 'command = "bun"')],
    ["a comment in it", (text) => text.replace("command", "# mine\ncommand")],
    ["a key below it", (text) => `${text}startup_timeout_sec = 20\n`],
    ["a key below a comment and an empty line", (text) => `${text}\n# mine\nenabled = false\n`],
    ["a table of it", (text) => `${text}\n[mcp_servers.pawl.env]\nA = "b"\n`],
    ["a second one", (text) => `${text}${text}`],
  ];

  test.each(EDITS)("%s changed or added by the user makes the entry the user's", (_, edit) => {
    if (!plainCase) throw new Error("no case");
    const edited = edit(plainCase.after);
    expect(plan(recordOf(plainCase), edited, []).step).toMatchObject({
      do: "leave",
      why: "you changed mcp_servers.pawl; that is yours now",
    });
    expect(plan(recordOf(plainCase), edited, [wanted]).step).toMatchObject({
      do: "refuse",
      how: "Remove that part by hand, then run the same command again.",
    });
  });

  const AROUND: [string, (text: string) => string, string][] = [
    ["a table after it", (text) => `${text}\n[theirs]\nx = 1\n`, 'model = "x" # mine\n\n[theirs]\nx = 1\n'],
    ["a line before it", (text) => text.replace("\n[mcp", "b = 2\n[mcp"), 'model = "x" # mine\nb = 2\n'],
    ["other line ends", (text) => text.replaceAll("\n", "\r\n"), 'model = "x" # mine\r\n'],
    ["a byte order mark", (text) => `\ufeff${text}`, '\ufeffmodel = "x" # mine\n'],
    ["a comment after it", (text) => `${text}# mine\n`, 'model = "x" # mine\n# mine\n'],
  ];

  test.each(AROUND)("%s stays, and our entry goes", (_, edit, expected) => {
    if (!plainCase) throw new Error("no case");
    expect(plan(recordOf(plainCase), edit(plainCase.after), []).after).toBe(expected);
  });

  test("an entry that is already gone needs no change", () => {
    if (!plainCase) throw new Error("no case");
    expect(plan(recordOf(plainCase), "a = 1\n", []).step).toMatchObject({ do: "keep" });
    expect(plan(recordOf(plainCase), "a = 1\n", [wanted]).after).toBe(insertPart(wanted, "a = 1\n").text);
  });

  test("the fixture is exactly what 0.1.0 wrote", () => {
    expect(sha256(JSON.stringify(old.entries))).toBe(old.sha256);
  });
});
