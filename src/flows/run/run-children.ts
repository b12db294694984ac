import type { Reason } from "../../judge/gates/gate.ts";
import { judgeManage } from "../../judge/gates/manage.ts";
import { isUnread } from "../../judge/mail.ts";
import { childLine, childrenOf } from "../../judge/runs/children.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
import { taskOf } from "../../model/ids.ts";
import { decision, handoff, message } from "../../model/records/parts.ts";
import { run } from "../../model/records/run.ts";
import type { Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { findNamed } from "./run-caller.ts";

/** What keeps a manager of this task from ending well. */
export function manageReasons(reader: Reader, task: string): Reason[] {
  const values = reader.parts(run, task).records.map((one) => one.value);
  const manager = values.findLast((one) => one.role === "manager");
  const unread = reader
    .parts(message, task)
    .records.map((one) => one.value)
    .filter((one) => one.report && one.to === manager?.id && isUnread(one));
  return judgeManage({
    task: reader.task(task).value,
    manager,
    children: manager ? childrenOf(reader, manager) : [],
    unread,
    decisions: reader.parts(decision, task).records.map((one) => one.value),
    handoffs: reader.parts(handoff, task).records.map((one) => one.value),
  });
}

/** How everything that a manager started stands, a line each; none for any other run. */
export function childLines(reader: Reader, id: string | undefined): string[] {
  const value = findNamed(reader, id);
  return value?.role === "manager" ? childrenOf(reader, value).map(childLine) : [];
}

/** The task that whoever asks manages: a manager keeps to that one and its parts. */
export function managedTask(reader: Reader, at: Pick<Situation, "run">): string | undefined {
  const own = findNamed(reader, at.run);
  return own?.role === "manager" && openAttempt(own) ? taskOf(own.id) : undefined;
}
