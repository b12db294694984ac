import type { Own } from "./own.ts";

/** More words only find more noise, and each costs time, because every record that has it is compared. */
const MOST_KEYWORDS = 24;
const FROM_OBJECTIVE = 16;
const FROM_CURRENT = 8;
const FROM_PLAN = 8;

const STOP_WORDS = new Set(
  (
    "a about above after again all also always an and any are as at be because been before being below between both " +
    "but by can cannot could did do does done down during each either else even every few first for from further get " +
    "give gives go goes had has have here how if in instead into is it its itself just keep last later less like made make makes many may " +
    "more most much must need needs never new next no nor not nothing now of off old on once one only open or other our out " +
    "over own per same see should show shows since so some still such than that the their them then there these they thing things " +
    "this those through to too two under until up us use used uses using very want was we were what when where whether " +
    "which while who whole why will with within without work works would yet you your task add adds added change changes"
  ).split(" "),
);

/** The words that say what a text is about, in order, each once. */
export function wordsOf(text: string): string[] {
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .map((word) => word.replace(/^[-_]+|[-_]+$/g, ""))
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word) && !/^\d+$/.test(word));
  return [...new Set(words)];
}

/**
 * What the task is about: its whole title, then its objective, then what is in the way now, then what the
 * plan says most often. Labels are compared separately, so their words are left out here.
 */
export function keywordsOf({ task, findings, handoffs }: Own): string[] {
  const current = [
    ...task.next,
    task.blocker ?? "",
    ...findings.filter((one) => one.status === "open").map((one) => one.text),
    handoffs.at(-1)?.next ?? "",
  ];
  const all = [
    ...wordsOf(task.title),
    ...wordsOf(task.objective).slice(0, FROM_OBJECTIVE),
    ...wordsOf(current.join("\n")).slice(0, FROM_CURRENT),
    ...frequent(`${task.plan}\n${task.acceptance}`).slice(0, FROM_PLAN),
  ];
  return [...new Set(all)].slice(0, MOST_KEYWORDS);
}

function frequent(text: string): string[] {
  const counts = new Map<string, number>();
  for (const line of text.split("\n"))
    for (const word of wordsOf(line)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word);
}

/**
 * Words that differ only in their ending count as one. Coarse on purpose: stems are only compared with each
 * other.
 */
export function stemOf(word: string): string {
  if (word.length < 5) return word.replace(/s$/, "");
  return word.replace(/(?:ations?|ings?|edly|ed|ies|es|ly|er|ers|s|e|y)$/, "");
}

const MENTION = /\b(?:T\d{4,}(?:\/[A-Z]\d+)?|N\d{4,})\b/g;

/** Ids of records that a text speaks of. */
export function mentionsIn(text: string): Set<string> {
  return new Set([...text.matchAll(MENTION)].map(([id]) => id));
}
