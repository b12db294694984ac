import type { Kind, Problem, ValueOf } from "../../model/record.ts";
import { decision, evidence, finding, handoff, review } from "../../model/records/parts.ts";
import type { Reader } from "../../ports/ports.ts";

/** Everything recorded for the task itself. */
export type Own = ReturnType<typeof readOwn>;

export function readOwn(reader: Reader, id: string) {
  const problems: Problem[] = [];
  const values = <K extends Kind>(kind: K): ValueOf<K>[] => {
    const read = reader.parts(kind, id);
    problems.push(...read.problems);
    return read.records.map((record) => record.value);
  };
  return {
    task: reader.task(id).value,
    decisions: values(decision),
    evidence: values(evidence),
    findings: values(finding),
    reviews: values(review),
    handoffs: values(handoff),
    touched: reader.touched(id),
    problems,
  };
}

export const ownCount = (own: Own) => 1 + own.decisions.length + own.findings.length + own.handoffs.length;

/** The task's files, the most recently changed first. */
export function filesOf(own: Own, changed: readonly string[]): string[] {
  const newestFirst = [...own.handoffs, ...own.decisions].sort((a, b) => (a.created < b.created ? 1 : -1));
  const all = [
    ...changed,
    ...own.touched,
    ...newestFirst.flatMap((one) => one.changed),
    ...own.findings.flatMap((one) => one.file ?? []),
  ];
  return [...new Set(all.map(normalPath))];
}

export const normalPath = (path: string) => path.replaceAll("\\", "/").replace(/^\.\//, "");
