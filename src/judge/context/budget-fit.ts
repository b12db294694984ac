import { byteLength, tokensOf } from "../../model/budget.ts";
import { plural } from "../../model/text.ts";

/** One way to say something; a lower rank gets its tokens first. */
export interface Form {
  rank: number;
  text: string;
}

/** What to call entries that were left out; a group without `many` is not counted. */
export interface Group {
  one: string;
  many?: string;
}

export interface Entry {
  group: Group;
  /** The record it shows. */
  record?: string;
  /** Ever longer versions; each replaces the one before. */
  forms: readonly Form[];
}

export interface Section {
  heading: string;
  entries: readonly Entry[];
}

export interface Fitted {
  text: string;
  tokens: number;
  included: string[];
  dropped: string[];
}

/** The rank of what even the smallest packet shows; its users have to keep the total small. */
export const ALWAYS = 0;
/** From this rank on, texts already shown only get longer, where there is room. */
export const LONGER_IF_ROOM = 1_000;

interface Slot {
  section: number;
  entry: Entry;
  /** How many of its forms were taken; 0 means left out. */
  taken: number;
}

interface Step {
  slot: Slot;
  form: Form;
  rank: number;
}

/**
 * Adds forms in the order of their rank until the budget is full. A smaller budget stops earlier in the same
 * order, so every larger one includes at least the same entries.
 */
export function fitInto(sections: readonly Section[], budget: number, moreCommand: string): Fitted {
  const room = budget * 4;
  const slots = sections.flatMap(({ entries }, section) =>
    entries.map((entry): Slot => ({ section, entry: { ...entry, forms: growing(entry.forms) }, taken: 0 })),
  );
  const [adding, lengthening] = stepsOf(slots);
  const page = new Page(sections, slots, moreCommand);

  let best = 0;
  let index = 0;
  for (const step of adding) {
    page.take(step.slot);
    index++;
    if (page.bytes() <= room) best = index;
    else if (page.bodyBytes > room) break;
  }
  for (; index > best; index--) page.giveBack((adding[index - 1] as Step).slot);

  for (const step of lengthening) {
    // A longer form replaces the one before it, so that one has to be there first.
    if (step.slot.entry.forms[step.slot.taken] !== step.form) continue;
    page.take(step.slot);
    if (page.bytes() > room) page.giveBack(step.slot);
  }
  return page.print();
}

/** A form that is not longer than the one before adds nothing. */
function growing(forms: readonly Form[]): Form[] {
  const kept: Form[] = [];
  for (const form of forms) {
    const last = kept.at(-1);
    if (!last || byteLength(form.text) > byteLength(last.text)) kept.push(form);
  }
  return kept;
}

function stepsOf(slots: readonly Slot[]): [adding: Step[], lengthening: Step[]] {
  const steps = slots.flatMap((slot) => slot.entry.forms.map((form) => ({ slot, form, rank: form.rank })));
  steps.sort((a, b) => a.rank - b.rank);
  const first = steps.findIndex((step) => step.rank >= LONGER_IF_ROOM);
  return first < 0 ? [steps, []] : [steps.slice(0, first), steps.slice(first)];
}

/** The packet being built; always knows its size in bytes. */
class Page {
  bodyBytes = 1;
  private readonly sections: readonly Section[];
  private readonly slots: readonly Slot[];
  private readonly moreCommand: string;
  private readonly shown: number[];
  private sectionsShown = 0;
  private readonly absent = new Map<Group, number>();
  private shortened = 0;

  constructor(sections: readonly Section[], slots: readonly Slot[], moreCommand: string) {
    this.sections = sections;
    this.slots = slots;
    this.moreCommand = moreCommand;
    this.shown = sections.map(() => 0);
    for (const { entry } of slots) this.count(entry.group, 1);
  }

  take(slot: Slot): void {
    this.change(slot, slot.taken + 1);
  }

  giveBack(slot: Slot): void {
    this.change(slot, slot.taken - 1);
  }

  bytes(): number {
    const line = this.leftOutLine();
    return this.bodyBytes + (line === "" ? 0 : byteLength(line) + 2);
  }

  print(): Fitted {
    const parts = this.sections.map(({ heading }, section) => {
      const texts = this.slots
        .filter((slot) => slot.section === section && slot.taken > 0)
        .map((slot) => slot.entry.forms[slot.taken - 1]?.text ?? "");
      return texts.length === 0 ? "" : [...(heading === "" ? [] : [heading]), ...texts].join("\n");
    });
    const text = `${[...parts, this.leftOutLine()].filter((part) => part !== "").join("\n\n")}\n`;
    const records = this.slots.flatMap(({ taken, entry }) =>
      taken > 0 && entry.record !== undefined ? [entry.record] : [],
    );
    return { text, tokens: tokensOf(text), included: [...new Set(records)], dropped: this.dropped() };
  }

  private change(slot: Slot, taken: number): void {
    const { entry, section } = slot;
    const before = slot.taken;
    const bytesOf = (count: number) => byteLength(entry.forms[count - 1]?.text ?? "");
    this.bodyBytes += bytesOf(taken) - bytesOf(before);
    this.shortened += Number(isShortened(entry, taken)) - Number(isShortened(entry, before));
    if (before === 0) this.place(section, 1, entry.group);
    if (taken === 0) this.place(section, -1, entry.group);
    slot.taken = taken;
  }

  private place(section: number, by: 1 | -1, group: Group): void {
    const others = (this.shown[section] ?? 0) - (by === 1 ? 0 : 1);
    this.shown[section] = others + (by === 1 ? 1 : 0);
    this.count(group, -by);
    if (others > 0) {
      this.bodyBytes += by;
      return;
    }
    const heading = this.sections[section]?.heading ?? "";
    const sectionsBefore = by === 1 ? this.sectionsShown : this.sectionsShown - 1;
    this.bodyBytes += by * ((heading === "" ? 0 : byteLength(heading) + 1) + (sectionsBefore > 0 ? 2 : 0));
    this.sectionsShown += by;
  }

  private count(group: Group, by: number): void {
    this.absent.set(group, (this.absent.get(group) ?? 0) + by);
  }

  private dropped(): string[] {
    const names = [...this.absent]
      .filter(([, count]) => count > 0)
      .map(([{ one, many }, count]) => (many === undefined ? one : plural(count, one, many)));
    return this.shortened > 0 ? [...names, "parts of long texts"] : names;
  }

  private leftOutLine(): string {
    const names = this.dropped();
    if (names.length === 0) return "";
    return `Left out for the budget: ${listed(names)}. \`${this.moreCommand}\` shows more.`;
  }
}

const isShortened = (entry: Entry, taken: number) => taken > 0 && taken < entry.forms.length;

const LONGEST_LIST = 80;

/** Lists names in few bytes, because this line has to fit even into the smallest packet. */
function listed(names: readonly string[]): string {
  let list = "";
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? name : `${list}, ${name}`;
    if (byteLength(longer) > LONGEST_LIST) return `${list} and more`;
    list = longer;
  }
  return list;
}
