import { madeNow } from "../../judge/change.ts";
import type { Seal } from "../../judge/gates/gate.ts";
import { receiptFile } from "../../model/paths.ts";
import { editRecord, printRecord } from "../../model/record.ts";
import { type Receipt, receipt } from "../../model/records/run.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

/** Says that the close stage was passed, and by what exactly. */
export function keepReceipt(reader: Reader, id: string, seal: Seal, at: Situation): Plan<undefined> {
  const stored = reader.receipt(id);
  if (stored?.value.digest === seal.digest) return { data: undefined };
  const rev = (stored?.value.rev ?? 0) + 1;
  const fields = { ...seal, ...madeNow(at), rev };
  const about = `ready: ${seal.repos.map((one) => `${one.name} ${one.head.slice(0, 12)}`).join(", ")}`;
  const common = { record: `${id}/receipt`, rev, path: receiptFile(id), about };
  const fresh: Receipt = { id: `${id}/receipt`, stage: "close", ...fields };
  const effect: Effect = stored
    ? { do: "replace", before: stored.text, text: editRecord(receipt, stored, fields), ...common }
    : { do: "create", text: printRecord(receipt, fresh), ...common };
  return { data: undefined, effects: [effect] };
}
