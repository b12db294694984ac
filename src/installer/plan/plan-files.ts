import { digestOf, sha256 } from "../../files/digest.ts";
import type { Ledger, LedgerFile, OwnRecord } from "./ledger.ts";
import type { Look } from "./look.ts";
import { planPart } from "./plan-part.ts";
import { planRemoval } from "./plan-removal.ts";
import { blocked, type Choices, digestOfLook, type Step } from "./steps.ts";
import type { Wanted, WantedFile } from "./wanted.ts";

export interface PlanFacts extends Choices {
  wanted: readonly Wanted[];
  ledger: Ledger | undefined;
  look(path: string): Look;
  /** A file of the user's that was replaced and kept, by its digest. */
  kept(digest: string): Uint8Array | undefined;
}

/** Pure but for the looks it is given: what is wanted, what we wrote before, and what is there make the steps. */
export function planFiles(facts: PlanFacts): Step[] {
  const known = new Map((facts.ledger?.files ?? []).map((one) => [one.path, one]));
  const taken = new Map<string, string>();
  const steps: Step[] = [];
  for (const one of [...facts.wanted].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const look = facts.look(one.path);
    const record = known.get(one.path);
    known.delete(one.path);
    const other = look.blocked === undefined ? taken.get(look.real) : undefined;
    if (other !== undefined) {
      steps.push({ do: "leave", path: one.path, why: `it is the same file as ${other}` });
      continue;
    }
    taken.set(look.real, one.path);
    steps.push(
      one.mode === "own"
        ? planOwn(one, asOwn(record), look, facts)
        : planPart(one, asPart(record), look, facts),
    );
  }
  for (const record of known.values()) {
    const look = facts.look(record.path);
    if (look.blocked === undefined && taken.has(look.real)) continue;
    steps.push(planRemoval(record, look, facts.kept));
  }
  return steps;
}

const asOwn = (record: LedgerFile | undefined) => (record?.mode === "own" ? record : undefined);
const asPart = (record: LedgerFile | undefined) => (record?.mode === "own" ? undefined : record);

const HOW_TO_REPLACE = "Move it away, or replace it and keep a copy with --force.";

function planOwn(wanted: WantedFile, record: OwnRecord | undefined, look: Look, choices: Choices): Step {
  const { path, text } = wanted;
  const after = Buffer.from(wanted.bytes ?? text);
  const digest = digestOf(after);
  const ours = (created: boolean, replaced?: OwnRecord["replaced"]): OwnRecord => ({
    mode: "own",
    path,
    sha256: digest,
    template: sha256(wanted.template),
    created,
    ...(replaced ? { replaced } : {}),
    ...(wanted.seed ? { seed: true } : {}),
  });
  if (look.blocked !== undefined) return blocked(look);
  const change = { path: look.real, before: look.bytes, after };
  if (look.bytes === undefined)
    return {
      do: "create",
      path,
      changes: [change],
      folders: look.missing,
      record: ours(true, record?.replaced),
    };
  // A power cut may leave a file of ours empty; nobody's words are in it.
  if (record && look.bytes.length === 0)
    return { do: "update", path, changes: [change], record: ours(record.created, record.replaced) };
  const there = digestOfLook(look);
  if (there === digest) return { do: "keep", path, record: ours(record?.created ?? false, record?.replaced) };
  if (wanted.seed) return { do: "keep", path, why: "it is yours to edit", ...(record ? { record } : {}) };
  if (record && there === record.sha256)
    return { do: "update", path, changes: [change], record: ours(record.created, record.replaced) };
  if (choices.force) {
    const original = digestOf(look.bytes);
    const replaced = { original, whole: digest };
    const changes = [{ ...change, keepAs: original }];
    return { do: "update", path, why: "a copy is kept", changes, record: ours(false, replaced) };
  }
  if (record && record.sha256 === digest) return { do: "keep", path, why: "you edited it", record };
  if (record && choices.lenient)
    return { do: "keep", path, why: "you edited it; the newer one was not written", record };
  return {
    do: "refuse",
    path,
    how: HOW_TO_REPLACE,
    why: record ? "you edited it, and there is a newer one" : "it already exists and is not pawl's",
    ...(look.text === undefined || wanted.bytes ? {} : { texts: { before: look.text, after: text } }),
  };
}
