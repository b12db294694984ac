import * as z from "zod/mini";
import { findRun } from "../judge/current-run.ts";
import { findingLine, gatherFindings } from "../judge/findings.ts";
import { beyondEnd, newFindings, type Said, type Seen, type SeenPlace } from "../judge/new-findings.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { choice, count, line, maybe, prose, taskField } from "../model/input.ts";
import { REVIEW_KINDS, SEVERITIES } from "../model/records/parts.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader, World } from "../ports/ports.ts";
import { operation } from "./operation.ts";

/** What can be said of one finding, alone or among others. */
export const findingFields = {
  text: prose("what is wrong and why it matters"),
  severity: choice(SEVERITIES, "how serious it is"),
  kind: maybe(choice(REVIEW_KINDS, "what was reviewed (default: branch)")),
  repo: maybe(line("the repository it is about (default: the one you are in)", "NAME")),
  file: maybe(line("where", "FILE", 4_096)),
  line: maybe(count("where in the file")),
  fix: maybe(prose("how it could be fixed")),
};

export const findingAdd = operation({
  id: "finding.add",
  summary: "Record a review finding, which stays until it is settled",
  details: "An open finding with the same place and the same words is not added twice.",
  examples: ['pawl finding add "The retry loop never ends" --severity high --file src/upload.ts --line 40'],
  access: "write",
  cli: { positional: ["text"] },
  input: z.strictObject({ ...findingFields, task: taskField() }),
  // Losing one would open a gate, so it is in the history at once, where no clean and no reset can take it.
  milestone: ({ finding: value }) => `${value.id}: ${value.severity} finding`,

  observe: (world, input, at, reader) => seenBy(world, input.task, [input], at, reader),
  gather: gatherFindings,

  decide({ task: _, ...said }, facts, at) {
    const { added, repeated, effects } = newFindings([said], facts, at);
    const [same] = repeated;
    if (same)
      throw new Failure("conflict", "finding_known", `${same.id} already says this and is open.`, {
        hint: `\`pawl finding list --task ${facts.task}\` shows what is known.`,
        details: { id: same.id },
      });
    const [value] = added;
    if (!value) throw new Error("A finding was given but not recorded");
    return { data: { finding: value }, effects, warnings: beyondEnd([said], facts) };
  },

  text: ({ finding: value }) => findingLine(value),
});

/** The branches under review as they are now, and the line that each finding is about. */
export async function seenBy(
  world: World,
  task: string | undefined,
  said: readonly Pick<Said, "repo" | "file" | "line">[],
  at: Situation,
  reader: Reader,
): Promise<Seen> {
  const places: SeenPlace[] = [];
  const id = getTask(reader, task, at);
  const repos = findRun(reader, id)?.value.repos ?? [];
  for (const { repo = at.repo, file, line: number } of said) {
    const place = repos.find((one) => one.name === repo);
    if (!place && repo !== at.repo) throw notTouched(id, repo, repos);
    const tip = place && (await world.branchTips([place]))[0]?.head;
    const commit = tip ?? at.commit;
    const known = commit !== undefined && file !== undefined && number !== undefined;
    const text = known ? await world.lineAt(commit, file, number, repo) : undefined;
    const isBeyond = known && text === undefined && (await world.lineAt(commit, file, 1, repo)) !== undefined;
    places.push({ repo, tip, text, isBeyond });
  }
  return { places };
}

function notTouched(task: string, repo: string | undefined, repos: readonly { name: string }[]): Failure {
  const names = repos.map((one) => one.name).join(", ");
  return new Failure("not_found", "no_repository", `${task} has no branch in a repository ${repo}.`, {
    hint: names === "" ? `pawl start ${task}` : `It has one in ${names}.`,
    details: { field: "repo" },
  });
}
