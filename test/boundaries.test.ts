import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { operations } from "../src/ops/index.ts";

const src = fileURLToPath(new URL("../src", import.meta.url));

const MCP_SDK = ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"];

/** What each folder may import; whatever is not listed here is not allowed. */
const MAY_IMPORT: Record<string, string[]> = {
  core: ["core", "zod/mini"],
  ops: ["core", "ops", "zod/mini"],
  disk: ["core", "disk", "node:"],
  store: ["core", "disk", "store", "node:", "yaml", "node-sqlite3-wasm"],
  git: ["core", "disk", "git", "node:", "simple-git"],
  guard: ["core", "disk", "git", "guard", "hooks", "node:"],
  render: ["core", "render", "skills", "handlebars", "node-diff3"],
  installer: [
    ...["core", "disk", "git", "render", "installer", "adapters", "node:"],
    ...["zod/mini", "jsonc-parser", "toml-eslint-parser", "node-diff3"],
  ],
  runtime: ["core", "ops", "disk", "store", "git", "guard", "installer", "runtime", "node:"],
  "agent-hooks": ["core", "disk", "git", "store", "agent-hooks", "node:", "unbash"],
  // The command line starts the other surface, and knows nothing else of it; that one knows nothing of the command line.
  cli: ["core", "ops", "disk", "runtime", "cli", "mcp", "node:", "citty", "zod/mini"],
  mcp: ["core", "ops", "runtime", "mcp", "node:", "zod/mini", ...MCP_SDK],
};

interface Import {
  file: string;
  folder: string;
  target: string;
}

function importsOf(folder: string): Import[] {
  return readdirSync(join(src, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const text = readFileSync(join(src, folder, file), "utf8");
      const from = [...text.matchAll(/(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g)].map(
        (match) => match[1] ?? "",
      );
      return from.map((target) => ({
        file: `${folder}/${file}`,
        folder,
        target: targetFolder(folder, file, target),
      }));
    });
}

function targetFolder(folder: string, file: string, target: string): string {
  if (!target.startsWith(".")) return target;
  const path = join(folder, file, "..", target);
  // The sh hooks, the skills and the adapters' data lie beside the sources.
  return path.replace(/^\.\.\/(?=(?:hooks|skills|adapters)\/)/, "").split("/")[0] ?? "";
}

test.each(Object.keys(MAY_IMPORT))("src/%s imports only what it may", (folder) => {
  const imports = importsOf(folder);
  expect(imports.length).toBeGreaterThan(8);
  const wrong = imports.filter(
    ({ target }) =>
      !MAY_IMPORT[folder]?.some(
        (allowed) => target === allowed || (allowed.endsWith(":") && target.startsWith(allowed)),
      ),
  );
  expect(wrong).toEqual([]);
});

test("core, ops and render take time, environment and chance as arguments", () => {
  const files = ["core", "ops", "render"].flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(src, folder, file)),
  );
  expect(files.length).toBeGreaterThan(40);
  const wrong = files.filter((file) =>
    /\bprocess\.|\bDate\.now\b|new Date\b|Math\.random|\bconsole\./.test(readFileSync(file, "utf8")),
  );
  expect(wrong).toEqual([]);
});

test("every folder of src has its rule", () => {
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const filled = folders.filter((entry) => readdirSync(join(src, entry.name)).length > 0);
  expect(filled.map((entry) => entry.name).sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test("every operation is registered under its own id, explains itself and shows examples", async () => {
  const all = await Promise.all(
    Object.entries(operations).map(async ([id, load]) => ({ id, op: await load() })),
  );
  expect(all.length).toBeGreaterThan(20);
  for (const { id, op } of all) {
    expect(op.id).toBe(id);
    expect(op.summary, id).toMatch(/^[A-Z][^\n]{8,100}$/);
    expect(op.examples.length, id).toBeGreaterThan(0);
    for (const example of op.examples)
      expect(
        example.startsWith(`pawl ${id.replace(".", " ")}`) || example === "pawl",
        `${id}: ${example}`,
      ).toBe(true);
  }
  const files = readdirSync(join(src, "ops")).filter((file) => file !== "index.ts");
  const registry = readFileSync(join(src, "ops", "index.ts"), "utf8");
  const shared = ["finding-set-aside.ts"];
  expect(files.filter((file) => !registry.includes(`"./${file}"`))).toEqual(shared);
});
