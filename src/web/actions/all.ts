import type { Action, Actions } from "./action.ts";
import { FINDING_ACTIONS } from "./finding.ts";
import { FREE_ACTIONS } from "./free.ts";
import { LANE_ACTIONS } from "./lane.ts";
import { MAIL_ACTIONS } from "./mail.ts";
import { RUN_ACTIONS } from "./run.ts";
import { TASK_ACTIONS } from "./task.ts";

/** What is done to one task. */
export const OF_A_TASK: Actions = {
  ...TASK_ACTIONS,
  ...RUN_ACTIONS,
  ...FINDING_ACTIONS,
  ...LANE_ACTIONS,
  ...MAIL_ACTIONS,
};

/** The action of this name, of a task or of none. */
export function findAction(name: string, ofTask: boolean): Action | undefined {
  const known = ofTask ? OF_A_TASK : FREE_ACTIONS;
  return Object.hasOwn(known, name) ? known[name] : undefined;
}
