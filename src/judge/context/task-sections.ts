import { partOf } from "../../model/ids.ts";
import type { Finding } from "../../model/records/parts.ts";
import type { Slice, Task } from "../../model/records/task.ts";
import type { Situation } from "../../ports/operation.ts";
import { findingPlace } from "../findings.ts";
import { severityRank } from "../next-step.ts";
import type { Entry, Section } from "./budget-fit.ts";
import { clipLine, clipPath } from "./clip.ts";
import { blockForms, lineForms } from "./forms.ts";
import type { Facts } from "./gather.ts";
import { GROUPS, rankOf } from "./ranks.ts";

/** Bytes in the smallest packet; with headings and the last line they stay below 200 tokens. */
const LEAST = { title: 100, facts: 90, blocker: 80, findings: 110 };
const MOST_HIGH_ALWAYS = 3;

export const shortCommit = (commit: string | undefined) => commit?.slice(0, 10) ?? "no commit";

export function headSection(facts: Facts, at: Situation, missing: string): Section {
  const { task } = facts.own;
  const title = (bytes: number) => `# ${task.id} ${clipLine(task.title, bytes)}`;
  const entries: Entry[] = [
    {
      group: GROUPS.identity,
      record: task.id,
      forms: [
        { rank: rankOf("always"), text: title(LEAST.title) },
        { rank: rankOf("longerTexts"), text: title(400) },
      ],
    },
    {
      group: GROUPS.identity,
      forms: [
        { rank: rankOf("always"), text: clipLine(basicFacts(task).join(", "), LEAST.facts) },
        { rank: rankOf("place"), text: clipLine([...basicFacts(task), ...moreFacts(facts)].join(", "), 500) },
      ],
    },
  ];
  if (task.blocker)
    entries.push({
      group: GROUPS.blocker,
      forms: lineForms("blockers", task.blocker, { before: "**Blocked:** ", always: LEAST.blocker }),
    });
  entries.push({ group: GROUPS.place, forms: [{ rank: rankOf("place"), text: placeLine(facts, at) }] });
  if (missing !== "")
    entries.push({
      group: GROUPS.missing,
      forms: lineForms("missing", missing, { before: "**Missing:** " }),
    });
  return { heading: "", entries };
}

function basicFacts(task: Task): string[] {
  return [
    task.archived ? `${task.status} (archived)` : task.status,
    `${task.profile} profile`,
    task.base_branch ? `base ${task.base_branch}` : "no base branch",
    task.branch ? `branch ${task.branch}` : "no branch yet",
  ];
}

function moreFacts({ own, dependencies }: Facts): string[] {
  const waits = dependencies.map(({ id, status }) => `${id} (${status})`);
  return [
    ...(own.task.labels.length > 0 ? [`labels ${own.task.labels.join(" ")}`] : []),
    ...(waits.length > 0 ? [`depends on ${waits.join(" ")}`] : []),
  ];
}

/** Where the reader is, and whether the task's work is there. */
function placeLine({ own, look }: Pick<Facts, "own" | "look">, at: Situation): string {
  const { task } = own;
  const others = task.repos.filter((repo) => repo !== at.repo);
  return [
    `${standing(at, look.isDirty)}.`,
    task.branch !== undefined && task.branch !== at.branch
      ? `This is not the task's branch, ${clipLine(task.branch, 100)}.`
      : "",
    others.length > 0 ? `The task also has work in ${clipLine(others.join(", "), 120)}.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

export function standing(at: Situation, isDirty: boolean | undefined): string {
  const state =
    isDirty === undefined ? "unknown whether dirty" : isDirty ? "dirty (uncommitted changes)" : "clean";
  const branch = at.branch === undefined ? "detached" : `on branch ${clipLine(at.branch, 100)}`;
  return `Repository ${clipLine(at.repo ?? "without a name", 80)}: ${branch} at ${shortCommit(at.commit)}, ${state}`;
}

export function nextSection({ own }: Facts): Section {
  return {
    heading: "## Next actions",
    entries: own.task.next.map((action, nth) => ({
      group: GROUPS.next,
      forms: lineForms("nextActions", action, { before: "- ", nth }),
    })),
  };
}

export function textSection(
  heading: string,
  name: "objective" | "acceptance" | "plan" | "notes",
  facts: Facts,
): Section {
  const { task } = facts.own;
  const forms = blockForms(name === "notes" ? "longerTexts" : name, task[name], task.id);
  return { heading: `## ${heading}`, entries: task[name] === "" ? [] : [{ group: GROUPS[name], forms }] };
}

export function findingsSection({ own }: Facts): Section {
  const open = own.findings
    .filter((one) => one.status === "open")
    .sort((a, b) => severityRank(a) - severityRank(b));
  const settled = own.findings.length - open.length;
  const high = open.filter((one) => one.severity === "high");
  const always = Math.floor(LEAST.findings / Math.max(1, Math.min(high.length, MOST_HIGH_ALWAYS)));
  const counts = [
    `${open.length}`,
    ...(high.length > 0 ? [`${high.length} high`] : []),
    ...(settled > 0 ? [`${settled} settled`] : []),
  ];
  return {
    heading: `## Open findings (${counts.join(", ")})`,
    entries: open.map((one, nth) => ({
      group: GROUPS.findings,
      record: one.id,
      forms: findingForms(one, nth, nth < Math.min(high.length, MOST_HIGH_ALWAYS) ? always : undefined),
    })),
  };
}

function findingForms(one: Finding, nth: number, always: number | undefined) {
  const name = clipLine(partOf(one.id), 12);
  const place = findingPlace(one);
  const forms = lineForms(one.severity === "high" ? "highFindings" : "findings", one.text, {
    before: `- ${name} ${one.severity}${place === "" ? "" : `, ${clipPath(place, 200)}`}: `,
    more: one.fix === "" ? "" : `Fix: ${one.fix}`,
    nth,
  });
  if (always === undefined) return forms;
  const least = clipLine(`${place === "" ? "" : `${clipPath(place, always / 2)}: `}${one.text}`, always - 16);
  return [{ rank: rankOf("always"), text: `- ${name} ${least}` }, ...forms];
}

export function slicesSection({ own }: Facts): Section {
  const closed = own.task.slices.filter((one) => one.status === "closed");
  const open = own.task.slices.filter((one) => one.status === "open");
  return {
    heading: `## Slices (${closed.length} of ${own.task.slices.length} closed)`,
    entries: [
      ...open.map((one, nth) => ({
        group: GROUPS.openSlices,
        forms: lineForms("openSlices", `${one.id} open${proofOf(one)}: ${one.title}`, { before: "- ", nth }),
      })),
      ...closed.map((one, nth) => ({
        group: GROUPS.closedSlices,
        forms: [
          {
            rank: rankOf("closedSlices", nth),
            text: `- ${clipLine(`${one.id} closed${proofOf(one)}: ${one.title}`, 120)}`,
          },
        ],
      })),
    ],
  };
}

function proofOf(slice: Slice): string {
  const proofs = [
    slice.red && `red ${partOf(slice.red)}`,
    slice.green && `green ${partOf(slice.green)}`,
    slice.decision && partOf(slice.decision),
  ].filter(Boolean);
  return proofs.length === 0 ? "" : ` (${proofs.join(", ")})`;
}

export function filesSection({ files }: Facts): Section {
  return {
    heading: `## Touched files (${files.length})`,
    entries: files.map((file, nth) => ({
      group: GROUPS.touched,
      forms: [{ rank: rankOf("touched", nth), text: `- ${clipPath(file, 200)}` }],
    })),
  };
}
