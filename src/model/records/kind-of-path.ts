import type { Kind } from "../record.ts";
import { note, TASK_PARTS, touched } from "./parts.ts";
import { approval, receipt, repository, run } from "./run.ts";
import { task } from "./task.ts";
import { unlock } from "./unlock.ts";

/** Every kind of record that the state holds. */
export const KINDS: readonly Kind[] = [
  task,
  ...TASK_PARTS,
  run,
  approval,
  receipt,
  touched,
  note,
  unlock,
  repository,
];

/** The kind of record that a path of the state holds; undefined for logs, patches and whatever else there is. */
export function kindOfPath(path: string): Kind | undefined {
  if (/^tasks\/T\d{4,}\/task\.md$/.test(path)) return task;
  if (/^notes\/N\d{4,}\.md$/.test(path)) return note;
  if (/^unlocks\/U\d{4,}\.md$/.test(path)) return unlock;
  if (/^repos\/[^/]+\.md$/.test(path)) return repository;
  if (/^tasks\/T\d{4,}\/receipt\.md$/.test(path)) return receipt;
  if (/^tasks\/T\d{4,}\/runs\/R\d+\/run\.md$/.test(path)) return run;
  if (/^tasks\/T\d{4,}\/touched\/[^/]+\.md$/.test(path)) return touched;
  const [, plural, letter] = /^tasks\/T\d{4,}\/([a-z]+)\/([A-Z])\d+\.md$/.exec(path) ?? [];
  return [...TASK_PARTS, approval].find((kind) => kind.plural === plural && kind.letter === letter);
}

/** What a person calls the thing that a file belongs to: a patch and a log belong to their run. */
export function recordOfPath(path: string): string {
  const run = /^tasks\/(T\d+)\/runs\/(R\d+)\//.exec(path);
  if (run) return `${run[1]}/${run[2]}`;
  const part = /^tasks\/(T\d+)\/(?:(touched\/[^/]+|receipt)|[a-z]+\/([A-Z]\d+))\.md$/.exec(path);
  if (part) return `${part[1]}/${part[2] ?? part[3]}`;
  return (
    /^tasks\/(T\d+)\/task\.md$/.exec(path)?.[1] ??
    /^(?:notes|unlocks)\/([NU]\d+)\.md$/.exec(path)?.[1] ??
    path.replace(/\.md$/, "")
  );
}
