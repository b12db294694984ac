import { digestOf, sha256 } from "../../files/digest.ts";
import { Failure } from "../../model/failure.ts";
import type { PartRecord } from "./ledger.ts";
import type { Look } from "./look.ts";
import { forcePart, insertPart, lookAtPart, markPart, recordOf, replacePart, type Written } from "./parts.ts";
import { blocked, type Choices, type Step } from "./steps.ts";
import type { WantedPart } from "./wanted.ts";

/** A block or entries in a file that belongs to the user. Whatever the editors refuse becomes a refusal of the plan. */
export function planPart(
  wanted: WantedPart,
  record: PartRecord | undefined,
  look: Look,
  choices: Choices,
): Step {
  const { path } = wanted;
  if (look.blocked !== undefined) return blocked(look);
  if (look.bytes !== undefined && look.text === undefined)
    return { do: "refuse", path, why: "it is not UTF-8 text", how: "Convert it, or move it away." };
  try {
    if (record?.mode === "entry" && wanted.mode === "block" && look.text)
      return mark(wanted, record, look, look.text);
    return decide(wanted, record?.mode === wanted.mode ? record : undefined, look, choices);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "internal") throw error;
    return { do: "refuse", path, why: error.message, how: error.hint ?? "" };
  }
}

/** What 0.1.0 wrote into a TOML file has no marks. */
function mark(wanted: WantedPart, record: PartRecord, look: Look, text: string): Step {
  const done = markPart(wanted, record, text);
  if (done) return written(look, done);
  const { path } = wanted;
  return {
    do: "refuse",
    path,
    why: "you edited pawl's part of it, and there is a newer one",
    how: "Remove that part by hand, then run the same command again.",
  };
}

function decide(wanted: WantedPart, record: PartRecord | undefined, look: Look, choices: Choices): Step {
  const { path } = wanted;
  const { text } = look;
  if (
    !record &&
    wanted.mode === "block" &&
    wanted.unlessLine !== undefined &&
    hasLine(text, wanted.unlessLine)
  )
    return { do: "leave", path, why: `it already says ${wanted.unlessLine}` };
  // A power cut may leave a file that was made for our part empty.
  if (text === "" && record?.inserted.created) return written(look, insertPart(wanted, undefined));
  const found = lookAtPart(wanted, text);
  if (text === undefined || found === "absent") return written(look, insertPart(wanted, text));
  // Entries that the user had in the same words before us stay the user's.
  const nothingOurs = recordOf(wanted.mode === "entry" ? { ...wanted, entries: [] } : wanted);
  if (found === "same") return { do: "keep", path, record: record ? renewed(wanted, record) : nothingOurs };
  if (!record && found === "partly") return written(look, insertPart(wanted, text));
  if (record && (found === "partly" || lookAtPart(record, text) === "same"))
    return written(look, replacePart(wanted, record, text));
  return resolveEdits(wanted, record, look, text, choices);
}

/** What is there is neither what is wanted nor what we wrote. */
function resolveEdits(
  wanted: WantedPart,
  record: PartRecord | undefined,
  look: Look,
  text: string,
  choices: Choices,
): Step {
  const { path } = wanted;
  const isNews = record?.sha256 !== recordOf(wanted).sha256;
  if (record && !isNews && !choices.force) return { do: "keep", path, why: "you edited it", record };
  if (record && choices.lenient && !choices.force)
    return { do: "keep", path, why: "you edited it; the newer one was not written", record };
  const forced = forcePart(wanted, record, text);
  if (choices.force && look.bytes) {
    const replaced = { original: digestOf(look.bytes), whole: sha256(forced.text) };
    const step = written(look, { ...forced, record: { ...forced.record, replaced } });
    const changes = step.changes?.map((one) => ({ ...one, keepAs: replaced.original }));
    return { ...step, why: "a copy is kept", ...(changes ? { changes } : {}) };
  }
  return {
    do: "refuse",
    path,
    texts: { before: text, after: forced.text },
    why: record
      ? "you edited pawl's part of it, and there is a newer one"
      : "it has something else in pawl's place",
    how: "Change that part by hand, or replace it and keep a copy with --force.",
  };
}

function written(look: Look, { text, record }: Written): Step {
  const { path, real, bytes } = look;
  const change = { path: real, before: bytes, after: Buffer.from(text, "utf8") };
  if (bytes === undefined) return { do: "create", path, changes: [change], folders: look.missing, record };
  return text === look.text
    ? { do: "keep", path, record }
    : { do: "update", path, changes: [change], record };
}

/** The same words may come from a newer template. */
function renewed(wanted: WantedPart, record: PartRecord): PartRecord {
  return { ...record, template: sha256(wanted.template) };
}

const hasLine = (text: string | undefined, line: string) =>
  text?.split(/\r?\n/).some((one) => one.trim() === line) === true;
