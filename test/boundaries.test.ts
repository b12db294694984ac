import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { operations } from "../src/ops/index.ts";

const src = fileURLToPath(new URL("../src", import.meta.url));

/**
 * The rooms of the house and what each may import, types included; every other arrow is a mistake. `lib:` and `node:`
 * stand for packages and Node itself. ARCHITECTURE.md shows this table.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: ["package.json", "lib:zod/mini", "lib:yaml"],
  ports: ["model", "lib:zod/mini"],
  judge: ["model", "ports"],
  flows: ["model", "ports", "judge"],
  ops: ["model", "ports", "judge", "flows", "lib:zod/mini"],
  files: ["model", "node:"],
  signatures: ["model", "ports", "node:"],
  git: ["model", "ports", "files", "node:", "lib:simple-git"],
  store: ["model", "ports", "files", "git", "node:", "lib:node-sqlite3-wasm"],
  guard: ["model", "ports", "files", "git", "hooks", "node:"],
  "installer/render": ["model", "skills", "lib:handlebars", "lib:gray-matter", "lib:node-diff3"],
  installer: [
    ...["model", "ports", "files", "git", "installer/render", "adapters", "node:"],
    ...["lib:zod/mini", "lib:jsonc-parser", "lib:node-diff3"],
  ],
  agents: ["model", "ports", "files", "node:"],
  "agent-hooks": ["model", "files", "git", "store", "node:", "lib:unbash"],
  runtime: [
    ...["model", "ports", "judge", "flows", "files", "store", "git", "guard", "installer", "agents"],
    ...["signatures", "node:"],
  ],
  // Each surface knows the registry and the runtime; the command line also starts the others.
  mcp: [
    "model",
    "ports",
    "judge",
    "ops",
    "runtime",
    "node:",
    "lib:zod/mini",
    "lib:@modelcontextprotocol/server",
  ],
  web: ["model", "ports", "judge", "ops", "runtime", "node:", "lib:zod/mini", "lib:highlight.js"],
  cli: ["model", "ports", "ops", "files", "runtime", "mcp", "web", "node:", "lib:citty", "lib:zod/mini"],
};

/** What lies beside the sources and is bundled as text. */
const BESIDE = ["hooks", "skills", "adapters"];

interface Arrow {
  file: string;
  from: string;
  to: string;
}

/** The most exact room that a path below src/ lies in. */
function roomOf(path: string): string {
  const rooms = Object.keys(MAY_IMPORT).filter((room) => path.startsWith(`${room}/`));
  return rooms.sort((one, other) => other.length - one.length)[0] ?? path.split("/")[0] ?? "";
}

function targetOf(file: string, target: string): string {
  if (target.startsWith("node:")) return "node:";
  if (!target.startsWith(".")) return `lib:${target.replace(/^(@[^/]+\/[^/]+|highlight\.js)\/.*/, "$1")}`;
  const path = join(file, "..", target);
  if (path === "../package.json") return "package.json";
  const beside = BESIDE.find((folder) => path.startsWith(`../${folder}/`));
  return beside ?? roomOf(path);
}

const sources = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const textOf = (file: string) => readFileSync(join(src, file), "utf8");

const arrows: Arrow[] = sources.flatMap((file) =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g)].map((match) => ({
    file,
    from: roomOf(file),
    to: targetOf(file, match[1] ?? ""),
  })),
);

test("every room has its row", () => {
  expect([...new Set(sources.map(roomOf))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test.each(Object.keys(MAY_IMPORT))("src/%s imports only what it may", (room) => {
  const own = arrows.filter((arrow) => arrow.from === room);
  expect(own.length).toBeGreaterThan(8);
  expect(own.filter(({ to }) => to !== room && !MAY_IMPORT[room]?.includes(to))).toEqual([]);
});

test.each(Object.keys(MAY_IMPORT))("src/%s uses every arrow that it is allowed", (room) => {
  const used = new Set(arrows.filter((arrow) => arrow.from === room).map(({ to }) => to));
  expect(MAY_IMPORT[room]?.filter((to) => !used.has(to))).toEqual([]);
});

test("ARCHITECTURE.md shows this table", () => {
  const page = readFileSync(join(src, "..", "ARCHITECTURE.md"), "utf8");
  const rows = Object.entries(MAY_IMPORT).map(([room, may]) => `| \`${room}\` | ${shown(may)} |`);
  for (const row of rows) expect(page).toContain(row);
});

/** Rooms and packages; that a room uses Node is said by a word. */
const shown = (may: readonly string[]) =>
  may
    .map((one) => (one === "node:" ? "Node" : one.startsWith("lib:") ? `*${one.slice(4)}*` : one))
    .join(", ");

const inRooms = (...rooms: string[]) => sources.filter((file) => rooms.includes(roomOf(file)));

test("model and judge are synchronous, ports are types only", () => {
  expect(inRooms("model", "judge").filter((file) => /\b(?:async|await)\b/.test(code(file)))).toEqual([]);
  expect(inRooms("ports").filter((file) => /^export (?!type|interface)/m.test(textOf(file)))).toEqual([]);
});

/** Without comments, which may speak of anything. */
const code = (file: string) => textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");

test("model, judge, flows, ops and rendering take time, environment and chance as arguments", () => {
  const files = inRooms("model", "judge", "ports", "flows", "ops", "installer/render");
  expect(files.length).toBeGreaterThan(150);
  const wrong = files.filter((file) =>
    /\bprocess\.|\bDate\.now\b|new Date\b|Math\.random|\bconsole\./.test(textOf(file)),
  );
  expect(wrong).toEqual([]);
});

test("git is started in one place but for two that cannot load it, and one module reads refs, with the help of one", () => {
  const texts = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(?:ts|txt)$/.test(file),
  );
  const starts = texts.filter((file) => /\b(?:spawn|execFile)(?:Sync)?\(\s*"git"/.test(textOf(file)));
  // Refs in tables are read by a git that no other read has to load; a clone without pawl has only what lies in its tree.
  expect(starts.sort()).toEqual([
    "git/ref-tables.ts",
    "git/run-git.ts",
    "installer/runtime/launchers/get.cjs.txt",
  ]);
  const reads = sources.filter((file) =>
    /["/](?:packed-refs|logs|reftable|HEAD\.lock)["`/]|(?:join\(\w+, "|\}\/)refs\b/.test(textOf(file)),
  );
  // The agent-side rules name the files that nobody may write, and uninstalling removes the folders that git leaves empty.
  expect(reads.sort()).toEqual([
    "agent-hooks/rules/files.ts",
    "git/format.ts",
    "git/ref-tables.ts",
    "git/refs.ts",
    "store/state/state-folder.ts",
  ]);
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
  const shared = ["finding-set-aside.ts", "operation.ts", "settle-close.ts"];
  expect(files.filter((file) => !registry.includes(`"./${file}"`))).toEqual(shared);
});

test("the index of the helpers names each of them", () => {
  const folder = join(src, "../test/helpers");
  const index = readFileSync(join(folder, "README.md"), "utf8");
  const helpers = readdirSync(folder).filter((name) => /\.m?[jt]s$/.test(name));
  expect(helpers.filter((name) => !index.includes(`\`${name}\``))).toEqual([]);
});
