import type { GateResult, Reason } from "./gate.ts";

/** What needs no judgement; a person can settle each of these by hand as well. */
const SETTLED = ["base_moved", "check_missing", "check_stale", "no_handoff", "snapshot_missing"];

/**
 * Whether an approval settles a reason by itself: a check only if the policy names it, a moved base only if
 * checks can be run again.
 */
export function settlesItself({ code, check }: Reason, gate: Pick<GateResult, "repos">): boolean {
  if (!SETTLED.includes(code)) return false;
  if (code === "check_missing" || code === "check_stale") return check !== undefined;
  return code !== "base_moved" || hasChecks(gate);
}

/** Whether everything that a moved base reopens settles itself. */
export const mayMoveBase = (gate: GateResult): boolean =>
  gate.reasons.every((one) => settlesItself(one, gate)) && hasChecks(gate);

const hasChecks = ({ repos }: Pick<GateResult, "repos">) =>
  repos.every((one) => !one.changed || one.unchecked || one.required.length > 0);
