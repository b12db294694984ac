import type { GateResult, Stage } from "../../judge/gates/gate.ts";
import { isReceiptOf } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import { checkTask } from "./check-task.ts";
import { keepReceipt, receiptOf } from "./keep-receipt.ts";

/** Judges a stage; passing the close stage writes the receipt that an approval rests on. */
export async function checkAndSeal(hands: Hands, id: string, stage: Stage): Promise<GateResult> {
  let result = await checkTask(hands, id, stage);
  const stored = result.seal && (await hands.look((reader) => receiptOf(reader, id)?.value));
  // A receipt is given for what git and the log say now, never for what was remembered.
  if (result.seal && !isReceiptOf(stored, result.seal))
    result = await checkTask(hands, id, stage, { fresh: true });
  const { seal } = result;
  if (seal && !isReceiptOf(stored, seal))
    await hands.record((reader, at) => keepReceipt(reader, id, seal, at), {
      milestone: `${id}: ready to be approved`,
    });
  return result;
}
