import * as z from "zod/mini";
import { claimOf } from "../judge/claims.ts";
import { senderName } from "../judge/mail.ts";
import { getTask } from "../judge/which-task.ts";
import { partOf } from "../model/ids.ts";
import { taskField } from "../model/input.ts";
import type { Decision, Evidence, Finding, Handoff, Message, Review } from "../model/records/parts.ts";
import { decision, evidence, finding, handoff, message, review } from "../model/records/parts.ts";
import { type Approval, approval, type Run, run } from "../model/records/run.ts";
import type { Task } from "../model/records/task.ts";
import {
  columns,
  commandLine,
  firstLine,
  indent,
  paragraphs,
  type Style,
  statusColour,
  warningsOf,
} from "../model/text.ts";
import { operation } from "./operation.ts";

export const taskShow = operation({
  id: "task.show",
  summary: "Show one task with all its records",
  examples: ["pawl task show T0001", "pawl task show T1 --json"],
  access: "read",
  cli: { positional: ["task"] },
  input: z.strictObject({ task: taskField() }),

  gather(reader, input, at) {
    const id = getTask(reader, input.task, at);
    const stored = reader.task(id);
    return {
      task: stored.value,
      claim: claimOf(reader, id, at.now),
      touched: reader.touched(id),
      decisions: reader.parts(decision, id),
      evidence: reader.parts(evidence, id),
      findings: reader.parts(finding, id),
      reviews: reader.parts(review, id),
      handoffs: reader.parts(handoff, id),
      mail: reader.parts(message, id),
      runs: reader.parts(run, id),
      approvals: reader.parts(approval, id),
    };
  },

  decide(_input, facts) {
    const values = <T>(list: { records: { value: T }[] }) => list.records.map((record) => record.value);
    const lists = [
      facts.decisions,
      facts.evidence,
      facts.findings,
      facts.reviews,
      facts.handoffs,
      facts.mail,
      facts.runs,
      facts.approvals,
    ];
    return {
      data: {
        task: facts.task,
        claim: facts.claim ?? null,
        decisions: values<Decision>(facts.decisions),
        evidence: values<Evidence>(facts.evidence),
        findings: values<Finding>(facts.findings),
        reviews: values<Review>(facts.reviews),
        handoffs: values<Handoff>(facts.handoffs),
        mail: values<Message>(facts.mail),
        runs: values<Run>(facts.runs),
        approvals: values<Approval>(facts.approvals),
        touched: facts.touched,
      },
      warnings: warningsOf(lists.flatMap((list) => list.problems)),
    };
  },

  text: (data, style) =>
    paragraphs(
      headline(data.task, data.claim, style),
      section("Objective", data.task.objective, style),
      section("Plan", data.task.plan, style),
      section("Acceptance", data.task.acceptance, style),
      section("Notes", data.task.notes, style),
      ...work(data, style),
      listed(
        "Touched",
        data.touched.map((file) => [file]),
        style,
      ),
    ),
});

interface Recorded {
  task: Task;
  decisions: Decision[];
  evidence: Evidence[];
  findings: Finding[];
  reviews: Review[];
  handoffs: Handoff[];
  mail: Message[];
  runs: Run[];
  approvals: Approval[];
}

function work(data: Recorded, style: Style): string[] {
  return [
    listed(
      "Slices",
      data.task.slices.map((slice) => [slice.id, slice.status, firstLine(slice.title)]),
      style,
    ),
    listed(
      "Decisions",
      data.decisions.map((one) => [partOf(one.id), firstLine(one.what)]),
      style,
    ),
    listed("Evidence", data.evidence.map(evidenceRow), style),
    listed(
      "Findings",
      data.findings.map((one) => [partOf(one.id), one.status, one.severity, place(one), firstLine(one.text)]),
      style,
    ),
    listed(
      "Reviews",
      data.reviews.map((one) => [
        partOf(one.id),
        one.kind,
        one.verdict,
        one.actor,
        one.counts ? "" : "(not counted)",
      ]),
      style,
    ),
    listed(
      "Handoffs",
      data.handoffs.map((one) => [partOf(one.id), style.times(one.created), firstLine(one.what)]),
      style,
    ),
    listed(
      "Mail",
      data.mail.map((one) => [
        partOf(one.id),
        one.status,
        `${senderName(one)} → ${one.to}`,
        firstLine(one.text),
      ]),
      style,
    ),
    listed("Runs", data.runs.flatMap(runRows), style),
    listed(
      "Approvals",
      data.approvals.map((one) => [
        partOf(one.id),
        one.status,
        one.actor,
        one.how,
        one.repos.map((repo) => `${repo.name} ${repo.new.slice(0, 12)}`).join(", "),
      ]),
      style,
    ),
  ];
}

function runRows(one: Run): string[][] {
  return one.repos.map((repo, index) => [
    index === 0 ? partOf(one.id) : "",
    index === 0 ? (one.ended ?? one.status) : "",
    repo.name,
    repo.branch,
    repo.worktree,
  ]);
}

const place = (one: Finding) =>
  one.file ? `${one.file}${one.line === undefined ? "" : `:${one.line}`}` : "";

export function evidenceRow(one: Evidence): string[] {
  const result = one.exit_code === 0 ? "passed" : `failed (${one.exit_code})`;
  return [partOf(one.id), one.kind, result, firstLine(commandLine(one.argv), 60), one.slice ?? ""];
}

function headline(task: Task, claim: string | null, style: Style): string {
  const facts: string[][] = [
    ["status", statusColour(task.status, style) + (task.blocker ? `: ${task.blocker}` : "")],
    ["profile", task.profile],
    ["base", task.base_branch ?? "none"],
  ];
  if (task.branch) facts.push(["branch", task.branch]);
  if (claim !== null) facts.push(["claimed", style.times(claim)]);
  if (task.labels.length > 0) facts.push(["labels", task.labels.join(", ")]);
  if (task.depends_on.length > 0) facts.push(["depends on", task.depends_on.join(", ")]);
  task.next.forEach((action, index) => {
    facts.push([index === 0 ? "next" : "", action]);
  });
  facts.push(["rev", `${task.rev}, ${style.times(task.updated)}`]);
  const title = task.title.replace(/\s+/g, " ");
  return `${style.bold(`${task.id} ${title}`)}${task.archived ? " (archived)" : ""}\n${indent(columns(facts))}`;
}

function section(name: string, text: string, style: Style): string {
  return text === "" ? "" : `${style.bold(name)}\n${indent(text)}`;
}

function listed(name: string, rows: string[][], style: Style): string {
  return rows.length === 0 ? "" : `${style.bold(name)}\n${indent(columns(rows))}`;
}
