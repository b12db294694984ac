import { quoteLine } from "../../model/printable.ts";
import { commandLine, quoted } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Part } from "./start-plan.ts";

/**
 * Runs what the policy says a new worktree needs, such as installing packages. The task has started by then, so a
 * failure is reported with the command that repeats it. It is not evidence. Whoever only cloned a repository has not been
 * asked about its commands yet, so there it is named and not run.
 */
export async function setUp(hands: Hands, parts: readonly Part[]): Promise<string[]> {
  const told: string[] = [];
  for (const { repo, place } of parts) {
    if (repo.adopted) continue;
    const { world } = hands.elsewhere(place.path);
    const { setup, env } = await world.config();
    if (setup === undefined) continue;
    const shown = commandLine(setup);
    if (!world.isInstalledHere()) {
      told.push(
        `${repo.name}: the policy's setup was not run, because nobody has installed pawl in this clone: ${quoteLine(shown, 2000)}. \`pawl install\` shows every command that the policy names, and asks; after that, run it in ${quoted(place.path)}.`,
      );
      continue;
    }
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
