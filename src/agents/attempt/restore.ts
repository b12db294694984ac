import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { printIdentity, seeProcesses } from "../../files/process-identity.ts";
import { type AttemptSpec, completeAttempt, files, makeAttempt, markOpen, readSpec } from "./folder.ts";

const LOST =
  "pawl: the folder of this run was removed while it ran; what the agent said before and after that is lost.\n";

/**
 * Makes the folder of an attempt anew if somebody removed it under its supervisor, who calls this: else nobody could stop
 * the agent, learn how it ended, or even know that it runs, and another would be started beside it. Where the whole
 * project is gone there is nothing to restore.
 */
export function restoreAttempt(path: string, spec: AttemptSpec, guard: number): void {
  if (readSpec(path)) return;
  const runs = dirname(dirname(path));
  if (!existsSync(dirname(runs))) return;
  const contents = {
    [files.owner]: printIdentity(seeProcesses().self),
    [files.beat]: "",
    [files.out]: LOST,
    ...(guard > 0 ? { [files.pid]: String(guard) } : {}),
    [files.spec]: JSON.stringify(spec),
  };
  // Whoever removed it may have stopped over a file that was written at that moment: then the folder is still there.
  if (makeAttempt(runs, spec.run, spec.number, contents) === undefined) completeAttempt(path, contents);
  markOpen(runs, spec.run);
}
