import { digestOf } from "../../files/digest.ts";
import { Failure } from "../../model/failure.ts";
import { isOurPlace } from "../adapters.ts";
import type { Change } from "../journal.ts";
import type { LedgerFile, OwnRecord, PartRecord } from "./ledger.ts";
import type { Look } from "./look.ts";
import { removePart } from "./parts.ts";
import { digestOfLook, type Step } from "./steps.ts";

type Kept = (digest: string) => Uint8Array | undefined;

/** Takes out what we wrote, if it still is what we wrote; what the user made of it is the user's. */
export function planRemoval(record: LedgerFile, look: Look, kept: Kept): Step {
  const { path } = record;
  if (!isOurPlace(record)) return { do: "leave", path, why: "pawl does not write this file" };
  if (look.blocked !== undefined) return { do: "leave", path, why: `it ${look.blocked}` };
  const step = record.mode === "own" ? removeOwn(record, look) : removeFromFile(record, look);
  return record.replaced ? bringBack(step, record.replaced, look, kept) : step;
}

function removeOwn(record: OwnRecord, look: Look): Step {
  const { path } = record;
  if (look.bytes === undefined) return { do: "keep", path, why: "it was gone already" };
  if (!record.created && !record.replaced) return { do: "leave", path, why: "it was there before pawl" };
  if (digestOfLook(look) !== record.sha256)
    return { do: "leave", path, why: record.seed ? "it is yours" : "you edited it; it is yours now" };
  return { do: "remove", path, changes: [{ path: look.real, before: look.bytes, after: undefined }] };
}

function removeFromFile(record: PartRecord, look: Look): Step {
  const { path } = record;
  if (look.bytes === undefined) return { do: "keep", path, why: "it was gone already" };
  if (look.text === undefined) return { do: "leave", path, why: "it is no longer UTF-8 text" };
  try {
    const { text, exact, left } = removePart(record, look.text);
    const stays = left.length > 0 ? `you changed ${left.join(", ")}; that is yours now` : undefined;
    if (text === look.text)
      return stays ? { do: "leave", path, why: stays } : { do: "keep", path, why: "it was gone already" };
    const after = text === undefined ? undefined : Buffer.from(text, "utf8");
    const why = stays ?? (exact ? undefined : "it was changed around pawl's part");
    const changes = [{ path: look.real, before: look.bytes, after }];
    return { do: "remove", path, changes, ...(why ? { why } : {}) };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "internal") throw error;
    return { do: "leave", path, why: error.message };
  }
}

/** `--force` put ours in the place of a file of the user's. Where that cannot come back as it was, it comes beside. */
function bringBack(step: Step, replaced: NonNullable<LedgerFile["replaced"]>, look: Look, kept: Kept): Step {
  const original = kept(replaced.original);
  const { path } = step;
  if (!original)
    return { ...step, why: "the file it replaced is not in this clone; git's history may have it" };
  const found = digestOfLook(look);
  const dropKept = replaced.original;
  if (look.bytes === undefined || found === replaced.whole) {
    const change: Change = { path: look.real, before: look.bytes, after: original, dropKept };
    return {
      do: "remove",
      path,
      why: "what was there before is back",
      changes: [change],
      folders: look.missing,
    };
  }
  if (look.bytes && digestOf(look.bytes) === replaced.original) return step;
  const beside: Change = { path: `${look.real}.pawl-orig`, before: undefined, after: original, dropKept };
  const why = `what was there before is ${path}.pawl-orig now`;
  return { ...step, why, changes: [...(step.changes ?? []), beside] };
}
