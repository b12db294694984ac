import { partOf } from "../../model/ids.ts";
import type { Evidence, Handoff, Review } from "../../model/records/parts.ts";
import type { Task } from "../../model/records/task.ts";
import type { Situation } from "../../ports/operation.ts";
import { validationsOf, validationWords } from "../validation.ts";
import type { Entry, Section } from "./budget-fit.ts";
import { clipLine, oneLine } from "./clip.ts";
import { lineForms } from "./forms.ts";
import type { Facts } from "./gather.ts";
import { GROUPS, rankOf, type Worth } from "./ranks.ts";
import { shortCommit } from "./task-sections.ts";

/** Bytes of the handoff's next step in the smallest packet. */
const LEAST_NEXT = 80;

/** The newest handoff; if it says next to nothing, also the newest earlier one with substance. */
export function handoffSections({ own }: Facts): Section[] {
  const latest = own.handoffs.at(-1);
  if (!latest) return [];
  const sections = [handoffSection("Latest handoff", latest, own.evidence, true)];
  if (!isNearlyEmpty(latest, own.handoffs.at(-2), own.task)) return sections;
  const useful = own.handoffs.slice(0, -1).findLast((one) => one.blocker !== "" || one.validation.length > 0);
  return useful ? [...sections, handoffSection("Earlier handoff", useful, own.evidence, false)] : sections;
}

const FEW_WORDS = 12;

/** It has no checks, files or blocker, and says little or only what was said before. */
export function isNearlyEmpty(one: Handoff, before: Handoff | undefined, task: Task): boolean {
  if (one.blocker !== "" || one.validation.length > 0 || one.changed.length > 0) return false;
  const said = words(`${one.what} ${one.next}`);
  const known = new Set(
    words([task.title, task.objective, before?.what ?? "", before?.next ?? ""].join(" ")),
  );
  return said.length < FEW_WORDS || said.filter((word) => !known.has(word)).length < said.length / 4;
}

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function handoffSection(name: string, one: Handoff, evidence: Evidence[], isLatest: boolean): Section {
  const worth: Worth = isLatest ? "handoff" : "otherHandoff";
  const part = (before: string, text: string, options: { worth?: Worth; always?: number } = {}): Entry[] =>
    text === ""
      ? []
      : [
          {
            group: GROUPS.handoff,
            record: one.id,
            forms: lineForms(options.worth ?? worth, text, {
              before,
              ...(options.always === undefined ? {} : { always: options.always }),
            }),
          },
        ];
  return {
    heading: `## ${name} ${clipLine(`${partOf(one.id)}, ${one.created.slice(0, 10)}`, 24)}`,
    entries: [
      ...part("Next: ", one.next, isLatest ? { worth: "nextActions", always: LEAST_NEXT } : {}),
      ...part("Blocker: ", one.blocker, { worth: "blockers" }),
      ...part("What: ", one.what),
      ...part("Checked: ", validationsOf(one, evidence).map(validationWords).join("; ")),
      ...part("Changed: ", one.changed.join(", ")),
      ...part("By: ", `${one.actor}${one.commit ? ` at ${shortCommit(one.commit)}` : ""}`),
    ],
  };
}

export function decisionsSection({ own }: Facts): Section {
  const newestFirst = [...own.decisions].reverse();
  return {
    heading: `## Decisions (${own.decisions.length})`,
    entries: newestFirst.map((one, nth) => ({
      group: GROUPS.decisions,
      record: one.id,
      forms: lineForms("decisions", one.what, {
        before: `- ${partOf(one.id)}${one.slice ? ` (${one.slice})` : ""}: `,
        more: one.why === "" ? "" : `Because: ${one.why}`,
        nth,
      }),
    })),
  };
}

/**
 * The latest result of each check, and of each slice's red and green; results that these replaced come last.
 */
export function evidenceSection({ own }: Facts, at: Situation): Section {
  const latest = new Map<string, Evidence>();
  for (const one of own.evidence) latest.set(subjectOf(one), one);
  const current = [...latest.values()].reverse().sort((a, b) => Number(isWanted(a)) - Number(isWanted(b)));
  const old = own.evidence.filter((one) => latest.get(subjectOf(one)) !== one).reverse();
  return {
    heading: `## Evidence (latest of ${own.evidence.length})`,
    entries: [
      ...current.map((one, nth) => ({
        group: GROUPS.evidence,
        record: one.id,
        forms: lineForms("evidence", evidenceLine(one, at), {
          before: "- ",
          more: isWanted(one) ? "" : outputEnd(one),
          nth,
        }),
      })),
      ...old.map((one, nth) => ({
        group: GROUPS.oldEvidence,
        record: one.id,
        forms: [
          { rank: rankOf("oldEvidence", nth), text: `- older: ${clipLine(evidenceLine(one, at), 120)}` },
        ],
      })),
    ],
  };
}

function subjectOf(one: Evidence): string {
  return JSON.stringify([one.slice, one.kind === "red", one.check ?? one.argv]);
}

const isWanted = (one: Evidence) => (one.kind === "red") === (one.exit_code !== 0);

function evidenceLine(one: Evidence, at: Situation): string {
  const result = one.exit_code === 0 ? "passed" : `failed (${one.exit_code})`;
  const wanted =
    one.kind === "red" ? `${result}, as a red ${isWanted(one) ? "should" : "should not"}` : result;
  const where =
    one.head === undefined
      ? "without a commit"
      : one.head === at.commit
        ? "at this commit"
        : `at ${shortCommit(one.head)}, not at this commit`;
  const name = [one.slice, one.check].filter(Boolean).join(" ");
  return `${partOf(one.id)}${name ? ` ${name}` : ""} ${wanted}: \`${one.argv.join(" ")}\` ${where}${one.dirty ? " (with uncommitted changes)" : ""}`;
}

const OUTPUT_END = 400;

function outputEnd(one: Evidence): string {
  const end = oneLine(one.output.slice(-OUTPUT_END));
  return end === "" ? "" : `Output ended: ${end}`;
}

/** The last review of the plan and of the branch. */
export function reviewsSection({ own }: Facts): Section {
  const latest = new Map<string, Review>();
  for (const one of own.reviews) latest.set(one.kind, one);
  return {
    heading: "## Last reviews",
    entries: [...latest.values()].map((one, nth) => ({
      group: GROUPS.reviews,
      record: one.id,
      forms: lineForms("reviews", `${reviewLine(one)}${one.summary === "" ? "" : `: ${one.summary}`}`, {
        before: "- ",
        nth,
      }),
    })),
  };
}

function reviewLine(one: Review): string {
  const counts = one.counts ? "" : ", counts for no gate";
  return `${partOf(one.id)} ${one.kind}: ${one.verdict} by ${clipLine(one.actor, 60)} at ${shortCommit(one.head ?? one.commit)}${counts}`;
}
