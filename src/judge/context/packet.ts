import type { Situation } from "../../ports/operation.ts";
import { type Fitted, fitInto, type Section } from "./budget-fit.ts";
import { clipLine } from "./clip.ts";
import { lineForms } from "./forms.ts";
import type { Facts } from "./gather.ts";
import { decisionsSection, evidenceSection, handoffSections, reviewsSection } from "./history-sections.ts";
import { GROUPS, rankOf, type Worth } from "./ranks.ts";
import type { Related } from "./relate.ts";
import {
  filesSection,
  findingsSection,
  headSection,
  nextSection,
  slicesSection,
  standing,
  textSection,
} from "./task-sections.ts";

export interface Packet extends Fitted {
  /** What is recorded nowhere, so that nobody searches for it. */
  missing: string[];
}

/** Everything that a newcomer needs to know, the most useful first, within `budget` tokens. */
export function assemble(facts: Facts, at: Situation, budget: number): Packet {
  const absent = missingOf(facts);
  const sections = [
    headSection(facts, at, sayMissing(absent)),
    textSection("Objective", "objective", facts),
    textSection("Acceptance", "acceptance", facts),
    nextSection(facts),
    findingsSection(facts),
    ...handoffSections(facts),
    textSection("Plan", "plan", facts),
    slicesSection(facts),
    decisionsSection(facts),
    evidenceSection(facts, at),
    reviewsSection(facts),
    textSection("Notes", "notes", facts),
    relatedSection(facts.related),
    filesSection(facts),
  ];
  const more = `pawl context ${facts.own.task.id} --budget ${budget * 2}`;
  return { ...fitInto(sections, budget, more), missing: [...absent.keys()] };
}

/** Tells a newcomer where they are and how to begin, even without a task. */
export function assembleWithoutTask(at: Situation, isDirty: boolean | undefined, budget: number): Packet {
  const lines = [
    "# No task yet",
    `${standing(at, isDirty)}.`,
    "**Missing:** there is no task, so no objective, plan, decisions, findings or handoff: inspect the repository.",
    'Begin with `pawl task new "<title>" --objective "…"`.',
  ];
  const section: Section = {
    heading: "",
    entries: lines.map((text) => ({ group: GROUPS.identity, forms: [{ rank: rankOf("always"), text }] })),
  };
  return { ...fitInto([section], budget, "pawl task new"), missing: ["task"] };
}

/** What is absent, with the words to say so. */
function missingOf({ own, related, look, problems }: Facts): Map<string, string> {
  const { task } = own;
  const light = task.profile === "light";
  const checks: [name: string, isAbsent: boolean, words: string][] = [
    ["objective", task.objective === "", "no objective"],
    ["acceptance", task.acceptance === "", "no acceptance"],
    ["plan", task.plan === "" && task.slices.length === 0, "no plan"],
    ["slices", task.profile === "strict" && task.slices.length === 0, "no slices"],
    ["decisions", own.decisions.length === 0, "no decisions recorded"],
    ["evidence", own.evidence.length === 0, "no evidence recorded"],
    ["review", !light && own.reviews.length === 0, "no review yet"],
    ["handoff", own.handoffs.length === 0, "no handoff yet"],
    ["related", related.length === 0 && !look.isUnsearched, "no related records found"],
    [
      "unsearched",
      look.isUnsearched === true,
      `similar records were not searched (\`pawl context ${task.id}\` does)`,
    ],
    ["search", look.searchProblem !== undefined, "the search index could not be read"],
    [
      "unreadable",
      problems.length > 0,
      `unreadable files (${problems.map((problem) => problem.file).join(", ")})`,
    ],
  ];
  return new Map(checks.filter(([, isAbsent]) => isAbsent).map(([name, , words]) => [name, words]));
}

/** Without these, only the code shows how far the work is. */
const TELLING = ["objective", "decisions", "handoff"];

function sayMissing(absent: ReadonlyMap<string, string>): string {
  const words = [...absent.values()].join(", ");
  if (words === "") return "";
  const advice = TELLING.some((name) => absent.has(name)) ? ": inspect the repository." : ".";
  return words.charAt(0).toUpperCase() + words.slice(1) + advice;
}

const BEST = 5;
const GOOD = 10;
/** Ranks after every text of the task itself, however long. */
const LAST = 1e9;

function relatedSection(related: readonly Related[]): Section {
  return {
    heading: "## Related records from elsewhere",
    entries: related.map((one, nth) => {
      const worth: Worth = nth < BEST ? "bestRelated" : nth < GOOD ? "goodRelated" : "lowRelated";
      const [short, ...longer] = lineForms(worth, relatedLine(one), { before: "- ", nth, more: one.detail });
      const forms = [short, longer[0]].flatMap((form) => (form ? [form] : []));
      // The details of a distant relative are worth less than any text of the task itself.
      return {
        group: GROUPS.related,
        record: one.id,
        forms: forms.map((form, index) =>
          index > 0 && nth >= BEST ? { ...form, rank: rankOf("ifRoom", LAST + nth) } : form,
        ),
      };
    }),
  };
}

function relatedLine(one: Related): string {
  const kind = one.status === undefined ? one.kind : `${one.kind}, ${one.status}`;
  return `${one.id} (${kind}; ${clipLine(one.why, 120)}): ${one.title}`;
}
