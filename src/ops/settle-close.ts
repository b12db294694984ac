import { checkTask } from "../flows/check/check-task.ts";
import { handOffFromCommits } from "../flows/check/handoff-from-commits.ts";
import { keepReceipt } from "../flows/check/keep-receipt.ts";
import { takeSnapshot } from "../flows/snapshot/take-snapshot.ts";
import type { GateResult } from "../judge/gates/gate.ts";
import { settlesItself } from "../judge/gates/settled.ts";
import type { Parsed } from "../model/input.ts";
import { parseInput } from "../model/input.ts";
import type { Hands } from "../ports/hands.ts";
import { refresh } from "./refresh.ts";
import { verify } from "./verify.ts";

export interface Settled {
  gate: GateResult;
  /** What was done, a line each. */
  done: string[];
}

/** As long as one of these is open, nothing that is checked or saved now would be what is merged. */
const WORK = [
  ...["not_started", "on_protected_branch", "worktree_missing", "branch_missing", "base_missing"],
  ...["base_changed", "surfaces_not_in_base", "no_changes", "dirty_worktree", "unmergeable"],
];

/**
 * Brings a task through its close stage as far as that needs nobody's judgement: a moved base is brought in, the policy's
 * checks are run, the diff is saved, a missing handoff is written from the commits. `all`: only if nothing else stands
 * in the way, so that a human does not wait for tests only to be refused.
 */
export async function settleClose(hands: Hands, id: string, only: "all" | "what can be"): Promise<Settled> {
  const done: string[] = [];
  let gate = await look(hands, id);
  const may = (code: string) => gate.reasons.some((one) => one.code === code);
  if (!isOpen(gate, only)) return { gate, done };
  if (may("base_moved")) {
    const { data } = await refresh.perform(hands, input(refresh, { task: id }));
    for (const one of data.refreshed) done.push(`${one.repo}: ${one.base.slice(0, 12)} was brought in`);
    gate = await look(hands, id);
    if (!isOpen(gate, only)) return { gate, done };
  }
  for (const { repo, checks } of missingChecks(gate)) {
    const failed = await runChecks(hands, id, repo, checks);
    done.push(`${repo}: ${checks.join(", ")} ${failed ? "did not pass" : "passed"}`);
  }
  gate = await look(hands, id);
  if (only === "all" && gate.reasons.some((one) => !settlesItself(one, gate))) return { gate, done };
  if (may("no_handoff"))
    done.push(`${(await handOffFromCommits(hands, gate)).id} was written from the commits`);
  if (may("snapshot_missing")) {
    await takeSnapshot(hands, id);
    done.push("the diff was saved");
  }
  if (done.length > 0) gate = await look(hands, id);
  const { seal } = gate;
  if (seal)
    await hands.record((reader, at) => keepReceipt(reader, id, seal, at), {
      milestone: `${id}: ready to be approved`,
    });
  return { gate, done };
}

const look = (hands: Hands, id: string) => checkTask(hands, id, "close", { fresh: true });

function isOpen(gate: GateResult, only: "all" | "what can be"): boolean {
  if (only === "all") return gate.reasons.every((one) => settlesItself(one, gate));
  return !gate.reasons.some((one) => WORK.includes(one.code));
}

function missingChecks({ reasons }: GateResult): { repo: string; checks: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { code, repo = "", check } of reasons)
    if (check !== undefined && (code === "check_missing" || code === "check_stale"))
      found.set(repo, [...(found.get(repo) ?? []), check]);
  return [...found].map(([repo, checks]) => ({ repo, checks }));
}

/** The same as `pawl verify T --repo R --check C`, and recorded as that is. */
async function runChecks(hands: Hands, task: string, repo: string, check: string[]): Promise<boolean> {
  hands.say(`Running ${check.join(", ")} of ${repo} …`);
  const wanted = input(verify, { task, repo, check });
  const at = await hands.situation("write");
  const observed = await verify.observe?.(hands.world, wanted, at, hands.reader());
  if (observed === undefined) throw new Error("verify observes nothing");
  const plan = await hands.record((reader, now) =>
    verify.decide(wanted, verify.gather(reader, wanted, now, observed), now),
  );
  for (const line of plan.warnings ?? []) hands.say(line);
  return plan.notReady ?? false;
}

// biome-ignore lint/suspicious/noExplicitAny: an operation of any input
const input = <O extends { input: any }>(operation: O, fields: object) =>
  parseInput(operation.input, fields) as Parsed<ReturnType<O["input"]["parse"]>>;
