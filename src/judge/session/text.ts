import { tokensOf } from "../../model/budget.ts";
import type { Decision, Finding, Handoff, Message, Review } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import { firstLine, onOneLine, type Style } from "../../model/text.ts";
import { findingPlace } from "../findings.ts";
import type { sessionGates } from "../gates/session-gates.ts";
import { mailLine } from "../mail.ts";
import { severityRank } from "../next-step.ts";
import type { UnderWay } from "./whose.ts";

/** A worktree of the task on this machine. */
interface Worktree {
  repo: string;
  /** Absolute, because the reader may be anywhere. */
  path: string;
}

interface LoadedTask {
  task: Task;
  worktrees: Worktree[];
  /** The caller is in one of them. */
  here: boolean;
  /** How the work got into the base, if it did and the task does not say so yet. */
  merged_elsewhere: string | undefined;
  holder: string | undefined;
  yours: boolean;
  /** Other tasks that somebody works on. */
  others: UnderWay[];
  gates: ReturnType<typeof sessionGates> | undefined;
  /** The latest review of each kind that counts. */
  verdicts: Pick<Review, "id" | "kind" | "verdict" | "actor">[];
  findings: Finding[];
  decisions: Decision[];
  /** Unacknowledged messages for the reader. */
  mail: Message[];
  handoff: Handoff | undefined;
  touched: string[];
  budget: number;
}

export interface NothingLoaded {
  task: null;
  why: string;
  under_way: UnderWay[];
  candidates: string[];
  ready: string[];
  budget: number;
}

export type Loaded = LoadedTask | NothingLoaded;

export function withinBudget(loaded: Loaded, style: Style): string {
  if (loaded.task === null) return noTaskText(loaded);
  // Less and less detail until it fits: the task, the findings and the next step are worth more than file
  // names.
  for (const detail of [4, 3, 2, 1, 0]) {
    const text = sessionText(loaded, detail, style);
    if (tokensOf(text) <= loaded.budget || detail === 0) return text;
  }
  return "";
}

function noTaskText(loaded: NothingLoaded): string {
  const list =
    loaded.under_way.length > 0
      ? loaded.under_way.map((one) => `${one.id} ${firstLine(one.title, 60)} (${heldLine(one)})`)
      : loaded.candidates.length > 0
        ? loaded.candidates
        : loaded.ready;
  const lines = [loaded.why, ...list.map((one) => `  ${one}`)];
  while (lines.length > 2 && tokensOf(lines.join("\n")) > loaded.budget) lines.pop();
  return lines.join("\n");
}

function heldLine({ holder, yours, worktrees }: Pick<UnderWay, "holder" | "yours" | "worktrees">): string {
  const who = yours
    ? "held by this session"
    : holder
      ? `held by ${holder.slice(0, 60)}`
      : "not held by anybody";
  return [who, ...worktrees.slice(0, 1)].join(", ");
}

function sessionText(loaded: LoadedTask, detail: number, style: Style): string {
  const { task, findings, touched } = loaded;
  const width = Math.max(detail * 45, 24);
  const slices = task.slices.filter((one) => one.status === "open");
  const lines = [style.bold(`${task.id} ${firstLine(task.title, width)}`), ...placeLines(loaded)];
  if (task.blocker) lines.push(`blocked: ${firstLine(task.blocker, width)}`);
  if (task.objective) lines.push(`objective: ${firstLine(task.objective, width * 2)}`);
  if (task.slices.length > 0)
    lines.push(
      `slices: ${task.slices.length - slices.length} of ${task.slices.length} closed`,
      ...few(slices, (one) => `${one.id} ${firstLine(one.title, width)}`, detail * 2),
    );
  if (loaded.merged_elsewhere !== undefined) lines.push(`merged elsewhere: ${loaded.merged_elsewhere}`);
  else if (loaded.gates) lines.push(gatesLine(loaded.gates));
  lines.push(...verdictLines(loaded.verdicts));
  lines.push(...mailLines(loaded.mail, detail, width));
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
  // The newest decisions say most about where the work stands.
  if (loaded.decisions.length > 0)
    lines.push(
      `decisions: ${loaded.decisions.length}`,
      ...few(
        [...loaded.decisions].reverse(),
        (one) => `${one.id} ${firstLine(one.what, width)}`,
        Math.max(detail, 1),
      ),
    );
  if (touched.length > 0)
    lines.push(
      `changed files: ${touched.length}`,
      ...few(touched, (file) => onOneLine(file).slice(-width), detail * 3),
    );
  lines.push(...handoffLines(loaded.handoff, width));
  if (task.next.length > 0) lines.push("next:", ...few(task.next, (one) => firstLine(one, width), detail));
  if (loaded.others.length > 0)
    lines.push(
      "also active:",
      ...few(loaded.others, (one) => `${one.id} ${heldLine(one)}`, Math.max(detail, 1)),
    );
  return lines.join("\n");
}

function few<T>(items: readonly T[], print: (item: T) => string, most: number): string[] {
  return [
    ...items.slice(0, most).map((item) => `  ${print(item)}`),
    ...(items.length > most ? [`  … and ${items.length - most} more`] : []),
  ];
}

/** Where the work is and who holds it: a resumed or compacted session has forgotten that. */
function placeLines({ task, worktrees, here, holder, yours }: LoadedTask): string[] {
  const state = `${task.status}, ${task.profile}${task.branch ? `, branch ${task.branch}` : ""}${task.base_branch ? `, base ${task.base_branch}` : ""}`;
  const paths = worktrees.map(({ repo, path }) => (worktrees.length > 1 ? `${repo}: ${path}` : path));
  const stand = here ? " (you stand in it)" : " (work there)";
  return [
    state,
    ...(paths.length === 0 ? [] : [`worktree: ${paths.join("; ")}${stand}`]),
    ...(holder === undefined ? [] : [yours ? "held by this session" : `held by ${holder.slice(0, 80)}`]),
  ];
}

/** Leaves findings out, because they have lines of their own. */
function gatesLine({ stage, reasons }: NonNullable<LoadedTask["gates"]>): string {
  const codes = [...new Set(reasons.map((one) => one.code))].filter((code) => code !== "open_finding");
  const before = stage === "plan" ? "before the work begins" : "before it can be approved";
  return codes.length === 0
    ? `${before}: nothing known to be missing; pawl check looks again`
    : `${before}: ${codes.join(", ")}`;
}

function verdictLines(verdicts: LoadedTask["verdicts"]): string[] {
  return verdicts.map(
    (one) =>
      `${one.kind} review ${one.id}: ${one.verdict.replaceAll("_", " ")}, by ${one.actor.slice(0, 60)}`,
  );
}

function mailLines(mail: readonly Message[], detail: number, width: number): string[] {
  if (mail.length === 0) return [];
  const more = few(mail, (one) => mailLine(one, width), Math.max(detail, 1));
  return [`unread mail: ${mail.length} (read one with pawl mail ack)`, ...more];
}

function handoffLines(last: Handoff | undefined, width: number): string[] {
  if (!last) return ["no handoff yet"];
  return [
    `last handoff ${last.id} by ${last.actor.slice(0, 60)}: ${firstLine(last.what, width * 2)}`,
    ...(last.blocker ? [`  blocker: ${firstLine(last.blocker, width)}`] : []),
    `  next: ${firstLine(last.next, width * 2)}`,
  ];
}
