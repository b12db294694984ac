// @module-tag again
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openInstallation } from "../../src/installer/open.ts";
import type { SurfaceRequest } from "../../src/ports/installation.ts";
import { runs } from "../helpers/long-runs.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { changeTimes, treeBytes } from "../helpers/tree-bytes.ts";

const lineEnd = fc.constantFrom("\n", "\r\n");
const lines = fc.array(
  fc.oneof(
    fc.constantFrom("", "# Title", "* item", "<!-- a comment -->", "@AGENTS.md", "```", "  indented  "),
    fc.string({ maxLength: 30, unit: "grapheme" }).map((one) => one.replace(/[\r\n]/g, " ")),
  ),
  { maxLength: 12 },
);
const markdown = fc
  .tuple(fc.constantFrom("", "\ufeff"), lines, lineEnd, fc.boolean())
  .map(([mark, rows, end, closed]) => mark + rows.join(end) + (closed && rows.length > 0 ? end : ""));

const space = fc.constantFrom("", " ", "\n", "\t", "\n  ", " /* note */ ", "\r\n");
/** JSON with comments and white space wherever they may be. */
const jsonText = (value: unknown, gaps: readonly string[]): string => {
  let next = 0;
  const gap = () => gaps[next++ % gaps.length] ?? "";
  const print = (one: unknown): string => {
    if (Array.isArray(one)) return `[${gap()}${one.map(print).join(`${gap()},${gap()}`)}${gap()}]`;
    if (one === null || typeof one !== "object") return JSON.stringify(one);
    const fields = Object.entries(one).map(
      ([key, inner]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${print(inner)}`,
    );
    return `{${fields.join(`${gap()},`)}${gap()}}`;
  };
  return gap() + print(value) + gap();
};
const jsonFile = (key: string) =>
  fc
    .tuple(
      fc.dictionary(fc.constantFrom("a", "b", "permissions", "x y"), fc.jsonValue({ maxDepth: 2 }), {
        maxKeys: 3,
      }),
      fc.option(
        fc.dictionary(fc.constantFrom("other", "Stop2"), fc.constantFrom({}, { command: "x" }), {
          maxKeys: 2,
        }),
      ),
      fc.array(space, { minLength: 1, maxLength: 7 }),
    )
    .map(([value, inner, gaps]) => jsonText(inner ? { ...value, [key]: inner } : value, gaps));
const toml = fc
  .tuple(
    fc.subarray(['model = "x"  # keep', "", "# note", "n=1", "a.b = [ 1,\n 2 ]"]),
    fc.subarray([
      "[mcp_servers.other]\ncommand = 'y'",
      '[profiles."a b"]\nk = { z = 1 }',
      "[[list]]\nq = true",
    ]),
    lineEnd,
    fc.boolean(),
  )
  .map(
    ([top, tables, end, closed]) =>
      [...top, ...tables].join("\n").replaceAll("\n", end) + (closed ? end : ""),
  );

const files = fc.record(
  {
    "AGENTS.md": markdown,
    "CLAUDE.md": markdown,
    ".claude/settings.json": jsonFile("hooks"),
    ".mcp.json": jsonFile("mcpServers"),
    ".codex/hooks.json": jsonFile("hooks"),
    ".codex/config.toml": toml,
    ".vscode/mcp.json": jsonFile("servers"),
    ".pawl/config.yaml": fc.constantFrom("profile: light\n", ""),
    ".pawl/notes.txt": fc.string(),
    ".claude/skills/mine/SKILL.md": markdown,
    ".agents/skills/scope/notes.md": markdown,
    ".github/hooks/other.json": jsonFile("hooks"),
    "src/code.txt": fc.string(),
  },
  { requiredKeys: [] },
);
const choices = fc.record({
  agents: fc.subarray(["claude", "codex", "copilot", "generic"], { minLength: 1 }),
  flags: fc.subarray(["vscode-local"]),
  profile: fc.constantFrom("all" as const, "skills" as const),
  mode: fc.constantFrom(0o644, 0o444, 0o600, 0o755),
});

const RUNS = runs(30);

test("install and uninstall restore any user files, and installing twice changes nothing more", () => {
  let installed = 0;
  fc.assert(
    fc.property(files, choices, (userFiles, { mode, ...chosen }) => {
      const root = makeTemporaryFolder("identity");
      try {
        mkdirSync(join(root, ".git/pawl"), { recursive: true });
        for (const [path, text] of Object.entries(userFiles)) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), text ?? "");
          chmodSync(join(root, path), mode);
        }
        const before = treeBytes(root);
        const dotGit = join(root, ".git");
        const place = { root, gitDir: dotGit, commonDir: dotGit, mainRoot: root, name: "x" };
        const installation = openInstallation({
          place,
          cwd: place.root,
          env: {},
          program: undefined,
          commands: [],
        });
        const request: SurfaceRequest = { ...chosen, force: false, lenient: false };
        const steps = installation.apply(request);
        if (steps.some((one) => one.do === "refuse")) {
          expect(treeBytes(root)).toEqual(before);
          return;
        }
        installed++;
        const once = { bytes: treeBytes(root), times: changeTimes(root, (path) => path.startsWith(".git")) };
        installation.apply(request);
        expect(treeBytes(root)).toEqual(once.bytes);
        expect(changeTimes(root, (path) => path.startsWith(".git"))).toEqual(once.times);
        // Also from the tracked ledger alone, as in a fresh clone.
        rmSync(join(root, ".git/pawl"), { recursive: true });
        mkdirSync(join(root, ".git/pawl"));
        installation.remove();
        expect(treeBytes(root)).toEqual(before);
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    }),
    RUNS,
  );
  expect(installed).toBeGreaterThan(RUNS.numRuns / 2);
}, 300_000);
