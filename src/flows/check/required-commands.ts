import { requiredChecks } from "../../judge/gates/policy.ts";
import { Failure } from "../../model/failure.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { evidence } from "../../model/records/parts.ts";
import type { RunRepo } from "../../model/records/run.ts";
import { testsNothing } from "../../model/tests-nothing.ts";
import type { Hands } from "../../ports/hands.ts";
import type { RequiredCommands } from "../../ports/merges.ts";

/** The checks that the policy names, else the commands that were seen to pass on this very tree. */
export async function requiredCommands(
  hands: Hands,
  task: string,
  repo: RunRepo,
  tree: string | undefined,
): Promise<RequiredCommands & { recheck: boolean }> {
  // Not by looking at the task's branch: finish has removed it where a merge is redone afterwards.
  const policy = await (await hands.git.branches()).policy(repo);
  return hands.look((reader) => {
    const parse = (text: string | undefined, where: string) =>
      text === undefined ? [] : [reader.config(where, text)];
    const [committed] = parse(policy.base, `${POLICY_FILE} on ${repo.base_branch}`);
    const common = {
      env: committed?.env ?? {},
      recheck: committed?.recheck ?? committed?.approvals === "signed",
    };
    const checks = requiredChecks(committed, parse(policy.main, POLICY_FILE));
    if (checks === "none") return { commands: [], ...common };
    if (checks.length > 0) return { commands: checks.map((one) => one.argv), ...common };
    const seen = reader.parts(evidence, task).records.map((one) => one.value);
    const proofs = seen.filter(
      (one) => one.tree === tree && one.exit_code === 0 && one.kind !== "red" && !testsNothing(one.argv),
    );
    const commands = new Map(proofs.map((one) => [JSON.stringify(one.argv), one.argv]));
    if (commands.size > 0) return { commands: [...commands.values()], ...common };
    throw new Failure("refused", "check_missing", `${task} has no check that pawl could run again.`, {
      hint: "Name the required checks in .pawl/config.yaml, or say `checks: none` there.",
      details: { repo: repo.name },
    });
  });
}
