import { fromJSONSchema, type ZodType } from "zod";
import { schemaOf } from "../../src/runtime/schemas.ts";

const made = new Map<string, ZodType>();

/** What is wrong with a value by the schema that `pawl schema KIND` prints; nothing when it fits. */
export function mistakesIn(kind: string, value: unknown): string[] {
  let schema = made.get(kind);
  if (!schema) {
    schema = fromJSONSchema(schemaOf(kind) as Parameters<typeof fromJSONSchema>[0]);
    made.set(kind, schema);
  }
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map((issue) => `${kind} ${issue.path.join(".")}: ${explain(issue)}`);
}

/** Of several forms that could be meant, all say what they miss. */
const explain = (issue: object): string => JSON.stringify(issue);
