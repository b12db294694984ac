import { LIVE } from "../../model/lifecycle.ts";
import type { Task } from "../../model/records/task.ts";
import type { Hands } from "../../ports/hands.ts";
import { type Part, planStart, type StartFacts } from "./start-plan.ts";

/** What a start of this task would make, from facts that are read once; also of one that is not written down yet. */
export async function planFor(hands: Hands, task: string | Task, here: boolean): Promise<Part[]> {
  const [sites, worktrees, config] = [
    await hands.git.sites(),
    await hands.git.worktrees(),
    await hands.world.config(),
  ];
  const facts = await hands.look(
    (reader): StartFacts => ({
      task: typeof task === "string" ? reader.task(task).value : task,
      config,
      sites,
      worktrees,
      repositories: reader.repositories().records.map((one) => one.value),
      live: reader.current().tasks.filter((one) => LIVE.includes(one.status)),
    }),
  );
  return planStart(hands, facts, here);
}
