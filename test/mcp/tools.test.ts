import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { ANCESTORS } from "../../src/mcp/ancestors.ts";
import { DRY_RUN_TOOL, describeTool, fieldsOf } from "../../src/mcp/schema.ts";
import { DRY_RUN, type Tier, TOOLS, toolIds, toolName } from "../../src/mcp/tools.ts";
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
  const described = toolIds(tier).map(async (id) => describeTool(await load(id), spec(id), tier));
  return Promise.all(described);
}

const CORE = [
  ...["session", "context", "task_list", "task_show", "task_new", "task_update", "start", "slice_open"],
  ...["slice_close", "decide", "verify", "touch", "finding_add", "finding_batch", "finding_list"],
  ...["finding_resolve", "finding_reopen", "finding_wontfix", "review_start", "review_record", "check"],
  ...["handoff", "snapshot", "diff", "refresh", "finish", "search", "note_add"],
];
const OFFERED = [...toolIds("all"), ...toolIds("manager")].map(toolName);
const MANAGER = [
  ...["session", "handoff", "task_list", "task_new", "task_update", "inbox"],
  ...["run_start", "run_wait", "run_log", "run_list", "run_stop", "run_resume"],
  ...["mail_send", "mail_list", "mail_ack", "run_settle", "lane_add", "check", "decide", "task_show"],
];
const MORE = [
  ...[
    "status",
    "task_ready",
    "task_archive",
    "finding_defer",
    "note_list",
    "log",
    "repo_list",
    "sync",
    "audit",
  ],
];

describe("the tools", () => {
  test("core and all are exactly these", () => {
    expect(toolIds("core").map(toolName).sort()).toEqual([...CORE].sort());
    expect(toolIds("all").map(toolName).sort()).toEqual([...CORE, ...MORE].sort());
    expect(toolIds("manager").map(toolName).sort()).toEqual([...MANAGER].sort());
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

  test("the list of core costs a session no more than 2,200 tokens", async () => {
    const cost = async (tier: Tier) =>
      tokensOf(JSON.stringify({ tools: [...(await list(tier)), DRY_RUN_TOOL] }));
    expect(await cost("core")).toBeLessThanOrEqual(2_200);
    expect(await cost("all")).toBeLessThanOrEqual(3_000);
    expect(await cost("manager")).toBeLessThanOrEqual(1_500);
  });

  test("a description says more than the name, because agents look tools up by it", async () => {
    for (const { name, description } of await list("core")) {
      const words = description.toLowerCase().match(/[a-z]{3,}/g) ?? [];
      const news = words.filter((word) => !name.includes(word));
      expect(news.length, `${name}: ${description}`).toBeGreaterThanOrEqual(name.startsWith("task_") ? 1 : 2);
    }
  });

  test("the tools of earlier systems are answered with one that is offered here", () => {
    const offered = new Set([...OFFERED, DRY_RUN]);
    for (const [name, here] of Object.entries(ANCESTORS)) {
      expect(offered.has(name), name).toBe(false);
      const named = here.match(/[a-z]+(?:_[a-z]+)*/g) ?? [];
      expect(
        named.some((word) => offered.has(word)),
        `${name}: ${here}`,
      ).toBe(true);
    }
  });

  test.each([
    ["manage_worktree_lane", ["start", "finish"]],
    ["dispatch_lane_work", ["run_start"]],
    ["lane_communication", ["mail_send", "mail_list", "mail_ack"]],
    ["worker_reports", ["handoff", "mail_list"]],
  ])("%s, of an orchestrator, is answered with what does its work", (name, tools) => {
    for (const tool of tools) {
      expect(OFFERED).toContain(tool);
      expect(ANCESTORS[name]).toMatch(new RegExp(`\\b${tool}\\b`));
    }
  });

  test.each(toolIds("all"))("the schema of %s says what the operation accepts", async (id) => {
    const operation = await load(id);
    const spec = TOOLS[id] ?? expect.fail(id);
    const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: "input" });
    for (const tier of ["core", "all"] as const) {
      const { inputSchema } = describeTool(operation, spec, tier);
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
