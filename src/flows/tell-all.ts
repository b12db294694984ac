import { Failure } from "../model/failure.ts";

/** Reports all refusals at once instead of one per attempt; the first one supplies the error code. */
export function tellAll(refusals: readonly Failure[]): void {
  const [first, ...others] = refusals;
  if (!first) return;
  if (others.length === 0) throw first;
  throw new Failure(first.kind, first.code, refusals.map((one) => one.message).join("\n"), {
    hint: refusals.flatMap((one) => one.hint ?? []).join("\n"),
    details: {
      ...first.details,
      conflicts: refusals.map(({ code, message, details }) => ({ code, message, details })),
    },
  });
}
