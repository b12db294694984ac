import { type FieldInfo, fieldInfo } from "../model/input.ts";
import type { AnyOperation } from "../ports/operation.ts";
import { DRY_RUN, type Tier, type ToolSpec, toolName } from "./tools.ts";

/** One field as JSON Schema says it: its form and nothing else, because the operation itself checks the rest. */
type Property = {
  type: "string" | "boolean" | "integer" | "array" | "object";
  enum?: string[];
  items?: { type: "string" | "object"; enum?: string[] };
  description?: string;
};

export interface Tool {
  name: string;
  description: string;
  inputSchema: {
    type: "object";
    properties: Record<string, Property>;
    required?: string[];
  };
  annotations: Record<string, boolean>;
}

/** The operation's own fields that are offered. */
export function fieldsOf(operation: AnyOperation, spec: ToolSpec, tier: Tier): string[] {
  const known = Object.keys(operation.input.shape).filter((field) => !spec.without?.includes(field));
  const chosen = tier !== "all" && spec.core ? spec.core : known;
  return chosen.filter((field) => known.includes(field));
}

export function describeTool(operation: AnyOperation, spec: ToolSpec, tier: Tier): Tool {
  const properties: Record<string, Property> = {};
  const required: string[] = [];
  for (const field of fieldsOf(operation, spec, tier)) {
    const info = fieldInfo(operation.input.shape[field]);
    const words = spec.words?.[field];
    properties[field] = { ...formOf(info), ...(words ? { description: words } : {}) };
    if (info.required) required.push(field);
  }
  return {
    name: toolName(operation.id),
    description: spec.summary,
    inputSchema: {
      type: "object",
      properties,
      // That nothing else is taken is said when it happens: in every schema it would cost a session 200 tokens.
      ...(required.length > 0 ? { required } : {}),
    },
    annotations: annotationsOf(operation, spec),
  };
}

export const DRY_RUN_TOOL: Tool = {
  name: DRY_RUN,
  description: "Validate a call: what it would write or refuse, without doing it",
  inputSchema: {
    type: "object",
    properties: { tool: { type: "string" }, input: { type: "object" } },
    required: ["tool"],
  },
  annotations: { readOnlyHint: true },
};

function formOf(info: FieldInfo): Property {
  const one = { type: "string" as const, ...(info.choices ? { enum: [...info.choices] } : {}) };
  switch (info.type) {
    case "flag":
      return { type: "boolean" };
    case "number":
      return { type: "integer" };
    case "list":
      return { type: "array", items: one };
    // Its fields are those of another tool, and are described there.
    case "objects":
      return { type: "array", items: { type: "object" } };
    default:
      return one;
  }
}

/** Only what differs from what a client assumes: that a tool writes, destroys, and does it again when repeated. */
function annotationsOf({ access }: AnyOperation, spec: ToolSpec): Record<string, boolean> {
  if (access === "read" || spec.readOnly) return { readOnlyHint: true };
  return {
    ...(spec.destructive ? {} : { destructiveHint: false }),
    ...(spec.idempotent ? { idempotentHint: true } : {}),
  };
}
