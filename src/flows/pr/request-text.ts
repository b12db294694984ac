import type { GateResult } from "../../judge/gates/gate.ts";
import { quoteLine } from "../../model/printable.ts";
import { evidence, type Finding, finding, handoff, review } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import type { Reader } from "../../ports/ports.ts";
import { receiptOf } from "../check/keep-receipt.ts";

/** What a host shows with a request: what the task is for, and what was seen of it. Nothing that is claimed. */
export function requestText(reader: Reader, task: Task, gate: GateResult): string {
  const values = <T>(found: { records: { value: T }[] }) => found.records.map((one) => one.value);
  const trees = new Set(gate.repos.map((one) => one.tree));
  const proofs = values(reader.parts(evidence, task.id)).filter(
    (one) => one.tree !== undefined && trees.has(one.tree),
  );
  const findings = values(reader.parts(finding, task.id));
  const reviews = values(reader.parts(review, task.id)).filter((one) => one.counts);
  const last = values(reader.parts(handoff, task.id)).at(-1);
  const receipt = receiptOf(reader, task.id)?.value.digest;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, "", ...lines, ""];
  return [
    ...(task.objective === "" ? [] : [task.objective, ""]),
    ...section("What was done", last ? [last.what] : []),
    ...section(
      "Evidence on exactly this tree",
      proofs.map((one) => `- ${one.id} \`${code(one.check ?? one.argv.join(" "))}\`: exit ${one.exit_code}`),
    ),
    ...section("Findings", findings.map(findingLine)),
    ...section(
      "Reviews",
      reviews.map((one) => `- ${one.id} ${one.kind}: ${one.verdict} by ${quoteLine(one.actor, 80)}`),
    ),
    ...section(
      "Not settled yet",
      gate.reasons.map((one) => `- ${one.code}: ${one.message}`),
    ),
    `Pawl-Task: ${task.id}`,
    ...(gate.ready && receipt !== undefined ? [`Pawl-Receipt: ${receipt}`] : []),
  ].join("\n");
}

const findingLine = (one: Finding) =>
  `- ${one.id} ${one.severity}, ${one.status}: ${quoteLine(one.text, 160)}`;

/** Inside a span of code nothing ends it before its end. */
const code = (text: string) => text.replaceAll("`", "'").replace(/\s+/g, " ").slice(0, 120);
