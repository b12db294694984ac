import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fieldsOf } from "../../src/mcp/schema.ts";
import { DRY_RUN, TOOLS, toolIds, toolName } from "../../src/mcp/tools.ts";
import { operations } from "../../src/ops/index.ts";

const path = fileURLToPath(new URL("../../docs/mcp.md", import.meta.url));
const BEGIN = "<!-- tools: written by UPDATE_DOCS=1 npx vitest run test/mcp/docs.test.ts -->\n";
const END = "<!-- /tools -->";

/** Every tool with all its fields; those that `--tools core` leaves out are in brackets. */
async function renderTools(): Promise<string> {
  const rows = toolIds("all").map(async (id) => {
    const [operation, spec] = [await operations[id]?.(), TOOLS[id]];
    if (!operation || !spec) throw new Error(`no operation ${id}`);
    const core = spec.tier === "core" ? fieldsOf(operation, spec, "core") : [];
    const all = fieldsOf(operation, spec, "all");
    const rest = all.filter((field) => !core.includes(field));
    const more = rest.length > 0 ? `(${rest.map((field) => `\`${field}\``).join(" ")})` : "";
    const fields = [...core.map((field) => `\`${field}\``), more].filter(Boolean).join(" ");
    return `| \`${toolName(id)}\` | ${spec.tier} | ${operation.summary} | ${fields} |\n`;
  });
  return `\n| tool | in | what it does | fields |\n|---|---|---|---|\n${(await Promise.all(rows)).join("")}\nFields in brackets come with \`--tools all\`.\n\n`;
}

test("docs/mcp.md lists the tools that there are", async () => {
  const text = readFileSync(path, "utf8");
  const [before = "", rest = ""] = text.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const wanted = `${before}${BEGIN}${await renderTools()}${END}${after}`;
  if (process.env.UPDATE_DOCS) writeFileSync(path, wanted);
  expect(readFileSync(path, "utf8")).toBe(wanted);
});

test("what the tables of earlier systems point to is there", () => {
  const rows = readFileSync(path, "utf8")
    .slice(readFileSync(path, "utf8").indexOf("## Where the primitives"))
    .split("\n")
    .filter((row) => row.startsWith("| ") && !row.startsWith("| theirs"));
  expect(rows.length).toBeGreaterThan(70);
  const tools = new Set([...[...toolIds("all"), ...toolIds("manager")].map(toolName), DRY_RUN]);
  for (const row of rows) {
    const ours = row.split(" | ").at(-1) ?? "";
    // Either something of ours does it, or the row says why nothing does.
    const named = [...ours.matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? "");
    const unknown = named.filter((name) => !tools.has(name) && !FIELDS.includes(name));
    expect({ row, unknown }).toEqual({ row, unknown: [] });
    expect(named.length > 0 || /^– |`pawl |`\/|orchestration|same names|own|overrides/.test(ours), row).toBe(
      true,
    );
  }
});

/** Words in code style that are fields or flags of a tool and no tool. */
const FIELDS = [
  "rev",
  "budget",
  "blocker",
  "next",
  "looked_at",
  "plan",
  "keep",
  "remove",
  "claim",
  "here",
  "task",
];
