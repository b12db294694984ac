import type { MergeAhead } from "../ports/guard.ts";
import type { Purpose } from "../ports/merges.ts";
import type { Next } from "../ports/operation.ts";

/** The command that continues after the remote moved on without a merge. */
export const redoCommand = (task: string) => `pawl approve ${task} --redo --push`;

/** Merges that only wait for a push; the guard reports those that were overtaken. */
export const tellAhead = (ahead: readonly MergeAhead[]): string[] =>
  ahead
    .filter((one) => !one.overtaken)
    .map(
      ({ branch, remote, task }) =>
        `${branch} has ${task === undefined ? "an approved merge" : `the approved merge of ${task}`}, and ${remote} does not. To publish it: git push ${remote} ${branch}`,
    );

export function nextForOvertaken(ahead: readonly MergeAhead[]): Next | undefined {
  const found = ahead.find((one) => one.overtaken && one.task !== undefined);
  return found?.task === undefined
    ? undefined
    : {
        command: redoCommand(found.task),
        reason: `for a human: ${found.remote} moved on without this merge`,
      };
}

const whatIsCutOff = (purpose: Purpose) =>
  purpose.kind === "approvers"
    ? `A change of the approvers (${purpose.unlock})`
    : `${purpose.kind === "refresh" ? "A refresh" : "The merge"} of ${purpose.task}`;

/** Until a command that writes has settled it, files and index may look as if somebody had changed them. */
export const tellCutOff = (purposes: readonly Purpose[]): string[] =>
  purposes.map(
    (one) =>
      `${whatIsCutOff(one)} was interrupted, so files may look half changed. The next command that writes completes or undoes it.`,
  );

export function nextForCutOff(purposes: readonly Purpose[]): Next | undefined {
  for (const one of purposes)
    if (one.kind !== "approvers")
      return {
        command: `pawl ${one.kind === "refresh" ? "refresh" : "approve"} ${one.task}`,
        reason: "completes or undoes what was interrupted",
      };
  return undefined;
}
