import { madeNow } from "../../judge/change.ts";
import type { Seal } from "../../judge/gates/gate.ts";
import { Failure } from "../../model/failure.ts";
import { receiptFile } from "../../model/paths.ts";
import { editRecord, printRecord, type Stored } from "../../model/record.ts";
import { isReceiptOf, type Receipt, receipt } from "../../model/records/run.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

/** A damaged one is none: all that it says can be looked at again, and whoever passes the stage gets a new one. */
export function receiptOf(reader: Reader, id: string): Stored<typeof receipt> | undefined {
  try {
    return reader.receipt(id);
  } catch (error) {
    if (error instanceof Failure && error.code === "broken_record") return undefined;
    throw error;
  }
}

/** Says that the close stage was passed, and by what exactly. */
export function keepReceipt(reader: Reader, id: string, seal: Seal, at: Situation): Plan<undefined> {
  const stored = receiptOf(reader, id);
  if (isReceiptOf(stored?.value, seal)) return { data: undefined };
  const rev = (stored?.value.rev ?? 0) + 1;
  const fields = { ...seal, ...madeNow(at), rev };
  const about = `ready: ${seal.repos.map((one) => `${one.name} ${one.head.slice(0, 12)}`).join(", ")}`;
  const common = { record: `${id}/receipt`, rev, path: receiptFile(id), about };
  const fresh: Receipt = { id: `${id}/receipt`, stage: "close", ...fields };
  const text = stored ? editRecord(receipt, stored, fields) : printRecord(receipt, fresh);
  const before = stored?.text ?? reader.fileText(receiptFile(id));
  const effect: Effect =
    before === undefined ? { do: "create", text, ...common } : { do: "replace", before, text, ...common };
  return { data: undefined, effects: [effect] };
}
