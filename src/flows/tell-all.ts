import { Failure } from "../model/failure.ts";

/** Tells all refusals at once, so that nobody has to find them one by one; the first gives its name to the answer. */
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
