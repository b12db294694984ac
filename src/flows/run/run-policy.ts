import { isHuman } from "../../model/actor.ts";
import { type AgentConfig, type Config, parseConfig } from "../../model/config.ts";
import { Failure } from "../../model/failure.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import { quoteLine } from "../../model/printable.ts";
import type { RunRepo } from "../../model/records/run.ts";
import { commandLine } from "../../model/text.ts";
import type { Runner } from "../../ports/agents.ts";
import type { Hands } from "../../ports/hands.ts";

/** What the project says about running agents. */
export interface RunPolicy {
  runs: Config["runs"];
  runner: Runner | undefined;
  agent(name: string): AgentConfig | undefined;
  /** Those that have a command of the project's own. */
  own: readonly string[];
}

/**
 * The policy that the base branch has committed. It names programs to start and who may start them, so that no copy in
 * a worktree counts; only while the base has none does the main worktree's stand for it.
 */
export async function runPolicy(
  hands: Hands,
  repo: Pick<RunRepo, "name" | "base_branch">,
): Promise<RunPolicy> {
  const { base, main } = await (await hands.git.branches()).policy(repo);
  const where = base === undefined ? POLICY_FILE : `${POLICY_FILE} on ${repo.base_branch}`;
  const text = base ?? main;
  const config = await hands.look((reader) =>
    text === undefined ? parseConfig(where, new Map()) : reader.config(where, text),
  );
  const { runs, runner, runner_stop: stop, agents } = config;
  return {
    runs,
    runner: runner && { command: runner, stop },
    agent: (name) => agents.find((one) => one.name === name),
    own: agents.filter((one) => one.command).map((one) => one.name),
  };
}

/** Starting agents spends money and moves work: a human's, unless the project says that agents may as well. */
export async function expectMayRun(
  hands: Hands,
  policy: Pick<RunPolicy, "runs">,
  what: string,
): Promise<void> {
  if (policy.runs === "agents") return;
  const { actor } = await hands.situation("write");
  const agent = hands.agent ?? (isHuman(actor) ? undefined : actor);
  if (agent === undefined) return;
  throw new Failure("refused", "runs_are_human", `Agents may not ${what} here; this is ${agent}.`, {
    hint: "Ask the person you work for. They can allow it with `runs: agents` in .pawl/config.yaml, committed on the base branch.",
    details: { agent },
  });
}

/** What the policy puts around an agent, or in place of one that pawl knows, is not what somebody typed who has only cloned it. */
export async function expectShown(hands: Hands, policy: RunPolicy, name: string): Promise<void> {
  if (hands.world.isInstalledHere()) return;
  const { runner } = policy;
  const { command = [], args = [] } = policy.agent(name) ?? {};
  const isKnown = (await hands.agents()).known.includes(name);
  const added = [...(runner?.command ?? []), ...(isKnown ? [...command, ...args] : [])];
  if (added.length === 0) return;
  throw new Failure(
    "refused",
    "not_installed_here",
    `The policy has ${name} started with ${quoteLine(commandLine(added), 2000)}, and nobody has installed pawl in this clone.`,
    { hint: "`pawl install` shows every command that the policy names, and asks.", details: { agent: name } },
  );
}
