import { Failure } from "../model/failure.ts";
import type { Role } from "../model/records/attempt.ts";
import { decision, evidence, handoff } from "../model/records/parts.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Reader } from "../ports/ports.ts";

/** Who was started in another role can change nothing, and starting somebody is no work of one's own. */
const WRITING: readonly Role[] = ["author", "fixer"];

/**
 * Whoever recorded slices, evidence or changes of files, worked in its worktrees or moved its branch wrote the work, whatever they say about it. A record that
 * cannot be read could be anybody's, so then nobody is believed not to be an author.
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

/** A session that neither began before our eyes nor was started by us is a name that anybody may have put on: then any of its agent's is an author. */
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

/** A plan is judged by somebody other than its author; where that is not known, whoever wrote the task down may have. */
export function planAuthors(task: { plan_by: string | undefined; actor: string }): string[] {
  return [task.plan_by ?? task.actor];
}
