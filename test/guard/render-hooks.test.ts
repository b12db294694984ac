// @module-tag again
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type HookChoices, quote, renderHooks } from "../../src/guard/render-hooks.ts";
import { matchesPattern } from "../../src/model/naming.ts";
import { runs } from "../helpers/long-runs.ts";

const choices = (more: Partial<HookChoices>): HookChoices => ({
  protected: ["main"],
  format: [],
  remotes: [],
  ignoreCase: false,
  node: "/usr/bin/node",
  program: "/opt/pawl.cjs",
  previous: [],
  ...more,
});

/** The function of the rendered guard that decides, asked about many refs by a real shell. */
function askShell(shell: string[], patterns: string[], branches: string[], ignoreCase = false): boolean[] {
  const { guard } = renderHooks(choices({ protected: patterns, ignoreCase }));
  const rule = /^protected\(\) \{\n[\s\S]*?^\}\n/m.exec(guard)?.[0] ?? "";
  const lines = branches.map((one) => `protected ${quote(`refs/heads/${one}`)} && echo yes || echo no`);
  const [program = "", ...args] = shell;
  const out = execFileSync(program, [...args, "-c", `${rule}${lines.join("\n")}`], { encoding: "utf8" });
  return out
    .trim()
    .split("\n")
    .map((line) => line === "yes");
}

const SHELLS = [["/bin/dash"], ["/bin/bash"], ["/bin/busybox", "sh"]].filter(([path = ""]) =>
  existsSync(path),
);

describe.each(SHELLS)("%s %s", (...words) => {
  const shell = words.filter((word) => typeof word === "string");

  test("agrees with the policy about which branch is protected", () => {
    const letter = fc.constantFrom("a", "b", "/", ".", "-", "'", "$", "[", "{", "é");
    const branch = fc.string({ unit: letter, minLength: 1, maxLength: 6 });
    const pattern = fc.string({
      unit: fc.oneof(letter, fc.constantFrom("*", "?")),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 3 }),
        fc.array(branch, { minLength: 1, maxLength: 20 }),
        (patterns, branches) => {
          // A pattern that mixes both stars protects more than it says, never less.
          // And `?` is one byte for some shells, so that it is tried with plain letters only.
          const exact = patterns.filter(
            (one) => !one.includes("**") && !(one.includes("?") && /é/.test(branches.join(""))),
          );
          fc.pre(exact.length > 0);
          const expected = branches.map((one) => exact.some((pattern) => matchesPattern(pattern, one)));
          expect(askShell(shell, exact, branches)).toEqual(expected);
        },
      ),
      runs(60),
    );
  });

  test("takes ** for slashes too, and letters of either case where the file system does", () => {
    expect(askShell(shell, ["release/**"], ["release/1/2", "release/1", "releases/1"])).toEqual([
      true,
      true,
      false,
    ]);
    expect(askShell(shell, ["main"], ["MAIN", "Main", "mainly"], true)).toEqual([true, true, false]);
  });
});

test("every hook is one that a shell can read", () => {
  const { files, guard } = renderHooks(choices({ previous: ["commit-msg", "reference-transaction"] }));
  expect([...files.keys()]).toEqual(["reference-transaction", "pre-push", "pre-rebase", "commit-msg"]);
  for (const text of [...files.values(), guard]) {
    expect(text).not.toMatch(/# @|@[A-Z_]+@/);
    expect(text).toMatch(/^#!\/bin\/sh\n# Written by pawl: /);
    for (const [program = "", ...args] of SHELLS) execFileSync(program, [...args, "-n"], { input: text });
  }
});
