import { adapterSchema } from "../installer/adapter.ts";
import { configSchema } from "../model/config.ts";
import type { JsonSchema } from "../model/fields.ts";
import { answerSchema, asDocument, recordSchemas } from "../model/record-schema.ts";

interface Described {
  about: string;
  schema(): JsonSchema;
}

/** Everything of pawl's that other programs read or write, made from what reads it here. */
export const SCHEMAS: Readonly<Record<string, Described>> = {
  ...Object.fromEntries(
    Object.entries(recordSchemas).map(([name, schema]) => [
      name,
      { about: "a record of this kind, as --json shows it", schema },
    ]),
  ),
  answer: { about: "what every command prints with --json", schema: answerSchema },
  config: { about: ".pawl/config.yaml", schema: configSchema },
  adapter: { about: "what pawl knows about an agent: adapters/<agent>/adapter.json", schema: adapterSchema },
};

export function schemaOf(kind: string): JsonSchema | undefined {
  const found = Object.hasOwn(SCHEMAS, kind) ? SCHEMAS[kind] : undefined;
  return found && asDocument(`pawl ${kind}`, found.schema());
}
