import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Actor } from "../model/actor.ts";
import { sessionFile } from "../model/naming.ts";
import { namesIfReadable, textIfReadable } from "./read.ts";

/* Which agents' sessions were seen to begin: `<git common dir>/pawl/sessions/<id>` says when, and of which agent. */

export const sessionsFolder = (commonDir: string) => `${commonDir}/pawl/sessions`;

/** The line that our hook leaves there when a session begins; our server's beginning of one has none. */
export const HOOK_RAN = "hook ran";

/** What an id that says nothing is called; nobody is known by it. */
const UNNAMED = sessionFile("");

/**
 * Whether a session that bears these very signs may begin. What another session started is that session, and whoever
 * pipes a beginning into the hook has a parent that tells whose it is.
 */
export function mayBegin(begins: Actor, around: readonly Actor[]): boolean {
  return around.every(
    ({ name, session }) =>
      name === begins.name &&
      (session === undefined || begins.session === undefined || session === begins.session),
  );
}

export function noteBeginning(commonDir: string, agent: Actor, now: number): boolean {
  const file = `${sessionsFolder(commonDir)}/${sessionFile(agent.session ?? "")}`;
  if ((textIfReadable(file) ?? "").split("\n").some((line) => isBeginning(line, agent.name))) return true;
  try {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `began ${now} ${agent.name}\n`);
    return true;
  } catch {
    return false;
  }
}

const isBeginning = (line: string, name: string) => {
  const [word, , who] = line.split(" ");
  return word === "began" && who === name;
};

/** Whether this session of this agent was seen to begin, or any session of it where none is named. */
export function sawBeginning(commonDir: string, { name, session }: Actor): boolean {
  const folder = sessionsFolder(commonDir);
  // By its very letters: another id must not be the same file's name, nor the same to a careless file system.
  const files = namesIfReadable(folder).filter((file) => session === undefined || file === session);
  return files.some(
    (file) =>
      (session === undefined || file !== UNNAMED) &&
      (textIfReadable(`${folder}/${file}`) ?? "").split("\n").some((line) => isBeginning(line, name)),
  );
}
