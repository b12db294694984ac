import type * as z from "zod/mini";
import { parseInput } from "../model/input.ts";
import { operations } from "../ops/index.ts";
import type { Described, Next } from "../ports/operation.ts";
import type { Answer } from "../runtime/answer.ts";
import { openRuntime, type Surroundings } from "../runtime/open.ts";
import { run } from "../runtime/run.ts";

/** What an operation answered. */
export interface Answered<Data> {
  data: Data;
  next: Next | undefined;
  warnings: string[];
  ready: boolean;
  body: Answer["body"];
  planned: Answer["planned"];
}

/** Carries out one operation, with the same input and the same refusals as the command of that name. */
export type Ask = <S extends z.ZodMiniObject, Data>(
  operation: Described<S, Data>,
  input: z.input<S>,
  options?: { dryRun?: boolean },
) => Promise<Answered<Data>>;

/**
 * Everything is opened again for each call, because others write to the same state while the page is open. Whatever a call
 * writes is marked as coming from the page.
 */
export function openAsk(around: Surroundings): Ask {
  return async (operation, input, options = {}) => {
    const load = operations[operation.id];
    if (!load) throw new Error(`The registry has no operation "${operation.id}"`);
    const { data, next, warnings, ready, body, planned } = await run(
      await load(),
      parseInput(operation.input, input),
      openRuntime({ ...around, fromPage: true }),
      options,
    );
    // The registry's operation is the one that was named, so its data is of the type that the name promises.
    return { data: data as never, next, warnings, ready, body, planned };
  };
}
