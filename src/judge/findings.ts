import { parsePartRef } from "../model/ids.ts";
import { type Finding, finding } from "../model/records/parts.ts";
import { firstLine } from "../model/text.ts";
import type { Situation } from "../ports/operation.ts";
import type { Reader } from "../ports/ports.ts";
import { getTask, oneTask } from "./which-task.ts";

/** The finding that `F1` or `T0001/F1` means. */
export function gatherFinding(
  reader: Reader,
  input: { finding: string; task?: string | undefined },
  at: Situation,
) {
  const ref = parsePartRef(input.finding, "F", "finding");
  const id = getTask(reader, oneTask(ref.task, input.task), at);
  reader.task(id);
  return { id, stored: reader.part(finding, id, ref.part) };
}

export function findingPlace(one: Pick<Finding, "file" | "line">): string {
  return one.file ? `${one.file}${one.line === undefined ? "" : `:${one.line}`}` : "";
}

export function findingLine(one: Finding): string {
  const place = findingPlace(one);
  return `${one.id} ${one.status}, ${one.severity}${place ? `, ${place}` : ""}: ${firstLine(one.text)}`;
}
