import { sessionOf } from "../model/actor.ts";
import { Failure } from "../model/failure.ts";
import type { Situation } from "../ports/operation.ts";
import type { Held, Reader } from "../ports/ports.ts";
import { getTask } from "./which-task.ts";

/**
 * The task that a caller is about to work on. A session that holds a task may not work on one that another
 * session holds. Humans, agents without a session and sessions that hold nothing are not restricted.
 */
export function getOwnTask(
  reader: Reader,
  named: string | undefined,
  at: Pick<Situation, "branch" | "bound" | "actor">,
): string {
  const id = getTask(reader, named, at);
  if (sessionOf(at.actor) === undefined) return id;
  const found = foreignHolder(id, at.actor, reader.holders());
  if (!found) return id;
  throw new Failure(
    "refused",
    "task_of_another",
    `${id} is held by ${found.holder}, and you hold ${found.mine}.`,
    {
      hint: `If nobody is working on ${id}, take it over: pawl start ${id} --claim. To report something you saw there: pawl finding add "…" --task ${id}`,
      details: { task: id, holder: found.holder, held: found.mine },
    },
  );
}

/** Who else holds the task, and which task this session holds. */
export function foreignHolder(
  task: string,
  actor: string,
  all: readonly Held[],
): { holder: string; mine: string } | undefined {
  const here = all.filter((one) => one.task === task);
  const mine = all.find((one) => one.holder === actor);
  const [other] = here;
  if (!other || !mine || here.some((one) => one.holder === actor)) return undefined;
  return { holder: other.holder, mine: mine.task };
}
