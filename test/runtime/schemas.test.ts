import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { parse } from "yaml";
import { parseRecord } from "../../src/model/record.ts";
import { KINDS, kindOfPath } from "../../src/model/records/kind-of-path.ts";
import { SCHEMAS } from "../../src/runtime/schemas.ts";
import { mistakesIn } from "../helpers/check-schema.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { typing } from "../helpers/ready-task.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const root = join(import.meta.dirname, "../..");

/** One of everything that a project writes down. */
async function fill(project: Project): Promise<void> {
  const run = async (...words: string[]) =>
    expect((await project.pawl("--json", ...words)).json.error, words.join(" ")).toBeUndefined();
  for (const words of [
    ["install", "--commit"],
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
    ["lane", "add", "T1", "--path", "src/api", "--owner", "agent:codex"],
    ["mail", "send", "human", "Which format is meant?", "--task", "T1"],
    ["start", "Say hello", "--profile", "light"],
  ])
    await run(...words);
  const worktree = join(project.path, ".worktrees/T0002-say-hello");
  writeFileSync(join(worktree, "hello.txt"), "hello\n");
  project.git("-C", worktree, "add", "-A");
  project.git("-C", worktree, "commit", "-q", "-m", "Say hello");
  await run("verify", "T2", "--", "test", "-f", "hello.txt");
  await run("handoff", "T2", "--what", "It says hello", "--next", "Approve it");
  await run("snapshot", "T2");
  await run("check", "T2", "--stage", "close");
  const human = { root: project.path, env: project.env, repos: [project] };
  for (const [typed, ...words] of [
    ["T0002", "approve", "T2"],
    ["main", "unlock", "main", "--for", "10m", "--reason", "undo a merge"],
  ] as const)
    expect((await typing(human, { typed }, ...words)).json.error, words.join(" ")).toBeUndefined();
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

test("real record files are what their schemas say, and a wrong value is not", { tags: ["proof"] }, async ({
  project,
}) => {
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
  expect([...seen].sort()).toEqual(KINDS.map(({ name }) => name).sort());
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
