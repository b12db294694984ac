import { parseIdentity, seeProcesses } from "../../files/process-identity.ts";
import { Failure } from "../../model/failure.ts";
import type { Purpose } from "../../ports/merges.ts";
import { journalsIn } from "./journal.ts";

/** What the merges were for whose process is gone; nothing is settled by looking. */
export function cutOffMerges(folder: string): Purpose[] {
  return journalsIn(folder).flatMap((file) => {
    try {
      const { owner: said, purpose } = file.read();
      const owner = parseIdentity(said);
      return owner && seeProcesses().livenessOf(owner) === "alive" ? [] : [purpose];
    } catch (error) {
      // Whoever has to settle it says that it cannot be read; who only looks need not fail for that.
      if (error instanceof Failure) return [];
      throw error;
    }
  });
}
