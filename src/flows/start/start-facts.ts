import { LIVE } from "../../model/lifecycle.ts";
import type { Hands } from "../../ports/hands.ts";
import { type Part, planStart, type StartFacts } from "./start-plan.ts";

/** What a start of this task would make, from facts that are read once. */
export async function planFor(hands: Hands, task: string, here: boolean): Promise<Part[]> {
  const [sites, worktrees, config] = [
    await hands.git.sites(),
    await hands.git.worktrees(),
    await hands.world.config(),
  ];
  const facts = await hands.look(
    (reader): StartFacts => ({
      task: reader.task(task).value,
      config,
      sites,
      worktrees,
      repositories: reader.repositories().records.map((one) => one.value),
      live: reader.current().tasks.filter((one) => LIVE.includes(one.status)),
    }),
  );
  return planStart(hands, facts, here);
}
