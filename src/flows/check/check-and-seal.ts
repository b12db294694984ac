import type { GateResult, Stage } from "../../judge/gates/gate.ts";
import type { Hands } from "../../ports/hands.ts";
import { checkTask } from "./check-task.ts";
import { keepReceipt } from "./keep-receipt.ts";

/** Judges a stage; passing the close stage writes the receipt that an approval rests on. */
export async function checkAndSeal(hands: Hands, id: string, stage: Stage): Promise<GateResult> {
  let result = await checkTask(hands, id, stage);
  const known = result.seal && (await hands.look((reader) => reader.receipt(id)?.value.digest));
  // A receipt is given for what git and the log say now, never for what was remembered.
  if (result.seal && result.seal.digest !== known)
    result = await checkTask(hands, id, stage, { fresh: true });
  const { seal } = result;
  if (seal && seal.digest !== known)
    await hands.record((reader, at) => keepReceipt(reader, id, seal, at), {
      milestone: `${id}: ready to be approved`,
    });
  return result;
}
