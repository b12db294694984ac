import { sha256 } from "../../files/digest.ts";
import { insertBlock, lookAtBlock, removeBlock, updateBlock } from "../edit/blocks.ts";
import { insertEntries, lookAtEntries, removeEntries, replaceEntries } from "../edit/entries.ts";
import { refuseTakenTables } from "../edit/toml-lines.ts";
import type { Inserted } from "../edit/types.ts";
import { removeUnmarked } from "../edit/unmarked-toml.ts";
import type { PartRecord } from "./ledger.ts";
import type { WantedPart } from "./wanted.ts";

/** How a part of ours is found in a file: all of it, some of it, with other values, or with damaged marks. */
export type Found = "absent" | "same" | "partly" | "different" | "broken";

/** A block or entries, whether they are wanted now or were written before. */
type Part = WantedPart | PartRecord;

const NOTHING: Inserted = { created: false, pieces: [], made: [] };

export function lookAtPart(part: Part, text: string | undefined): Found {
  if (part.mode === "block") return lookAtBlock(text, part);
  const found = new Set(lookAtEntries(part, text, part.entries).map((one) => one.found));
  if (found.has("different")) return "different";
  if (found.size > 1) return "partly";
  return found.has("absent") ? "absent" : "same";
}

export interface Written {
  text: string;
  record: PartRecord;
}

/** Only inserts; what the user has already in the same words stays the user's. */
export function insertPart(wanted: WantedPart, text: string | undefined): Written {
  if (wanted.mode === "block") {
    refuseTakenTables(wanted.path, text ?? "", wanted.tables ?? []);
    const done = insertBlock(text, wanted);
    return { text: done.text, record: recordOf(wanted, done.inserted) };
  }
  const done = insertEntries(wanted, text, wanted.entries);
  return { text: done.text, record: recordOf({ ...wanted, entries: done.entries }, done.inserted) };
}

/** From what was written before to what is wanted now, in the same place. */
export function replacePart(wanted: WantedPart, record: PartRecord, text: string): Written {
  if (wanted.mode === "block") {
    const done = updateBlock(text, wanted, record.inserted);
    return { text: done.text, record: recordOf(wanted, done.inserted) };
  }
  const before = record.mode === "entry" ? record.entries : [];
  const looks = lookAtEntries(wanted, text, before);
  const present = before.filter((_, index) => looks[index]?.found !== "absent");
  const done = replaceEntries(wanted, text, present, wanted.entries, record.inserted);
  return { text: done.text, record: recordOf({ ...wanted, entries: done.entries }, done.inserted) };
}

/** A block in the place of what 0.1.0 wrote without marks; undefined when somebody changed that. */
export function markPart(wanted: WantedPart, record: PartRecord, text: string): Written | undefined {
  const { text: rest, left } = removePart(record, text);
  if (left.length > 0) return undefined;
  const done = insertPart(wanted, rest);
  const inserted = { ...done.record.inserted, created: record.inserted.created };
  const { replaced } = record;
  // What `--force` replaced comes back while the file is as it was left: now that is with the marks.
  const whole = replaced?.whole === sha256(text) ? sha256(done.text) : replaced?.whole;
  return {
    text: done.text,
    record: { ...done.record, inserted, ...(replaced && whole ? { replaced: { ...replaced, whole } } : {}) },
  };
}

/** Whatever is where our part belongs makes way for it; the caller keeps a copy. */
export function forcePart(wanted: WantedPart, record: PartRecord | undefined, text: string): Written {
  const inserted = record?.inserted ?? NOTHING;
  if (wanted.mode === "block") {
    const done = updateBlock(text, wanted, inserted);
    return { text: done.text, record: recordOf(wanted, done.inserted) };
  }
  const looks = lookAtEntries(wanted, text, wanted.entries);
  const there = wanted.entries.flatMap((entry, index) => {
    const look = looks[index];
    return look && look.found !== "absent" && look.value !== undefined
      ? [{ ...entry, value: look.value }]
      : [];
  });
  const done = replaceEntries(wanted, text, there, wanted.entries, inserted);
  return { text: done.text, record: recordOf({ ...wanted, entries: done.entries }, done.inserted) };
}

/** `text` is undefined when the file was made for our part and holds nothing else; `left` is what the user changed. */
export function removePart(
  record: PartRecord,
  text: string,
): { text: string | undefined; exact: boolean; left: string[] } {
  if (record.mode === "entry" && record.format === "toml") {
    const done = removeUnmarked(text, record);
    const left = record.entries.map((one) => one.at.join("."));
    return done ? { ...done, left: [] } : { text, exact: true, left };
  }
  if (record.mode === "entry") {
    const { left, ...done } = removeEntries(record, text, record.entries, record.inserted);
    return { ...done, left: left.map((one) => one.at.join(".")) };
  }
  const found = lookAtBlock(text, record);
  if (found !== "same") return { text, exact: true, left: found === "absent" ? [] : ["pawl's block"] };
  return { ...removeBlock(text, record, record.inserted), left: [] };
}

/** What the ledger says about a part of which nothing had to be written. */
export function recordOf(wanted: WantedPart, inserted: Inserted = NOTHING): PartRecord {
  const { path, template } = wanted;
  const digests = { sha256: digestOfPart(wanted), template: sha256(template) };
  if (wanted.mode === "block") {
    const { mode, comment, body } = wanted;
    return { path, mode, ...digests, comment, body, inserted };
  }
  const { mode, entries } = wanted;
  return { path, mode, ...digests, format: "json", entries, inserted };
}

const digestOfPart = (part: Part) => sha256(part.mode === "block" ? part.body : JSON.stringify(part.entries));
