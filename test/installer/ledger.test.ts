import { format } from "prettier";
import { describe, expect, test } from "vitest";
import { printJson } from "../../src/installer/json-text.ts";
import { type Ledger, parseLedger, printLedger } from "../../src/installer/plan/ledger.ts";

const digest = "0".repeat(64);
const LEDGER: Ledger = {
  ...{ schema: 1, pawl: "0.1.0", profile: "all", agents: ["codex", "claude"], flags: [] },
  directories: [".pawl", ".claude"],
  files: [
    { path: "b", mode: "own", sha256: digest, template: digest, created: true },
    {
      ...{ path: "a", mode: "entry", sha256: digest, template: digest, format: "json" },
      entries: [{ at: ["x"], kind: "key", value: { deep: [1, null, "é"] } }],
      inserted: { created: false, pieces: ['"x": {}\n', "…"], made: [["x"], []] },
    },
  ],
};

describe("the ledger", () => {
  test("is the same text for the same installation, and survives a round trip", () => {
    const text = printLedger(LEDGER);
    const turned = { ...LEDGER, files: [...LEDGER.files].reverse(), agents: ["claude", "codex"] };
    expect(printLedger(turned)).toBe(text);
    expect(printLedger(parseLedger(text))).toBe(text);
  });

  test("is formatted as prettier would", async () => {
    const text = printLedger(LEDGER);
    expect(await format(text, { parser: "json" })).toBe(text);
    for (const length of [60, 66, 67, 68, 69, 70, 80]) {
      const odd = printJson({ a: ["x".repeat(length)], b: { c: ["y".repeat(length), "z"] }, d: [[], {}] });
      expect(await format(odd, { parser: "json" }), String(length)).toBe(odd);
    }
  });

  test.each([
    ["no JSON", "{", "broken_ledger"],
    ["a newer form", '{"schema":2}', "newer_ledger"],
    ["an unknown key", printLedger(LEDGER).replace('"flags"', '"flag"'), "broken_ledger"],
    ["a way out", printLedger(LEDGER).replace('"path": "b"', '"path": "../b"'), "broken_ledger"],
    ["an absolute path", printLedger(LEDGER).replace('"path": "b"', '"path": "/b"'), "broken_ledger"],
    [
      "git's own folder",
      printLedger(LEDGER).replace('"path": "b"', '"path": ".git/config"'),
      "broken_ledger",
    ],
    [
      "git's own folder below another, in another spelling",
      printLedger(LEDGER).replace('"path": "b"', '"path": "a/.GIT/config"'),
      "broken_ledger",
    ],
  ])("%s is reported", (_name, text, code) => {
    expect(() => parseLedger(text)).toThrow(expect.objectContaining({ code }));
  });
});
