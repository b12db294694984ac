import { type Evidence, type Finding, type Handoff, SEVERITIES } from "../model/records/parts.ts";
import type { Task } from "../model/records/task.ts";
import { firstLine } from "../model/text.ts";
import type { Next } from "../ports/operation.ts";

/** Smaller is more severe. */
export const severityRank = (one: Pick<Finding, "severity">) => SEVERITIES.indexOf(one.severity);

/**
 * The most urgent step of a task under way: its blocker, the worst finding, the open slice, the close gate,
 * what was planned next.
 */
export function nextStep(
  task: Task,
  open: readonly Finding[],
  last: Handoff | undefined,
  evidence: readonly Pick<Evidence, "kind" | "slice">[],
): Next | undefined {
  if (task.status === "merged")
    return {
      command: `pawl finish ${task.id} --remove --reason "merged"`,
      reason: "its worktrees are no longer needed",
    };
  if (task.status === "done" || task.status === "dropped") return undefined;
  const [worst] = [...open].sort((a, b) => severityRank(a) - severityRank(b));
  if (task.status === "open")
    return { command: `pawl start ${task.id}`, reason: "creates its branch and worktree" };
  if (task.status === "blocked")
    return {
      command: `pawl task update ${task.id} --status active`,
      reason: `once this is gone: ${task.blocker}`,
    };
  if (worst)
    return {
      command: `pawl finding resolve ${worst.id}`,
      reason: `after fixing and committing: ${firstLine(worst.text, 80)}`,
    };
  const slice = task.slices.find((one) => one.status === "open");
  const isRed = evidence.some((one) => one.kind === "red" && one.slice === slice?.id);
  if (slice)
    return {
      command: isRed
        ? `pawl verify --slice ${slice.id} -- <test command>`
        : `pawl verify --slice ${slice.id} --red -- <test command>`,
      reason: `${slice.id} is open: ${firstLine(slice.title, 80)}`,
    };
  if (last && task.branch !== undefined)
    return {
      command: `pawl check ${task.id} --stage close`,
      reason: "what is missing before it can be approved",
    };
  if (task.next[0]) return { command: `pawl context ${task.id}`, reason: firstLine(task.next[0], 100) };
  if (last) return { command: `pawl context ${task.id}`, reason: firstLine(last.next, 100) };
  return { command: `pawl context ${task.id}`, reason: "read what is known before you begin" };
}
