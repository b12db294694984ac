import { taskOf } from "../model/ids.ts";
import type { Evidence, Handoff } from "../model/records/parts.ts";

/** One line of a handoff about a check: with the record it names, or only a claim. */
export interface Validation {
  line: string;
  evidence: Evidence | undefined;
}

const NAMED = /^(?:(T\d{4,})\/)?(E\d+)\b/;

/** A line proves something if it begins with the id of a record of this task; anything else is a claim. */
export function validationsOf(
  handoff: Pick<Handoff, "id" | "validation">,
  evidence: readonly Evidence[],
): Validation[] {
  const task = taskOf(handoff.id);
  return handoff.validation.map((line) => {
    const [, of = task, part = ""] = NAMED.exec(line.trim()) ?? [];
    return { line, evidence: evidence.find((one) => one.id === `${of}/${part}`) };
  });
}

/** What a reader sees: the result that pawl saw, or that it is only claimed. */
export const validationWords = ({ line, evidence }: Validation) =>
  evidence === undefined ? `claimed: ${line}` : `${evidence.id}, exit ${evidence.exit_code}: ${line}`;
