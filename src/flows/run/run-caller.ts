import { change } from "../../judge/change.ts";
import { openAttempt } from "../../judge/runs/standing.ts";
import { Failure } from "../../model/failure.ts";
import { partOf, taskOf } from "../../model/ids.ts";
import { type Run, run } from "../../model/records/run.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Effect, Situation } from "../../ports/operation.ts";
import type { Reader } from "../../ports/ports.ts";
import { storedRun } from "./run-records.ts";

/** A run by its id, where there is one. */
export function findNamed(reader: Reader, id: string | undefined): Run | undefined {
  if (id === undefined || !/^T\d+\/R\d+$/.test(id) || !reader.hasTask(taskOf(id))) return undefined;
  return reader.partNames(run, taskOf(id)).includes(partOf(id)) ? storedRun(reader, id).value : undefined;
}

/** The manager's record names what it started, in the same write that says it is started. */
export function namedByManager(
  reader: Reader,
  at: Situation,
  id: string,
  parent: string | undefined,
): Effect[] {
  if (findNamed(reader, parent)?.role !== "manager") return [];
  const stored = storedRun(reader, parent ?? "");
  const { children, basis } = stored.value;
  if (children.includes(id)) return [];
  const { plan_digest } = reader.task(taskOf(stored.value.id)).value;
  const changes = { children: [...children, id], ...(basis === undefined ? { basis: plan_digest } : {}) };
  return [change(run, stored, changes, at, `started ${id}`).effect];
}

/**
 * The manager whose agent asks, as the processes themselves show; undefined for everybody else. A run that a manager
 * started may start none, whatever the project allows.
 */
export async function callingManager(hands: Hands): Promise<Run | undefined> {
  const around = (await hands.agents()).around();
  const { run: said } = await hands.situation("read");
  const [own, claimed] = await hands.look((reader) => [findNamed(reader, around), findNamed(reader, said)]);
  const above = await hands.look((reader) => findNamed(reader, own?.parent ?? claimed?.parent));
  if (above?.role === "manager")
    throw new Failure(
      "refused",
      "depth",
      `${above.id} started this run, and a run that was started cannot start others.`,
      {
        hint: 'Tell the manager what you need: pawl mail send manager "…"',
        details: { manager: above.id },
      },
    );
  if (own?.role === "manager" && openAttempt(own)) return own;
  if (claimed?.role !== "manager") return undefined;
  throw new Failure(
    "refused",
    "not_that_run",
    `This process is not part of ${claimed.id}, whatever it says.`,
    {
      hint: "Ask the person you work for.",
      details: { run: claimed.id },
    },
  );
}
