import { Failure } from "./failure.ts";
import { type FieldTable, type FieldValues, printFields, readFields } from "./fields.ts";
import {
  editHeader,
  FrontMatterError,
  type HeaderValue,
  type KeyPlace,
  locateKeys,
  printHeader,
  readHeaderFast,
  type SplitText,
  splitFrontMatter,
} from "./markdown/front-matter.ts";
import { editSections, findSections, printSection } from "./markdown/sections.ts";
import { idOf } from "./paths.ts";
import { HOW_TO_GET, VERSION } from "./version.ts";

/** One kind of record: its header fields, and its body sections under their headings, in the order they print. */
export interface Kind<F extends FieldTable = FieldTable, S extends string = string> {
  name: string;
  plural: string;
  /** The letter of its ids; a folder of its own name under the task. */
  letter: string;
  /** Its file lies in a folder of its own, `runs/R1/run.md`, with room for what belongs to it. */
  ownFolder?: boolean;
  fields: F;
  sections: Readonly<Record<S, string>>;
}

export type ValueOf<K> = K extends Kind<infer F, infer S> ? FieldValues<F> & { [name in S]: string } : never;

export type ChangesOf<K> = { [N in keyof ValueOf<K>]?: ValueOf<K>[N] | undefined };

/** A record as it stands on disk: what it says, and the exact text it was read from. */
export interface Stored<K> {
  path: string;
  text: string;
  header: ReadonlyMap<string, HeaderValue>;
  value: ValueOf<K>;
  /** How messages call the file, and how its header was read: an edit has to read the result the same way. */
  shown: string;
  fullYaml: FullYaml | undefined;
}

/** What only a full YAML parser can do with a header. */
export interface FullYaml {
  read(header: string): Map<string, HeaderValue>;
  locateKeys(header: string): KeyPlace[];
}

/** A hand-styled header needs the full parser, which only the runtime may load; it loads it and asks again. */
export class NeedsFullYaml extends Error {
  override readonly name = "NeedsFullYaml";
}

export function kind<F extends FieldTable, S extends string>(spec: Kind<F, S>): Kind<F, S> {
  return spec;
}

export function parseRecord<K extends Kind>(
  spec: K,
  path: string,
  text: string,
  fullYaml: FullYaml | undefined,
  /** How messages call the file. */
  shown = path,
): Stored<K> {
  const { header: headerText, body } = split(spec, shown, text);
  const header = readHeader(spec, shown, headerText, fullYaml);
  expectKnownFormat(spec, shown, header);
  const read = readFields(spec.fields, header);
  if (!read.ok) {
    const unknown = read.example === "";
    throw broken(
      spec,
      shown,
      unknown ? `the key "${read.key}" is unknown` : `"${read.key}" needs ${read.expected}`,
      unknown
        ? `Expected ${read.expected}. Remove or rename "${read.key}".`
        : `Write it like this: ${read.example}`,
      { key: read.key },
    );
  }
  const id = idOf(path);
  if (id !== undefined && (read.value as { id?: unknown }).id !== id)
    throw broken(
      spec,
      shown,
      `its id is ${String((read.value as { id?: unknown }).id)}, but the file belongs to ${id}`,
      "A record's id follows from its place; copies and renamed files are not records. Move the file away or correct the id.",
      { key: "id" },
    );
  const found = findSections(body);
  const value: Record<string, unknown> = { ...read.value };
  for (const [name, heading] of Object.entries(spec.sections))
    value[name] = found.find((section) => section.heading === heading)?.text ?? "";
  return { path, text, header, value: value as ValueOf<K>, shown, fullYaml };
}

/**
 * The format of records that this version writes and reads. Nothing marks the first one. A later version that gives
 * records a key or a value which this one does not know raises it, and writes `format:` into those records.
 */
const FORMAT = 1;

/** Every older pawl can say so much: it is not the record that is wrong, and nobody should repair it. */
function expectKnownFormat(spec: Kind, shown: string, header: ReadonlyMap<string, HeaderValue>): void {
  const format = Number(header.get("format"));
  if (!(format > FORMAT)) return;
  throw new Failure(
    "unreadable",
    "newer_record",
    `${shown} was written by a newer pawl: it has format ${format}, and pawl ${VERSION} reads format ${FORMAT}.`,
    {
      hint: `The record is fine; leave it as it is. In this clone: git pull, then ${HOW_TO_GET}\nCI and servers run the package that the protected branch's .pawl/lock.json names: push the upgrade there first, then run the check again.`,
      details: { file: shown, kind: spec.name, format },
    },
  );
}

export function printRecord<K extends Kind>(spec: K, value: ValueOf<K>): string {
  const header = printFields(spec.fields, value as Partial<FieldValues<FieldTable>>).filter(
    (entry): entry is [string, Exclude<(typeof entry)[1], undefined>] => entry[1] !== undefined,
  );
  const sections = Object.entries(spec.sections)
    .map(([name, heading]) => ({ heading, text: (value as Record<string, string>)[name] ?? "" }))
    .filter((section) => section.text !== "");
  const body = sections.map((section) => printSection(section.heading, section.text, "\n")).join("\n");
  return `---\n${printHeader(header)}---\n${body === "" ? "" : `\n${body}`}`;
}

/**
 * The new text of a record in which only what changed differs: everything the user wrote by hand survives. The result
 * is read again before anybody writes it; if it does not say what it should, nothing is changed.
 */
export function editRecord<K extends Kind>(spec: K, stored: Stored<K>, changes: ChangesOf<K>): string {
  const parts = split(spec, stored.shown, stored.text);
  const sections = new Map<string, string>();
  for (const [name, heading] of Object.entries(spec.sections)) {
    const text = (changes as Record<string, unknown>)[name];
    if (typeof text === "string") sections.set(heading, text);
  }
  const header = editedHeader(spec, stored, changes, parts);
  const text = parts.bom + parts.open + header + parts.close + editSections(parts.body, sections, parts.eol);
  checkEdit(spec, stored, changes, text);
  return text;
}

function editedHeader<K extends Kind>(
  spec: K,
  stored: Stored<K>,
  changes: ChangesOf<K>,
  { header, eol }: SplitText,
): string {
  const printed = printFields(spec.fields, changes as Partial<FieldValues<FieldTable>>);
  let edited: string;
  try {
    const places = locateKeys(header) ?? stored.fullYaml?.locateKeys(header) ?? [];
    edited = editHeader(header, printed, stored.header, places, eol);
  } catch (error) {
    if (!(error instanceof FrontMatterError)) throw error;
    throw broken(
      spec,
      stored.shown,
      error.message,
      "Nothing was changed. Rewrite it in the plain form first.",
    );
  }
  // A list in a style of its own is written anew as a whole, and remarks between its items would go with it.
  const list = printed.find(([key, value]) => Array.isArray(value) && Array.isArray(stored.header.get(key)));
  if (list && remarks(edited) < remarks(header))
    throw broken(
      spec,
      stored.shown,
      `a comment inside "${list[0]}" would be lost`,
      "Nothing was changed. Write one item per line, or move the comment.",
      { key: list[0] },
    );
  return edited;
}

const remarks = (header: string) => header.match(/(?:^|[ \t])#/gm)?.length ?? 0;

function checkEdit<K extends Kind>(spec: K, stored: Stored<K>, changes: ChangesOf<K>, text: string): void {
  const expected = { ...stored.value, ...changes } as Record<string, unknown>;
  const found = valueOrNothing(spec, stored, text);
  const wrong = Object.keys(expected).find(
    (key) => JSON.stringify(expected[key]) !== JSON.stringify(found[key]),
  );
  if (wrong === undefined) return;
  throw broken(
    spec,
    stored.shown,
    `"${wrong}" cannot be changed safely, because of how the file was edited by hand`,
    "Nothing was changed. Look for a code fence or a comment that is never closed, or for unusual YAML in the header.",
    { key: wrong },
  );
}

function valueOrNothing<K extends Kind>(spec: K, stored: Stored<K>, text: string): Record<string, unknown> {
  try {
    return parseRecord(spec, stored.path, text, stored.fullYaml, stored.shown).value;
  } catch (error) {
    if (error instanceof Failure) return {};
    throw error;
  }
}

function split(spec: Kind, path: string, text: string) {
  try {
    return splitFrontMatter(text);
  } catch (error) {
    if (!(error instanceof FrontMatterError)) throw error;
    throw broken(
      spec,
      path,
      error.message,
      `The file must begin with a line "---", the header, and a line "---".`,
    );
  }
}

function readHeader(
  spec: Kind,
  path: string,
  header: string,
  fullYaml: FullYaml | undefined,
): ReadonlyMap<string, HeaderValue> {
  const fast = readHeaderFast(header);
  if (fast) return fast;
  if (!fullYaml) throw new NeedsFullYaml(path);
  try {
    return fullYaml.read(header);
  } catch (error) {
    const [said = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    const reason = said.replace(/[\s:.]+$/, "");
    throw broken(spec, path, `its header is not readable YAML: ${reason}`, "Repair the header by hand.");
  }
}

function broken(spec: Kind, path: string, problem: string, hint: string, details = {}): Failure {
  return new Failure("unreadable", "broken_record", `${path}: ${problem}.`, {
    hint,
    details: { file: path, kind: spec.name, ...details },
  });
}

/** A file that could not be understood: reported by whoever meets it, and never in the way of the others. */
export interface Problem {
  file: string;
  message: string;
  hint: string | undefined;
}
