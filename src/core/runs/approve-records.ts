import { addPart, change, madeNow } from "../change.ts";
import { Failure } from "../failure.ts";
import { nextNumber } from "../ids.ts";
import type { Effect, Plan, Situation } from "../operation.ts";
import type { Reader } from "../ports.ts";
import { finding } from "../records/parts.ts";
import { type Approval, approval } from "../records/run.ts";
import { type Task, task as taskKind } from "../records/task.ts";

export type ApprovalRepo = Approval["repos"][number];

export interface Prepared {
  task: string;
  /** The number that the merge commits already name. */
  part: string;
  receipt: string;
  repos: ApprovalRepo[];
  summary: string;
  redoOf: string | undefined;
}

export const nextApproval = (reader: Reader, task: string) =>
  `${approval.letter}${nextNumber(reader.partNames(approval, task), approval.letter)}`;

/** Said before anything moves: a human's yes, and to what exactly. */
export function prepareApproval(reader: Reader, at: Situation, prepared: Prepared): Plan<Approval> {
  const { task, part, receipt, repos, summary, redoOf } = prepared;
  if (nextApproval(reader, task) !== part)
    throw new Failure(
      "conflict",
      "approval_taken",
      `${task}/${part} was given to another approval meanwhile.`,
      {
        hint: `Nothing was changed. Run it again: pawl approve ${task}`,
      },
    );
  const made = addPart(
    approval,
    task,
    reader.partNames(approval, task),
    (id): Approval => ({
      ...{ id, status: "prepared", how: `typed ${task} on the terminal`, receipt, repos, redo_of: redoOf },
      ...{ ...madeNow(at), summary, trouble: "" },
    }),
    `approved: ${repos.map((one) => `${one.name} ${one.new.slice(0, 12)}`).join(", ")}`,
  );
  return { data: made.value, effects: [made.effect] };
}

export interface Landed {
  approval: Approval;
  task: Task;
}

/** One change of the store says that it is done: the approval, the findings that it brought home, the task. */
export function landApproval(reader: Reader, at: Situation, task: string, part: string): Plan<Landed> {
  const stored = reader.part(approval, task, part);
  const storedTask = reader.task(task);
  if (stored.value.status === "merged") return { data: { approval: stored.value, task: storedTask.value } };
  const done = change(approval, stored, { status: "merged" }, at, `${stored.value.status} → merged`);
  const effects: Effect[] = [done.effect];
  for (const one of reader.parts(finding, task).records) {
    const { status, repo } = one.value;
    const again = stored.value.redo_of !== undefined && status === "integrated";
    if (status !== "fixed" && !again) continue;
    const home = stored.value.repos.find((each) => each.name === repo) ?? stored.value.repos[0];
    const integrated = { status: "integrated" as const, integrated_commit: home?.new };
    effects.push(change(finding, one, integrated, at, `${status} → integrated`).effect);
  }
  const { status } = storedTask.value;
  if (status === "merged" || status === "done")
    return { data: { approval: done.value, task: storedTask.value }, effects };
  const merged = change(taskKind, storedTask, { status: "merged" }, at, `${status} → merged`);
  effects.push(merged.effect);
  return { data: { approval: done.value, task: merged.value }, effects };
}

/** Nothing moved, and here is why. */
export function withdrawApproval(
  reader: Reader,
  at: Situation,
  what: { task: string; part: string; trouble: string },
): Plan<undefined> {
  if (!reader.partNames(approval, what.task).includes(`${what.part}.md`)) return { data: undefined };
  const stored = reader.part(approval, what.task, what.part);
  if (stored.value.status !== "prepared") return { data: undefined };
  const changes = { status: "rolled_back" as const, trouble: what.trouble };
  return {
    data: undefined,
    effects: [change(approval, stored, changes, at, "prepared → rolled_back").effect],
  };
}
