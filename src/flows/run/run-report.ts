import { addPart, madeNow } from "../../judge/change.ts";
import { findingPlace } from "../../judge/findings.ts";
import { nextAfter } from "../../judge/runs/outcome.ts";
import { dollars, short, usageOf } from "../../judge/runs/usage.ts";
import { taskOf } from "../../model/ids.ts";
import type { RunAttempt } from "../../model/records/attempt.ts";
import { evidence, finding, type Handoff, message, review } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import { firstLine } from "../../model/text.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { findNamed } from "./run-caller.ts";
import type { EndFacts } from "./run-end.ts";
import { headLines, howItEnded } from "./run-handoff.ts";

const MOST_FILES = 30;

/**
 * What the run that started this one is told about its end: what pawl saw, and the worker's own words as such. Written
 * together with the end itself, so that there is exactly one.
 */
export function reportTo(
  reader: Reader,
  at: Situation,
  value: Run,
  attempt: RunAttempt,
  facts: EndFacts,
  words: Handoff | undefined,
): Effect[] {
  const parent = findNamed(reader, value.parent);
  // A conductor is pawl itself, and reads the records.
  if (!parent || parent.role === "conductor") return [];
  const task = taskOf(parent.id);
  const made = addPart(
    message,
    task,
    reader.partNames(message, task),
    (id) => ({
      id,
      status: "open" as const,
      to: parent.id,
      from_run: value.id,
      run: value.id,
      report: true,
      acknowledged_by: undefined,
      ...madeNow(at),
      text: reportText(reader, value, attempt, facts, words),
    }),
    `report of ${value.id}: ${facts.outcome.status}`,
  );
  return [made.effect];
}

function reportText(
  reader: Reader,
  value: Run,
  attempt: RunAttempt,
  facts: EndFacts,
  words: Handoff | undefined,
): string {
  const task = taskOf(value.id);
  const own = (one: { run?: string | undefined; created: string }) =>
    one.run === value.id && one.created >= attempt.begun;
  const proofs = reader
    .parts(evidence, task)
    .records.map((one) => one.value)
    .filter(own);
  const open = reader
    .parts(finding, task)
    .records.map((one) => one.value)
    .filter((one) => one.status === "open");
  const verdicts = reader
    .parts(review, task)
    .records.map((one) => one.value)
    .filter((one) => one.actor === value.holder && one.created >= attempt.begun);
  const files = facts.heads.flatMap((one) => one.changed);
  return [
    `${attempt.agent} as ${value.role ?? "author"}: ${howItEnded(value, attempt, facts)}`,
    ...headLines(facts),
    listLine("files", files.slice(0, MOST_FILES), files.length - MOST_FILES),
    listLine(
      "checks",
      proofs.map((one) => `${one.id} ${firstLine(one.argv.join(" "), 60)}: exit ${one.exit_code}`),
    ),
    listLine(
      "verdicts",
      verdicts.map(
        (one) => `${one.id} ${one.kind} ${one.verdict}${one.counts ? "" : " (counts for no gate)"}`,
      ),
    ),
    listLine(
      "open findings",
      open.map((one) => `${one.id} ${one.severity} ${findingPlace(one)} ${firstLine(one.text, 80)}`),
    ),
    usageLine(attempt),
    words ? handoffLines(words) : "",
    `next: ${nextAfter(value.id, facts.outcome).command}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function listLine(name: string, items: readonly string[], more = 0): string {
  if (items.length === 0) return "";
  return `${name}: ${items.join("; ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function usageLine(attempt: RunAttempt): string {
  const { input, output, cost } = usageOf({ attempts: [attempt] });
  const used = [
    input + output > 0 ? `${short(input + output)} tokens` : "",
    cost === undefined ? "" : dollars(cost),
  ].filter(Boolean);
  return used.length === 0 ? "" : `used: ${used.join(", ")}`;
}

/** Where the worker left none, pawl's own says no more than what is above. */
function handoffLines({ id, automatic, what, blocker, next }: Handoff): string {
  if (automatic) return "It left no handoff.";
  return [
    `Its handoff ${id} says: ${what}`,
    ...(blocker === "" ? [] : [`  blocker: ${blocker}`]),
    `  next: ${next}`,
  ].join("\n");
}
