import { Failure } from "../model/failure.ts";
import type { Role } from "../model/records/attempt.ts";
import { decision, evidence, handoff } from "../model/records/parts.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Reader } from "../ports/ports.ts";

/** Runs in other roles write nothing, and starting another run is not writing. */
const WRITING: readonly Role[] = ["author", "fixer"];

/**
 * Whoever recorded slices, evidence or changed files, worked in the task's worktrees or moved its branch is
 * an author, whatever they say. An unreadable record could be anybody's, so then this fails rather than leave
 * an author out.
 */
export function gatherAuthors(reader: Reader, id: string): string[] {
  const { slices } = reader.task(id).value;
  const proofs = reader.parts(evidence, id);
  const decisions = reader.parts(decision, id);
  const handoffs = reader.parts(handoff, id);
  const runs = reader.parts(run, id);
  const problems = [proofs, decisions, handoffs, runs].flatMap((one) => one.problems);
  const [problem] = problems;
  if (problem)
    throw new Failure(
      "unreadable",
      "authors_unknown",
      `Pawl cannot tell who wrote ${id}: ${problem.message}`,
      {
        ...(problem.hint ? { hint: problem.hint } : {}),
        details: { file: problem.file },
      },
    );
  const wrote = [...decisions.records, ...handoffs.records].filter(
    ({ value }) => value.changed.length > 0 || ("slice" in value && value.slice !== undefined),
  );
  return [
    ...new Set([
      ...slices.flatMap((slice) => (slice.by === undefined ? [] : [slice.by])),
      ...[...proofs.records, ...wrote].map((record) => record.value.actor),
      ...runs.records
        .filter(({ value }) => value.role === undefined || WRITING.includes(value.role))
        .flatMap(({ value }) => [value.actor, value.holder]),
      ...moversOf(reader, id, runs.records),
    ]),
  ];
}

/**
 * A session that we neither saw begin nor started ourselves is only a name, which anybody could use: then
 * every session of that agent counts as an author.
 */
function moversOf(reader: Reader, id: string, runs: readonly { value: Run }[]): string[] {
  const started = runs.flatMap(({ value }) => value.attempts.map((one) => one.session));
  return reader
    .movers(id)
    .map(({ actor, anySession, seen }) =>
      seen || started.some((session) => session !== undefined && actor === `${anySession}:${session}`)
        ? actor
        : anySession,
    );
}

/**
 * Somebody other than the plan's author has to judge it; if that author is not known, it is whoever created
 * the task.
 */
export function planAuthors(task: { plan_by: string | undefined; actor: string }): string[] {
  return [task.plan_by ?? task.actor];
}
