import type { Kind } from "./record.ts";

/** The project's policy, tracked with the project. */
export const POLICY_FILE = ".pawl/config.yaml";

/** Everything that an install wrote, tracked with the project, so that any clone can take it out again exactly. */
export const LEDGER_FILE = ".pawl/lock.json";

/** Paths of records inside the state folder, with forward slashes on every system. */
export const taskFile = (task: string) => `tasks/${task}/task.md`;
export const partFile = (kind: Kind, task: string, part: string) =>
  `tasks/${task}/${kind.plural}/${part}${kind.ownFolder ? `/${kind.name}` : ""}.md`;
export const partFolder = (kind: Kind, task: string) => `tasks/${task}/${kind.plural}`;
export const receiptFile = (task: string) => `tasks/${task}/receipt.md`;
export const logFile = (task: string, run: string) => `tasks/${task}/runs/${run}/log.txt`;
export const patchFile = (task: string, run: string, repo: string) =>
  `tasks/${task}/runs/${run}/${repo}.patch`;
export const repositoryFile = (name: string) => `repos/${name}.md`;
export const noteFile = (note: string) => `notes/${note}.md`;
export const unlockFile = (unlock: string) => `unlocks/${unlock}.md`;
export const touchedFile = (task: string, clone: string) => `tasks/${task}/touched/${clone}.md`;
export const eventFile = (clone: string, now: string) => `events/${clone}/${now.slice(0, 7)}.jsonl`;

/** The id that a record at this path has to have; undefined for a path that is none of ours. */
export function idOf(path: string): string | undefined {
  const task = /^tasks\/(T\d+)\/task\.md$/.exec(path)?.[1];
  const part = /^tasks\/(T\d+)\/(?:[a-z]+\/([A-Z]\d+)|runs\/(R\d+)\/run|(touched\/[^/]+|receipt))\.md$/.exec(
    path,
  );
  if (part) return `${part[1]}/${part[2] ?? part[3] ?? part[4]}`;
  const loose = /^(?:notes\/(N\d+)|unlocks\/(U\d+))\.md$/.exec(path);
  return task ?? loose?.[1] ?? loose?.[2] ?? /^repos\/([^/]+)\.md$/.exec(path)?.[1];
}
