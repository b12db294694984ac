import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { describeTool, fieldsOf } from "../../src/mcp/schema.ts";
import { type Tier, TOOLS, toolIds, toolName } from "../../src/mcp/tools.ts";
import { tokensOf } from "../../src/model/budget.ts";
import { operations } from "../../src/ops/index.ts";
import type { AnyOperation } from "../../src/ports/operation.ts";

async function load(id: string): Promise<AnyOperation> {
  const found = operations[id];
  if (!found) throw new Error(`no operation ${id}`);
  return found();
}

async function list(tier: Tier) {
  const spec = (id: string) => TOOLS[id] ?? expect.fail(id);
  return Promise.all(toolIds(tier).map(async (id) => describeTool(await load(id), spec(id), tier)));
}

const CORE = [
  ...["session", "context", "task_list", "task_new", "task_update", "start", "slice_open", "slice_close"],
  ...["decide", "verify", "finding_add", "finding_list", "finding_resolve", "review_start", "review_record"],
  ...["check", "handoff", "snapshot", "search"],
];
const MORE = [
  ...[
    "task_show",
    "diff",
    "status",
    "task_ready",
    "task_archive",
    "touch",
    "finding_reopen",
    "finding_defer",
  ],
  ...["finding_wontfix", "note_add", "note_list", "log", "refresh", "finish", "repo_list", "sync", "audit"],
];

describe("the tools", () => {
  test("core and all are exactly these", () => {
    expect(toolIds("core").map(toolName).sort()).toEqual([...CORE].sort());
    expect(toolIds("all").map(toolName).sort()).toEqual([...CORE, ...MORE].sort());
  });

  test("nothing that a human decides is among them, nor anything internal or with an editor", async () => {
    const forbidden =
      /^(approve|unlock|install|uninstall|upgrade|override|home(\..*)?|repo\.(add|remove)|task\.edit|hook\..*)$/;
    expect(toolIds("all").filter((id) => forbidden.test(id))).toEqual([]);
    for (const id of toolIds("all")) expect((await load(id)).internal, id).toBeUndefined();
    const offered = async (id: string) => fieldsOf(await load(id), TOOLS[id] ?? expect.fail(id), "all");
    expect(await offered("audit")).not.toContain("updates");
    expect(await offered("sync")).toEqual(["remote"]);
  });

  test("the list of core costs a session no more than 1,500 tokens", async () => {
    expect(tokensOf(JSON.stringify({ tools: await list("core") }))).toBeLessThanOrEqual(1_500);
    expect(tokensOf(JSON.stringify({ tools: await list("all") }))).toBeLessThanOrEqual(3_000);
  });

  test.each(toolIds("all"))("the schema of %s says what the operation accepts", async (id) => {
    const operation = await load(id);
    const spec = TOOLS[id] ?? expect.fail(id);
    const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: "input" });
    for (const tier of ["core", "all"] as const) {
      const { inputSchema } = describeTool(operation, spec, tier);
      expect(inputSchema.additionalProperties).toBe(false);
      // Whatever the operation needs is offered, or the tool could never be called.
      expect([...(inputSchema.required ?? [])].sort()).toEqual([...required].sort());
      for (const [field, form] of Object.entries(inputSchema.properties)) {
        if (field === "repo" && !("repo" in operation.input.shape)) continue;
        const { type, enum: choices, items } = properties[field] as typeof form;
        expect(form, field).toMatchObject({ type });
        expect(form.enum, field).toEqual(choices);
        expect(form.items?.enum, field).toEqual(items?.enum);
      }
      for (const field of [...(spec.core ?? []), ...(spec.without ?? []), ...Object.keys(spec.words ?? {})])
        expect(field === "repo" || field in operation.input.shape, `${id}: ${field}`).toBe(true);
    }
  });

  test("what only reads says so, and only finish may destroy", async () => {
    for (const { name, annotations } of await list("all")) {
      const operation = await load(toolIds("all").find((id) => toolName(id) === name) ?? "");
      const reads = operation.access === "read" || name === "review_start";
      expect(annotations.readOnlyHint === true, name).toBe(reads);
      if (!reads) expect(annotations.destructiveHint, name).toBe(name === "finish" ? undefined : false);
    }
  });
});
