import { commandLine, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Part } from "./start-plan.ts";

/**
 * Runs what the policy says a new worktree needs, such as installing packages. The task has begun by then: what does not
 * work is told, with how to repeat it, and is no evidence of anything.
 */
export async function setUp(hands: Hands, parts: readonly Part[]): Promise<string[]> {
  const told: string[] = [];
  for (const { repo, place } of parts) {
    if (repo.adopted) continue;
    const { world } = hands.elsewhere(place.path);
    const { setup, env } = await world.config();
    if (setup === undefined) continue;
    const shown = commandLine(setup);
    hands.say(`${repo.name}: setting up with ${shown}`);
    const run = await world.runCheck(setup, "top", env);
    const again = `To run it again: cd ${quoted(place.path)} && ${shown}`;
    if (run.exitCode !== 0)
      told.push(
        `${repo.name}: the setup failed (${shown}: exit ${run.exitCode}${lastLine(run.tail)}). The worktree exists, but its checks may not run yet. ${again}`,
      );
    else if (await world.isDirty())
      told.push(`${repo.name}: the setup (${shown}) changed files that git tracks or does not ignore.`);
  }
  return told;
}

function lastLine(output: string): string {
  const line = output.split("\n").findLast((one) => one.trim() !== "");
  return line === undefined ? "" : `: ${line.trim().slice(0, 200)}`;
}
