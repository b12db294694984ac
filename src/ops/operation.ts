import type * as z from "zod/mini";
import type { Operation, Procedure } from "../ports/operation.ts";

/** Both only let TypeScript infer an operation's types from its parts. */
export function operation<S extends z.ZodMiniObject, Facts, Data, Observed = undefined>(
  spec: Operation<S, Observed, Facts, Data>,
): Operation<S, Observed, Facts, Data> {
  return spec;
}

export function procedure<S extends z.ZodMiniObject, Data>(spec: Procedure<S, Data>): Procedure<S, Data> {
  return spec;
}
