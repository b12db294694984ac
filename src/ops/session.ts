import * as z from "zod/mini";
import { openDependencies } from "../flows/check/check-task.ts";
import { isPlace } from "../judge/current-run.ts";
import { findingPlace } from "../judge/findings.ts";
import type { RecordFacts } from "../judge/gates/facts.ts";
import { sessionGates } from "../judge/gates/session-gates.ts";
import { nextStep, severityRank } from "../judge/next-step.ts";
import { readyTasks } from "../judge/ready.ts";
import { findTask } from "../judge/which-task.ts";
import { tokensOf } from "../model/budget.ts";
import { count, maybe, taskField } from "../model/input.ts";
import {
  type Decision,
  decision,
  type Evidence,
  evidence,
  type Finding,
  finding,
  type Handoff,
  handoff,
  type Review,
  review,
} from "../model/records/parts.ts";
import { type Run, run } from "../model/records/run.ts";
import type { Task } from "../model/records/task.ts";
import { firstLine, type Style, warningsOf } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";
import { operation } from "./operation.ts";

/** What an agent pays for knowing where it is. */
const MOST_TOKENS = 400;
/** Less than this would not hold the task, a finding and the next step. */
const FEWEST_TOKENS = 200;

export const session = operation({
  id: "session",
  summary: "Load the session: task, gates, open findings, decisions, last handoff, next",
  examples: ["pawl session", "pawl session T0001 --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({
    task: taskField(),
    budget: maybe(
      count(`no more than this many tokens (default: ${MOST_TOKENS}; bytes ÷ 4)`, "TOKENS", FEWEST_TOKENS),
    ),
  }),

  observe: (world) => world.guardWarnings(),

  gather(reader, input, at, unguarded) {
    const which = findTask(reader, input.task, at);
    if (which.id === undefined) {
      const ready = readyTasks(reader.tasks().tasks);
      return { task: undefined, which, waits: reader.waits(), ready, unguarded };
    }
    return {
      unguarded,
      task: reader.task(which.id).value,
      findings: reader.parts(finding, which.id),
      decisions: reader.parts(decision, which.id),
      handoffs: reader.parts(handoff, which.id),
      evidence: reader.parts(evidence, which.id),
      reviews: reader.parts(review, which.id),
      runs: reader.parts(run, which.id),
      waitingFor: openDependencies(reader, which.id),
      touched: reader.touched(which.id),
    };
  },

  decide(input, facts) {
    const budget = input.budget ?? MOST_TOKENS;
    const { unguarded } = facts;
    if (facts.task === undefined)
      return { data: { session: none(facts, budget) }, next: nextWithoutTask(facts), warnings: unguarded };
    const open = facts.findings.records.map((one) => one.value).filter((one) => one.status === "open");
    const last = facts.handoffs.records.at(-1)?.value;
    const { findings, decisions, handoffs, evidence: proofs, reviews, runs } = facts;
    const problems = [findings, decisions, handoffs, proofs, reviews, runs].flatMap((one) => one.problems);
    // A record that cannot be read could be the one that stands in the way: then there is nothing to tell.
    const gates = problems.length > 0 ? undefined : sessionGates(recordFacts(facts.task, facts));
    return {
      data: {
        session: {
          task: facts.task,
          gates,
          findings: open,
          decisions: values(decisions),
          handoff: last,
          touched: facts.touched,
          budget,
        },
      },
      next: nextStep(facts.task, open, last, values(proofs)),
      warnings: [...unguarded, ...warningsOf(problems)],
    };
  },

  text: ({ session: loaded }, style) => withinBudget(loaded, style),
});

interface Parts {
  findings: { records: { value: Finding }[] };
  handoffs: { records: { value: Handoff }[] };
  evidence: { records: { value: Evidence }[] };
  reviews: { records: { value: Review }[] };
  runs: { records: { value: Run }[] };
  waitingFor: string[];
}

const values = <T>({ records }: { records: { value: T }[] }): T[] => records.map((one) => one.value);

function recordFacts(task: Task, parts: Parts): RecordFacts {
  const latest = parts.runs.records.findLast((one) => isPlace(one.value))?.value;
  return {
    task,
    run: latest?.ended === "removed" ? undefined : latest,
    findings: values(parts.findings),
    evidence: values(parts.evidence),
    reviews: values(parts.reviews),
    handoffs: values(parts.handoffs),
    // Who wrote it is worked out by `pawl check`; a review that did not count when it was recorded is known here too.
    authors: [],
    waitingFor: parts.waitingFor,
  };
}

type Loaded =
  | {
      task: Task;
      gates: ReturnType<typeof sessionGates> | undefined;
      findings: Finding[];
      decisions: Decision[];
      handoff: Handoff | undefined;
      touched: string[];
      budget: number;
    }
  | { task: null; why: string; candidates: string[]; ready: string[]; budget: number };

type NoTask = {
  waits: boolean;
  which: { why?: string; candidates?: { id: string; title: string }[] };
  ready: { id: string; title: string }[];
};

function none({ which, ready }: NoTask, budget: number): Loaded {
  const name = (one: { id: string; title: string }) => `${one.id} ${firstLine(one.title, 60)}`;
  return {
    task: null,
    why: which.why ?? "",
    candidates: (which.candidates ?? []).slice(0, 10).map(name),
    ready: ready.slice(0, 5).map(name),
    budget,
  };
}

function nextWithoutTask({ which, waits, ready }: NoTask): Next {
  if (waits) return { command: "pawl sync", reason: "the remote has the state of this project" };
  const [first] = which.candidates ?? [];
  if (first) return { command: `pawl session ${first.id}`, reason: "name the task you work on" };
  const [open] = ready;
  if (open) return { command: `pawl task show ${open.id}`, reason: "the oldest task that can be begun" };
  return { command: 'pawl task new "<title>"', reason: "there is nothing to do yet" };
}

/** Findings have lines of their own. */
function gatesLine({ stage, reasons }: NonNullable<Extract<Loaded, { task: Task }>["gates"]>): string {
  const codes = [...new Set(reasons.map((one) => one.code))].filter((code) => code !== "open_finding");
  const before = stage === "plan" ? "before the work begins" : "before it can be approved";
  return codes.length === 0 ? `${before}: nothing known; pawl check tells` : `${before}: ${codes.join(", ")}`;
}

function withinBudget(loaded: Loaded, style: Style): string {
  if (loaded.task === null) return noTaskText(loaded);
  // Shorter and shorter until it fits: the task, the findings and the next step are worth more than file names.
  for (const detail of [4, 3, 2, 1, 0]) {
    const text = sessionText(loaded, detail, style);
    if (tokensOf(text) <= loaded.budget || detail === 0) return text;
  }
  return "";
}

function noTaskText(loaded: Extract<Loaded, { task: null }>): string {
  const list = loaded.candidates.length > 0 ? loaded.candidates : loaded.ready;
  const lines = [loaded.why, ...list.map((one) => `  ${one}`)];
  while (lines.length > 2 && tokensOf(lines.join("\n")) > loaded.budget) lines.pop();
  return lines.join("\n");
}

function sessionText(loaded: Extract<Loaded, { task: Task }>, detail: number, style: Style): string {
  const { task, findings, handoff: last, touched } = loaded;
  const width = Math.max(detail * 45, 24);
  const few = <T>(items: readonly T[], print: (item: T) => string, most: number): string[] => [
    ...items.slice(0, most).map((item) => `  ${print(item)}`),
    ...(items.length > most ? [`  … and ${items.length - most} more`] : []),
  ];
  const slices = task.slices.filter((one) => one.status === "open");
  const lines = [
    style.bold(`${task.id} ${firstLine(task.title, width)}`),
    `${task.status}, ${task.profile}${task.branch ? `, branch ${task.branch}` : ""}${task.base_branch ? `, base ${task.base_branch}` : ""}`,
  ];
  if (task.blocker) lines.push(`blocked: ${firstLine(task.blocker, width)}`);
  if (task.objective) lines.push(`objective: ${firstLine(task.objective, width * 2)}`);
  if (task.slices.length > 0)
    lines.push(
      `slices: ${task.slices.length - slices.length} of ${task.slices.length} closed`,
      ...few(slices, (one) => `${one.id} ${firstLine(one.title, width)}`, detail * 2),
    );
  if (loaded.gates) lines.push(gatesLine(loaded.gates));
  lines.push(findings.length === 0 ? "no open findings" : `open findings: ${findings.length}`);
  lines.push(
    ...few(
      [...findings].sort((a, b) => severityRank(a) - severityRank(b)),
      (one) =>
        `${one.id} ${one.severity} ${findingPlace(one).slice(-width)} ${firstLine(one.text, width)}`.replace(
          / +/g,
          " ",
        ),
      Math.max(detail * 2, 1),
    ),
  );
  // The newest say most about where the work stands.
  if (loaded.decisions.length > 0)
    lines.push(
      `decisions: ${loaded.decisions.length}`,
      ...few(
        [...loaded.decisions].reverse(),
        (one) => `${one.id} ${firstLine(one.what, width)}`,
        Math.max(detail, 1),
      ),
    );
  if (touched.length > 0) lines.push("touched:", ...few(touched, (file) => file.slice(-width), detail * 3));
  if (last) {
    lines.push(`last handoff ${last.id} by ${last.actor.slice(0, 60)}: ${firstLine(last.what, width * 2)}`);
    if (last.blocker) lines.push(`  blocker: ${firstLine(last.blocker, width)}`);
    lines.push(`  next: ${firstLine(last.next, width * 2)}`);
  } else lines.push("no handoff yet");
  if (task.next.length > 0) lines.push("next:", ...few(task.next, (one) => firstLine(one, width), detail));
  return lines.join("\n");
}
