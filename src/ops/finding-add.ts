import * as z from "zod/mini";
import { addPart, madeNow } from "../judge/change.ts";
import { findRun } from "../judge/current-run.ts";
import { findingLine } from "../judge/findings.ts";
import { getTask } from "../judge/which-task.ts";
import { Failure } from "../model/failure.ts";
import { choice, count, line, maybe, prose, taskField } from "../model/input.ts";
import { type Finding, finding, REVIEW_KINDS, SEVERITIES } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import { operation } from "./operation.ts";

export const findingAdd = operation({
  id: "finding.add",
  summary: "Record a review finding; it stays until it is settled",
  details:
    "A finding that is there already, open, at the same place and in the same words, is not added twice.",
  examples: ['pawl finding add "The retry loop never ends" --severity high --file src/upload.ts --line 40'],
  access: "write",
  cli: { positional: ["text"] },
  input: z.strictObject({
    text: prose("what is wrong and why it matters"),
    severity: choice(SEVERITIES, "how much it matters"),
    kind: maybe(choice(REVIEW_KINDS, "what was reviewed (default: branch)")),
    file: maybe(line("where", "FILE", 4_096)),
    line: maybe(count("where in the file")),
    fix: maybe(prose("how it could be fixed")),
    task: taskField(),
  }),

  async observe(world, input, at, reader) {
    const place = findRun(reader, getTask(reader, input.task, at))?.value.repos.find(
      (one) => one.name === at.repo,
    );
    const tip = place && (await world.branchTips([place]))[0]?.head;
    const commit = tip ?? at.commit;
    const text =
      commit && input.file && input.line ? await world.lineAt(commit, input.file, input.line) : undefined;
    return { tip, text };
  },

  gather(reader, input, at, { tip, text }) {
    const id = getTask(reader, input.task, at);
    const { plan } = reader.task(id).value;
    return {
      id,
      plan,
      tip,
      text,
      earlier: reader.parts(finding, id).records,
      names: reader.partNames(finding, id),
    };
  },

  decide(input, { id, plan, tip, text, earlier, names }, at) {
    if (input.line !== undefined && input.file === undefined)
      throw new Failure("usage", "line_without_file", "A line needs a file.", { details: { field: "line" } });
    const kind = input.kind ?? "branch";
    const same = earlier.find(({ value }) => isSame(value, { ...input, kind }));
    if (same)
      throw new Failure("conflict", "finding_known", `${same.value.id} says this already and is open.`, {
        hint: `\`pawl finding list --task ${id}\` shows what is known.`,
        details: { id: same.value.id },
      });
    const { effect, value } = addPart(
      finding,
      id,
      names,
      (findingId) => ({
        id: findingId,
        severity: input.severity,
        kind,
        status: "open" as const,
        file: input.file,
        line: input.line,
        line_sha256: text === undefined ? undefined : at.sha256(text),
        plan_digest: kind === "plan" ? at.sha256(plan) : undefined,
        resolved_commit: undefined,
        resolved_by: undefined,
        integrated_commit: undefined,
        reopened: 0,
        reopened_at: undefined,
        ...madeNow(at),
        // Wherever the reviewer stands, it was seen on the task's branch.
        commit: kind === "branch" ? (tip ?? at.commit) : at.commit,
        text: input.text,
        fix: input.fix ?? "",
        resolution: "",
        reopen_reasons: "",
      }),
      `${input.severity}: ${firstLine(input.text, 70)}`,
    );
    return { data: { finding: value }, effects: [effect] };
  },

  text: ({ finding: value }) => findingLine(value),
});

function isSame(
  known: Finding,
  wanted: { text: string; kind: string; file?: string | undefined; line?: number | undefined },
): boolean {
  const words = (text: string) => text.toLowerCase().replace(/\s+/g, " ").trim();
  return (
    known.status === "open" &&
    known.kind === wanted.kind &&
    known.file === wanted.file &&
    known.line === wanted.line &&
    words(known.text) === words(wanted.text)
  );
}
