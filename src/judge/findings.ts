import { type Finding, finding } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import type { KnownFindings, Seen } from "./new-findings.ts";
import { getTask } from "./which-task.ts";

/** What is known before a finding is added to a task. */
export function gatherFindings(
  reader: Reader,
  input: { task?: string | undefined },
  at: Situation,
  seen: Seen,
): KnownFindings {
  const task = getTask(reader, input.task, at);
  const { plan } = reader.task(task).value;
  const earlier = reader.parts(finding, task).records.map((one) => one.value);
  return { ...seen, task, plan, earlier, names: reader.partNames(finding, task) };
}

export function findingPlace(one: Pick<Finding, "file" | "line">): string {
  return one.file ? `${one.file}${one.line === undefined ? "" : `:${one.line}`}` : "";
}

export function findingLine(one: Finding): string {
  const place = findingPlace(one);
  return `${one.id} ${one.status}, ${one.severity}${place ? `, ${place}` : ""}: ${firstLine(one.text)}`;
}
