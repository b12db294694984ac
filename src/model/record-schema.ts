import { type JsonSchema, schemaOfFields } from "./fields.ts";
import type { Kind } from "./record.ts";
import { KINDS } from "./records/kind-of-path.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** A record as `--json` shows it: the fields of its header, and the sections of its body as text. */
function recordSchema({ fields, sections }: Kind): JsonSchema {
  const header = schemaOfFields(fields);
  const body = Object.keys(sections).map((name) => [name, { type: "string" }]);
  return { ...header, properties: { ...(header.properties as object), ...Object.fromEntries(body) } };
}

/** A record in an answer: what is shown of it has the form of the record, but not all of it need be, and more may. */
function shownRecord(kind: Kind): JsonSchema {
  const { type, properties } = recordSchema(kind);
  return { type, properties };
}

/** What `--json` prints on every command: records lie in `data` under the name of their kind, lists under its plural. */
export function answerSchema(): JsonSchema {
  const found: Record<string, JsonSchema[]> = {};
  for (const { name, plural } of KINDS) {
    const record = { $ref: `#/$defs/${name}` };
    found[name] = [record];
    found[plural] = [...(found[plural] ?? []), { type: "array", items: record }];
  }
  found.runs = [...(found.runs ?? []), { type: "array", items: RUN_STANDING }];
  const records = Object.entries(found).map(([name, forms]) => [
    name,
    forms.length === 1 ? forms[0] : { anyOf: forms },
  ]);
  const next = objectOf({ command: TEXT, reason: TEXT });
  const planned = objectOf({ do: TEXT, path: TEXT, record: { type: "string" } }, ["do", "path"]);
  const answered = {
    schema: { const: 1 },
    ok: { const: true },
    data: { type: "object", properties: Object.fromEntries(records) },
    next,
    warnings: { type: "array", items: { type: "string" } },
    planned: { type: "array", items: planned },
  };
  const code = { type: "string", pattern: "^[a-z][a-z_]*$" };
  const error = objectOf({ code, message: TEXT, hint: TEXT, details: { type: "object" } }, [
    "code",
    "message",
  ]);
  return {
    oneOf: [
      objectOf(answered, ["schema", "ok", "data", "warnings"]),
      objectOf({ schema: { const: 1 }, ok: { const: false }, error }),
    ],
    $defs: Object.fromEntries(KINDS.map((kind) => [kind.name, shownRecord(kind)])),
  };
}

const TEXT: JsonSchema = { type: "string", minLength: 1 };

/** How a run stands, as `pawl run list` says it: from its record and from what its processes show. */
const RUN_STANDING: JsonSchema = {
  type: "object",
  properties: { id: TEXT, task: TEXT, state: TEXT, holder: TEXT, since: TEXT },
  required: ["id", "task", "state", "holder", "since"],
};

function objectOf(properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** The schemas that follow from the records, by the name under which `pawl schema` shows them. */
export const recordSchemas: Readonly<Record<string, () => JsonSchema>> = Object.fromEntries(
  KINDS.map((kind) => [kind.name, () => recordSchema(kind)]),
);

export const asDocument = (title: string, schema: JsonSchema): JsonSchema => ({
  $schema: DRAFT,
  title,
  ...schema,
});
