import { Failure } from "../model/failure.ts";
import { nextNumber } from "../model/ids.ts";
import { partFile, taskFile } from "../model/paths.ts";
import {
  type ChangesOf,
  editRecord,
  type Kind,
  printRecord,
  type Stored,
  type ValueOf,
} from "../model/record.ts";
import { type Task, task } from "../model/records/task.ts";
import type { Effect, Situation } from "../ports/operation.ts";

/** The provenance fields of every new record. */
export function madeNow(at: Situation) {
  return {
    rev: 1,
    actor: at.actor,
    created: at.now,
    updated: at.now,
    repo: at.repo,
    branch: at.branch,
    commit: at.commit,
  };
}

/** The effect that adds a part to a task, under the next free number among `names`. */
export function addPart<K extends Kind>(
  kind: K,
  taskId: string,
  names: readonly string[],
  make: (id: string) => ValueOf<K>,
  about: string,
): { effect: Effect; value: ValueOf<K> } {
  const part = `${kind.letter}${nextNumber(names, kind.letter)}`;
  const value = make(`${taskId}/${part}`);
  return {
    value,
    effect: {
      do: "create",
      record: `${taskId}/${part}`,
      rev: 1,
      path: partFile(kind, taskId, part),
      text: printRecord(kind, value),
      about,
    },
  };
}

/** The effect that changes a record, counts its rev up, and keeps every byte that did not have to change. */
export function change<K extends Kind>(
  kind: K,
  stored: Stored<K>,
  changes: ChangesOf<K>,
  at: Pick<Situation, "now">,
  about: string,
): { effect: Effect; value: ValueOf<K> } {
  const current = stored.value as ValueOf<K> & { id: string; rev: number };
  const rev = current.rev + 1;
  const all = { ...changes, rev, updated: at.now } as ChangesOf<K>;
  return {
    value: { ...current, ...all } as ValueOf<K>,
    effect: {
      do: "replace",
      record: current.id,
      rev,
      path: stored.path,
      before: stored.text,
      text: editRecord(kind, stored, all),
      about,
    },
  };
}

export function newTask(value: Task, about: string): Effect {
  return {
    do: "create",
    record: value.id,
    rev: 1,
    path: taskFile(value.id),
    text: printRecord(task, value),
    about,
  };
}

/** An update that names the rev it read fails if somebody else wrote in between. */
export function checkRev(
  current: { id: string; rev: number },
  expected: number | undefined,
  shows = `pawl task show ${current.id}`,
): void {
  if (expected === undefined || expected === current.rev) return;
  throw new Failure("conflict", "stale_rev", `${current.id} is at rev ${current.rev}, not ${expected}.`, {
    hint: `Read it again with \`${shows}\` and repeat your change with --rev ${current.rev}.`,
    details: { id: current.id, rev: current.rev, expected },
  });
}

export const nothingToChange = (id: string, hint?: string) =>
  new Failure("usage", "nothing_to_change", `You named nothing to change in ${id}.`, hint ? { hint } : {});
