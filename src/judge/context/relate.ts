import { clipPath } from "./clip.ts";
import { stemOf, wordsOf } from "./keywords.ts";

/** A record from elsewhere, reduced to what shows whether it is related to the task. */
export interface Candidate {
  id: string;
  kind: "task" | "decision" | "finding" | "handoff" | "note";
  /** The task it belongs to; a task belongs to itself, a note to none. */
  task: string | undefined;
  title: string;
  /** What else it says, shown if there is room. */
  detail: string;
  /** Everything it says. */
  text: string;
  mentions: ReadonlySet<string>;
  files: readonly string[];
  labels: readonly string[];
  /** Labels of the tasks that this decision was made for. */
  efforts: readonly string[];
  dependsOn: readonly string[];
  status: string | undefined;
  updated: string;
}

/** The task whose relatives are wanted. */
export interface Subject {
  id: string;
  /** What it is about. */
  keywords: readonly string[];
  files: readonly string[];
  labels: readonly string[];
  dependsOn: readonly string[];
  mentions: ReadonlySet<string>;
}

export interface Corpus {
  candidates: readonly Candidate[];
  /** How similar a record's words are to the task's, from 0 to 1, by record id. */
  likeness: ReadonlyMap<string, number>;
  /** How many tasks and notes have each label; `labelled` is how many there are in all. */
  labelCounts: ReadonlyMap<string, number>;
  labelled: number;
}

export interface Related extends Pick<Candidate, "id" | "kind" | "task" | "title" | "detail" | "status"> {
  why: string;
  score: number;
}

const MOST_RELATED = 15;
/** Anything less is chance: one common word, or one file that everybody changes. */
const LEAST_SCORE = 0.5;
/** Each further record of the same task adds less. */
const REPEATED = 0.9;

/** What each reason is worth. Somebody made a link on purpose; words mostly agree by accident. */
const WORTH = {
  dependency: 8,
  mention: 8,
  ownPartMention: 10,
  partOfDependency: 2,
  effort: 6,
  files: 7,
  words: 9.5,
  labels: 0.6,
} as const;

const KIND_WORTH: Readonly<Record<Candidate["kind"], number>> = {
  decision: 1,
  note: 1,
  finding: 0.95,
  task: 0.9,
  handoff: 0.9,
};

interface Reason {
  worth: number;
  words: string;
}

const NO_REASON: Reason = { worth: 0, words: "" };

/** Records from elsewhere that somebody who works on the task should know, the most useful first. */
export function relate(subject: Subject, around: Corpus): Related[] {
  const rarity = fileRarity(around.candidates);
  const about = new Map(subject.keywords.map((word) => [stemOf(word), word]));
  const scored = around.candidates.map((candidate) => {
    const links = linkReasons(subject, candidate);
    const likeness = [
      fileReason(subject, candidate, rarity),
      wordReason(about, candidate, around),
      labelReason(subject, candidate, around),
    ];
    const score = worthOf(links) + worthOf(likeness) * KIND_WORTH[candidate.kind];
    return { candidate, score, why: whyOf([...links, ...likeness]) };
  });
  return thinOut(scored.filter(({ score }) => score >= LEAST_SCORE)).slice(0, MOST_RELATED);
}

const worthOf = (reasons: readonly Reason[]) => sumOf(reasons.map((reason) => reason.worth));

type Scored = { candidate: Candidate; score: number; why: string };

/** Discounts each further record of the same task, so that one task cannot fill the list. */
function thinOut(scored: readonly Scored[]): Related[] {
  const byTask = new Map<string, number>();
  const order = [...scored].sort(byScore);
  const thinned = order.map(({ candidate, score, why }) => {
    const key = candidate.task ?? candidate.id;
    const earlier = byTask.get(key) ?? 0;
    byTask.set(key, earlier + 1);
    return { candidate, why, score: score * REPEATED ** earlier };
  });
  return thinned
    .sort(byScore)
    .map(({ candidate: { id, kind, task, title, detail, status }, score, why }) => ({
      id,
      kind,
      task,
      title,
      detail,
      status,
      why,
      score: Math.round(score * 100) / 100,
    }));
}

/** Ties go to the most recently changed record, then to the lower id, so the order is always the same. */
function byScore(a: Scored, b: Scored): number {
  return (
    b.score - a.score ||
    compare(b.candidate.updated, a.candidate.updated) ||
    compare(a.candidate.id, b.candidate.id)
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function linkReasons(subject: Subject, candidate: Candidate): Reason[] {
  const reasons: Reason[] = [];
  const isTask = candidate.kind === "task";
  if (subject.dependsOn.includes(candidate.task ?? ""))
    reasons.push(
      isTask
        ? { worth: WORTH.dependency, words: `${subject.id} depends on this` }
        : { worth: WORTH.partOfDependency, words: `of ${candidate.task}, which ${subject.id} depends on` },
    );
  if (isTask && candidate.dependsOn.includes(subject.id))
    reasons.push({ worth: WORTH.dependency, words: `it depends on ${subject.id}` });
  const effort = candidate.efforts.find((label) => subject.labels.includes(label));
  if (effort !== undefined) reasons.push({ worth: WORTH.effort, words: `decided for ${effort}` });
  if (subject.mentions.has(candidate.id))
    reasons.push({
      worth: isTask ? WORTH.mention : WORTH.ownPartMention,
      words: `${subject.id} mentions it`,
    });
  if ([...candidate.mentions].some((id) => id === subject.id || id.startsWith(`${subject.id}/`)))
    reasons.push({ worth: WORTH.mention, words: `it mentions ${subject.id}` });
  return reasons;
}

/** From 1 for a file of a single task or note, down to nearly 0 for one that all of them share. */
function fileRarity(candidates: readonly Candidate[]): Map<string, number> {
  const owners = new Map<string, Set<string>>();
  const all = new Set<string>();
  for (const candidate of candidates) {
    const owner = candidate.task ?? candidate.id;
    all.add(owner);
    for (const file of candidate.files) {
      const known = owners.get(file) ?? new Set();
      owners.set(file, known.add(owner));
    }
  }
  return new Map([...owners].map(([file, known]) => [file, rarityOf(known.size, all.size)]));
}

/** Among only a few tasks nothing counts as common, even if all of them share it. */
const FEW_OWNERS = 10;

function rarityOf(count: number, known: number): number {
  const total = Math.max(known, FEW_OWNERS) + 1;
  return Math.max(0, Math.log(total / (count + 0.5)) / Math.log(total / 1.5));
}

/** A file that many tasks change does not show that two of them are related. */
const COMMON = 0.4;

function fileReason(subject: Subject, candidate: Candidate, rarity: ReadonlyMap<string, number>): Reason {
  const shared = candidate.files
    .filter((file) => subject.files.includes(file))
    .map((file) => ({ file, rarity: rarity.get(file) ?? 0 }))
    .filter((one) => one.rarity > COMMON)
    .sort((a, b) => b.rarity - a.rarity || compare(a.file, b.file));
  const [rarest] = shared;
  if (!rarest) return NO_REASON;
  // Each further file counts half as much, because two long lists always share something.
  const worth = shared.reduce((sum, one, index) => sum + one.rarity / 2 ** index, 0);
  const more = shared.length > 1 ? ` and ${shared.length - 1} more` : "";
  return { worth: WORTH.files * worth, words: `same file ${clipPath(rarest.file, 80)}${more}` };
}

/** A text begins with what it is about; a log pasted at its end does not count. */
const READ_FOR_WORDS = 4_000;
const MOST_ABOUT = 3;

function wordReason(
  /** The task's keywords by stem. */
  about: ReadonlyMap<string, string>,
  { id, text }: Candidate,
  { likeness }: Corpus,
): Reason {
  const alike = likeness.get(id);
  if (alike === undefined) return NO_REASON;
  const stems = new Set(wordsOf(text.slice(0, READ_FOR_WORDS)).map(stemOf));
  const shared = [...about].flatMap(([stem, word]) => (stems.has(stem) ? [word] : []));
  // Search may have found it only by its files or labels, which are counted elsewhere.
  if (shared.length === 0) return NO_REASON;
  return { worth: WORTH.words * alike, words: `about: ${shared.slice(0, MOST_ABOUT).join(", ")}` };
}

/** A label describes a task or note as a whole, not each part of a task. */
function labelReason(subject: Subject, candidate: Candidate, around: Corpus): Reason {
  const isWhole = candidate.kind === "task" || candidate.kind === "note";
  const shared = candidate.labels.filter((label) => isWhole && subject.labels.includes(label));
  if (shared.length === 0) return NO_REASON;
  const rarities = shared.map((label) => rarityOf(around.labelCounts.get(label) ?? 1, around.labelled));
  return {
    worth: WORTH.labels * Math.min(2, sumOf(rarities)),
    words: `label ${shared.slice(0, 2).join(", ")}`,
  };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

const MOST_REASONS = 2;

function whyOf(reasons: readonly Reason[]): string {
  return [...reasons]
    .filter((reason) => reason.words !== "" && reason.worth > 0)
    .sort((a, b) => b.worth - a.worth)
    .slice(0, MOST_REASONS)
    .map((reason) => reason.words)
    .join("; ");
}
