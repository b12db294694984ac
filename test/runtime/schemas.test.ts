import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { parse } from "yaml";
import { parseRecord } from "../../src/model/record.ts";
import { KINDS, kindOfPath } from "../../src/model/records/kind-of-path.ts";
import { SCHEMAS } from "../../src/runtime/schemas.ts";
import { mistakesIn } from "../helpers/check-schema.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const root = join(import.meta.dirname, "../..");

/** One of almost everything that a project writes down. */
async function fill(project: Project): Promise<void> {
  for (const words of [
    ["install"],
    ["task", "new", "One", "--objective", "It works", "--plan", "Write it, then test it", "--label", "a"],
    ["task", "update", "T1", "--status", "active", "--next", "begin"],
    ["slice", "open", "Parse it"],
    ["verify", "--slice", "S1", "--red", "--", "false"],
    ["verify", "--", "test", "-d", "."],
    ["decide", "Do it", "--why", "It is simple"],
    ["slice", "close", "S1", "--decision", "Kept it small"],
    ["finding", "add", "Something", "--severity", "low", "--kind", "plan"],
    ["review", "record", "--kind", "plan", "--verdict", "pass_with_findings"],
    ["handoff", "--what", "Half of it", "--next", "The other half"],
    ["note", "add", "Remember this"],
    ["touch", "README.md"],
  ])
    expect((await project.pawl("--json", ...words)).json.error, words.join(" ")).toBeUndefined();
}

describe("every kind that is listed", () => {
  test("has a schema, which refuses what it does not know", async ({ project }) => {
    const { json } = await project.pawl("schema", "--json");
    expect(json.data.schemas.map(({ kind }: { kind: string }) => kind)).toEqual(Object.keys(SCHEMAS));
    for (const kind of Object.keys(SCHEMAS)) {
      const shown = await project.pawl("schema", kind);
      expect(JSON.parse(shown.out)).toMatchObject({ $schema: expect.any(String), title: `pawl ${kind}` });
      expect(mistakesIn(kind, { nonsense: true }), kind).not.toEqual([]);
    }
    const missing = await project.pawl("schema", "tsak", "--json");
    expect(missing).toMatchObject({
      code: 4,
      json: { error: { hint: expect.stringContaining("schema task") } },
    });
  });
});

test("real record files are what their schemas say, and a wrong value is not", async ({ project }) => {
  await fill(project);
  const seen = new Set<string>();
  const state = stateOf(project);
  for (const path of readdirSync(state, { recursive: true, encoding: "utf8" })) {
    const kind = path.startsWith(".git") ? undefined : kindOfPath(path);
    if (!kind) continue;
    const { value } = parseRecord(kind, path, readFileSync(join(state, path), "utf8"), undefined);
    const json = JSON.parse(JSON.stringify(value));
    expect(mistakesIn(kind.name, json), path).toEqual([]);
    expect(mistakesIn(kind.name, { ...json, rev: "1" }), path).not.toEqual([]);
    expect(mistakesIn(kind.name, { ...json, unknown: 1 }), path).not.toEqual([]);
    const { actor: _, ...anonymous } = json;
    expect(mistakesIn(kind.name, anonymous), path).not.toEqual([]);
    seen.add(kind.name);
  }
  expect([...seen].sort()).toEqual(
    ["decision", "evidence", "finding", "handoff", "note", "repository", "review", "task", "touched"].sort(),
  );
  expect(KINDS.map(({ name }) => name)).toEqual(expect.arrayContaining([...seen]));
});

test("the config that install writes, and what one may write into it", async ({ project }) => {
  await project.pawl("install");
  const written = parse(readFileSync(join(project.path, ".pawl/config.yaml"), "utf8")) ?? {};
  expect(mistakesIn("config", written)).toEqual([]);
  const checks = { test: "npm test", lint: ["npx", "biome"] };
  const remotes = [{ name: "origin", address: "https://example.com/x.git", guarded: true }];
  expect(mistakesIn("config", { profile: "light", checks, protected: ["main"], remotes })).toEqual([]);
  for (const wrong of [
    { profile: "easy" },
    { checks: ["npm test"] },
    { checks: { test: "" } },
    { chekcs: {} },
  ])
    expect(mistakesIn("config", wrong), JSON.stringify(wrong)).not.toEqual([]);
});

test("the adapters that pawl brings", () => {
  const agents = readdirSync(join(root, "adapters"), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  );
  expect(agents.length).toBeGreaterThan(3);
  for (const { name } of agents) {
    const adapter = JSON.parse(readFileSync(join(root, "adapters", name, "adapter.json"), "utf8"));
    expect(mistakesIn("adapter", adapter), name).toEqual([]);
    expect(mistakesIn("adapter", { ...adapter, agent: "nobody" }), name).not.toEqual([]);
  }
});
