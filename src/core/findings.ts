import { parsePartRef } from "./ids.ts";
import { authorsOf } from "./lifecycle.ts";
import type { Situation } from "./operation.ts";
import type { Reader } from "./ports.ts";
import { evidence, type Finding, finding } from "./records/parts.ts";
import { firstLine } from "./text.ts";
import { getTask } from "./which-task.ts";

/** The finding that `F1` or `T0001/F1` means, with the authors of the work it is about. */
export function gatherFinding(
  reader: Reader,
  input: { finding: string; task?: string | undefined },
  at: Situation,
) {
  const ref = parsePartRef(input.finding, "F", "finding");
  const id = getTask(reader, ref.task ?? input.task, at);
  const task = reader.task(id).value;
  const proofs = reader.parts(evidence, id).records.map((record) => record.value);
  return { stored: reader.part(finding, id, ref.part), authors: authorsOf(task, proofs) };
}

export function findingPlace(one: Pick<Finding, "file" | "line">): string {
  return one.file ? `${one.file}${one.line === undefined ? "" : `:${one.line}`}` : "";
}

export function findingLine(one: Finding): string {
  const place = findingPlace(one);
  return `${one.id} ${one.status}, ${one.severity}${place ? `, ${place}` : ""}: ${firstLine(one.text)}`;
}
