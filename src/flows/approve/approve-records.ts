import { addPart, change, madeNow } from "../../judge/change.ts";
import { Failure } from "../../model/failure.ts";
import { nextNumber } from "../../model/ids.ts";
import { MERGED } from "../../model/lifecycle.ts";
import { finding } from "../../model/records/parts.ts";
import { type Approval, approval } from "../../model/records/run.ts";
import { howOf, type RecordSignature } from "../../model/records/signed.ts";
import { type Task, task as taskKind } from "../../model/records/task.ts";
import type { Effect, Plan, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";

export type ApprovalRepo = Approval["repos"][number];

export interface Prepared {
  task: string;
  /** The number that the merge commits already name. */
  part: string;
  receipt: string;
  repos: ApprovalRepo[];
  summary: string;
  redoOf: string | undefined;
  /** What it is called in what was signed, and what was; nothing where the terminal is enough. */
  uid: string | undefined;
  signatures: RecordSignature[];
  fromPage: boolean;
}

export const nextApproval = (reader: Reader, task: string) =>
  `${approval.letter}${nextNumber(reader.partNames(approval, task), approval.letter)}`;

/** Said before anything moves: a human's yes, and to what exactly. */
export function prepareApproval(reader: Reader, at: Situation, prepared: Prepared): Plan<Approval> {
  const { task, part, receipt, repos, summary, redoOf, uid, signatures, fromPage } = prepared;
  if (nextApproval(reader, task) !== part)
    throw new Failure(
      "conflict",
      "approval_taken",
      `${task}/${part} was given to another approval in the meantime.`,
      {
        hint: `Nothing was changed. Run it again: pawl approve ${task}`,
      },
    );
  const how = howOf(task, signatures, fromPage);
  const given = {
    status: "prepared",
    how,
    receipt,
    repos,
    redo_of: redoOf,
    uid,
    signatures,
    summary,
  } as const;
  const commits = repos.map((one) => `${one.name} ${one.new.slice(0, 12)}`);
  return addApproval(reader, at, task, given, `approved: ${commits.join(", ")}`);
}

type Given = "status" | "how" | "receipt" | "repos" | "redo_of" | "uid" | "signatures" | "summary";

/** A new record of a human's yes: here, or for what the host is to merge. */
export function addApproval(
  reader: Reader,
  at: Situation,
  task: string,
  given: Pick<Approval, Given>,
  said: string,
): Plan<Approval> {
  const made = addPart(
    approval,
    task,
    reader.partNames(approval, task),
    (id): Approval => ({ id, ...madeNow(at), ...given, trouble: "" }),
    said,
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
  if (MERGED.includes(status)) return { data: { approval: done.value, task: storedTask.value }, effects };
  const merged = change(taskKind, storedTask, { status: "merged" }, at, `${status} → merged`);
  effects.push(merged.effect);
  return { data: { approval: done.value, task: merged.value }, effects };
}

/** Nothing moved, and here is why. A record that is not ours, though it has our number, is left alone. */
export function withdrawApproval(
  reader: Reader,
  at: Situation,
  what: { task: string; approval: string; commits: readonly string[] },
  trouble: string,
): Plan<undefined> {
  if (!reader.partNames(approval, what.task).includes(`${what.approval}.md`)) return { data: undefined };
  const stored = reader.part(approval, what.task, what.approval);
  const isOurs = stored.value.repos.every((repo) => what.commits.includes(repo.new));
  if (stored.value.status !== "prepared" || !isOurs) return { data: undefined };
  const changes = { status: "rolled_back" as const, trouble };
  return {
    data: undefined,
    effects: [change(approval, stored, changes, at, "prepared → rolled_back").effect],
  };
}
