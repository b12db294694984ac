import * as z from "zod/mini";
import { Failure } from "../model/failure.ts";
import { line, maybe } from "../model/input.ts";
import { nearest } from "../model/nearest.ts";
import { columns } from "../model/text.ts";
import { SCHEMAS, schemaOf } from "../runtime/schemas.ts";
import type { OwnCommand } from "./commands.ts";

const input = z.strictObject({ kind: maybe(line("whose schema", "KIND", 40)) });

type Data = { schemas: { kind: string; about: string }[] } | { schema: object };

export const schema: OwnCommand<typeof input, Data> = {
  id: "schema",
  summary: "Print the JSON Schema of a record, an answer, the config or an adapter",
  details:
    "Without a KIND it lists them. The schemas are generated from the code that reads and writes them.",
  examples: ["pawl schema", "pawl schema task", "pawl schema answer --json"],
  access: "read",
  cli: { positional: ["kind"] },
  input,
  answer({ kind }) {
    if (kind === undefined)
      return {
        data: { schemas: Object.entries(SCHEMAS).map(([name, { about }]) => ({ kind: name, about })) },
      };
    const found = schemaOf(kind);
    if (found) return { data: { schema: found } };
    const near = nearest(kind, Object.keys(SCHEMAS));
    throw new Failure("not_found", "no_schema", `There is no schema for "${kind.slice(0, 40)}".`, {
      hint: near ? `Did you mean \`pawl schema ${near}\`?` : "`pawl schema` lists them.",
      details: { kinds: Object.keys(SCHEMAS) },
    });
  },
  text: (data) =>
    "schema" in data
      ? JSON.stringify(data.schema, null, 2)
      : columns(data.schemas.map(({ kind, about }) => [kind, about])),
};
