/** What is known about the work of a session when it is about to stop. */
export interface Work {
  task: string;
  /** The worktree that it is done in. */
  root: string;
  status: string;
  /** The last change that this session may have made, in milliseconds. */
  changedAt: number | undefined;
  /** The newest handoff of the task. */
  handoffAt: number | undefined;
}

const UNDER_WAY = ["active", "blocked", "review"];

/** Work that nobody could go on with: changed in this session, and no handoff tells about it. */
export function needsHandoff({ status, changedAt, handoffAt }: Work): boolean {
  return UNDER_WAY.includes(status) && changedAt !== undefined && (handoffAt ?? 0) < changedAt;
}

const HOW = (task: string) =>
  `\`pawl handoff ${task} --what "…" --changed FILE --validation "CHECK: RESULT" --next "…"\` (or the MCP tool handoff)`;

export const beforeStopping = ({ task }: Work) =>
  `${task} was changed in this session and has no handoff since. Leave one so that anybody can continue, even if the work is not done: ${HOW(task)}. Then stop.`;

/** For whoever goes on with nothing but the summary. */
export function beforeCompaction(work: Work): string {
  const { task, root } = work;
  const where = `Keep in the summary: this session works on ${task}, in the worktree ${root}.`;
  if (!needsHandoff(work)) return where;
  return `${where} It was changed and has no handoff since. Leave one before stopping: ${HOW(task)}.`;
}
