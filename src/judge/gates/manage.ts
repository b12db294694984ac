import { taskOf } from "../../model/ids.ts";
import type { Decision, Handoff, Message } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import type { Task } from "../../model/records/task.ts";
import { settlementOf } from "../runs/children.ts";
import { openAttempt } from "../runs/standing.ts";
import type { Reason } from "./gate.ts";

/** What shows whether a manager has accounted for everything it started. */
export interface ManageFacts {
  task: Pick<Task, "id" | "plan" | "plan_digest">;
  /** The latest manager of the task. */
  manager: Run | undefined;
  children: readonly Run[];
  /** Reports about them that nobody has acknowledged. */
  unread: readonly Pick<Message, "id" | "run">[];
  decisions: readonly Pick<Decision, "created">[];
  handoffs: readonly Pick<Handoff, "run" | "automatic" | "created">[];
}

const reason = (code: string, message: string, command: string, record?: string): Reason => ({
  code,
  message,
  record,
  owner: "author",
  command,
});

/**
 * What a manager has to do before it may end: a plan, every run ended, read and settled, and a handoff after
 * that. If its program ends earlier, the manager has failed, whatever it says.
 */
export function judgeManage(facts: ManageFacts): Reason[] {
  const { task, manager, children, unread } = facts;
  if (!manager) {
    const command = `pawl run ${task.id} --mode manager --agent claude`;
    return [{ ...reason("no_manager", `No manager was started for ${task.id}.`, command), owner: "human" }];
  }
  const found: Reason[] = [];
  const plan = `pawl task update ${task.id} --plan "…"`;
  if (task.plan.trim() === "")
    found.push(reason("plan_missing", "There is no plan that says who does what.", plan, task.id));
  else if (isPlanChanged(facts))
    found.push(
      reason(
        "plan_changed",
        `The plan is not the one that ${manager.children[0]} was started for, and no decision explains the change.`,
        `pawl decide "…" --why "…" --task ${task.id}`,
        task.id,
      ),
    );
  found.push(...children.flatMap((child) => judgeChild(child, children, unread)));
  if (!isHandedOff(facts, manager))
    found.push(
      reason(
        "no_handoff",
        "No handoff describes the current state.",
        `pawl handoff ${task.id} --what "…" --next "…"`,
        task.id,
      ),
    );
  return found;
}

function judgeChild(
  child: ManageFacts["children"][number],
  children: ManageFacts["children"],
  unread: ManageFacts["unread"],
): Reason[] {
  const { id } = child;
  if (openAttempt(child)) return [reason("child_running", `${id} is running.`, `pawl run wait ${id}`, id)];
  const found: Reason[] = [];
  const report = unread.find((one) => one.run === id);
  if (report)
    found.push(
      reason("child_outcome_unread", `Nobody has read how ${id} ended.`, `pawl mail ack ${report.id}`, id),
    );
  const said = settlementOf(child);
  const settle = `pawl run settle ${id} accept|retry|abandon "…"`;
  if (!said)
    found.push(reason("child_not_settled", `Nobody has accepted, retried or abandoned ${id}.`, settle, id));
  else if (said.outcome === "retry" && !isRetried(child, children))
    found.push(
      reason(
        "child_not_settled",
        `${id} was to be retried but has not been resumed.`,
        `pawl run resume ${id}`,
        id,
      ),
    );
  return found;
}

function isPlanChanged({ task, manager, children, decisions }: ManageFacts): boolean {
  const [first] = children;
  if (!first || manager?.basis === undefined || manager.basis === task.plan_digest) return false;
  return !decisions.some((one) => one.created > first.created);
}

/** Whether a later run of the same task exists. */
const isRetried = (child: Run, children: readonly Run[]) =>
  children.some((one) => taskOf(one.id) === taskOf(child.id) && one.created > child.created);

/** Whether the manager itself left a handoff after it last settled a run. */
function isHandedOff({ children, handoffs }: ManageFacts, { id }: Run): boolean {
  const last =
    children
      .flatMap((one) => one.settled.map((each) => each.at))
      .sort()
      .at(-1) ?? "";
  return handoffs.some((one) => one.run === id && !one.automatic && one.created >= last);
}
