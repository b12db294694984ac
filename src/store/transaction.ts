import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../files/digest.ts";
import {
  explainFileError,
  linkDurably,
  makeFolder,
  replaceFile,
  syncDirectory,
  writeDurably,
} from "../files/durable.ts";
import { UNCOMPARED } from "../files/file-journal.ts";
import { tryLock, withLock } from "../files/intent-lock.ts";
import { namesIfPresent, textIfPresent } from "../files/read.ts";
import { step } from "../model/steps.ts";
import type { Effect } from "../ports/operation.ts";
import { refuseLinks } from "./home.ts";
import { finish, isUnfinished, keyFile, recover, type Step, saveJournal } from "./journal.ts";
import { type Home, keysDir, lockDir, stagingDir } from "./layout.ts";
import { hasUnfinishedWork } from "./unfinished.ts";

/** One change to the store: all of its records and events, or nothing. */
export interface Transaction {
  effects: readonly Effect[];
  events: readonly object[];
  /** Path of the event log inside the state folder. */
  log: string;
  /** Makes a retry answer instead of acting again. */
  key?: { name: string; answer: string } | undefined;
}

export type Outcome =
  | { state: "done"; warnings: string[] }
  | { state: "conflict"; path: string; warnings: string[] }
  | { state: "answered"; answer: string };

/**
 * Stages every file first, so that a full disk is met while nothing has changed yet; then, under the store's lock,
 * checks that what was read is still what is there, writes the journal, and moves the files into place. Whoever
 * takes the lock after a kill finishes what the journal says.
 */
export function transact(home: Home, transaction: Transaction): Outcome {
  const tx = randomBytes(8).toString("hex");
  const staged: string[] = [];
  refuseLinks(home, [...transaction.effects.map((effect) => effect.path), transaction.log]);
  try {
    const steps = transaction.effects.map((effect, index) => stage(home, effect, `${tx}-${index}`, staged));
    return withLock(lockDir(home), () => commit(home, transaction, tx, steps, staged), { step });
  } catch (error) {
    throw explainFileError(error, "The state could not be written");
  } finally {
    for (const name of staged) rmSync(join(stagingDir(home), name), { recursive: true, force: true });
  }
}

/**
 * The answer that an earlier call with this key got, if there was one. A call that was killed after its change had
 * been decided is finished first: repeating it would otherwise be refused because of what it did itself.
 */
export function readAnswer(home: Home, key: string): string | undefined {
  try {
    if (isUnfinished(home, key)) withLock(lockDir(home), () => recover(home), { step });
    return textIfPresent(keyFile(home, key));
  } catch (error) {
    throw explainFileError(error, "The state could not be written");
  }
}

/** Completes what a killed process had decided, for somebody who has to know of it before a change of its own. */
export function finishUnfinished(home: Home): void {
  try {
    if (hasUnfinishedWork(home)) withLock(lockDir(home), () => recover(home), { step });
  } catch (error) {
    throw explainFileError(error, "The state could not be written");
  }
}

/** Keeps the answer of a call that was more than one change, so that its repetition is answered and not done again. */
export function saveAnswer(home: Home, key: string, answer: string): void {
  try {
    replaceFile(keyFile(home, key), answer);
  } catch (error) {
    throw explainFileError(error, "The state could not be written");
  }
}

const HOUR = 3_600_000;

/** Removes what kills left behind, long after anybody could still be using it. */
export function sweep(home: Home, now: number): void {
  const old = [
    ...olderThan(HOUR, stagingDir(home), now),
    ...olderThan(7 * 24 * HOUR, keysDir(home), now),
    ...olderThan(HOUR, home.gitDir, now, /^pawl-index-/),
  ];
  if (old.length === 0) return;
  // Under the lock nobody is between finding its staged files and moving them, and only a journal may still need one.
  tryLock(lockDir(home), () => {
    if (hasUnfinishedWork(home)) return;
    for (const path of old) rmSync(path, { recursive: true, force: true });
  });
}

function olderThan(age: number, folder: string, now: number, name = /^/): string[] {
  return namesIfPresent(folder)
    .filter((one) => name.test(one))
    .map((one) => join(folder, one))
    .filter((path) => now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > age);
}

function commit(home: Home, transaction: Transaction, tx: string, steps: Step[], staged: string[]): Outcome {
  const recovered = recover(home);
  const answer = transaction.key && textIfPresent(keyFile(home, transaction.key.name));
  if (answer !== undefined) return { state: "answered", answer };
  const path = findConflict(home, transaction.effects) ?? findSwept(home, steps);
  if (path !== undefined) return { state: "conflict", path, warnings: recovered };
  const lines = transaction.events.map((event) => `\n${JSON.stringify({ ...event, tx })}\n`).join("");
  const journal = { tx, steps, log: transaction.log, lines, key: transaction.key };
  saveJournal(home, journal);
  // From here on the journal owns the staged files: whatever happens, they are put in place, not thrown away.
  staged.length = 0;
  return { state: "done", warnings: [...recovered, ...finish(home, journal)] };
}

function stage(home: Home, effect: Effect, name: string, staged: string[]): Step {
  const folder = stagingDir(home);
  makeFolder(folder);
  staged.push(name);
  step("stage");
  if (effect.do === "attach") linkDurably(effect.from, join(folder, name));
  else if (isNewTask(effect)) {
    mkdirSync(join(folder, name));
    writeDurably(join(folder, name, basename(effect.path)), effect.text);
    syncDirectory(join(folder, name));
  } else writeDurably(join(folder, name), effect.text);
  return {
    do: effect.do,
    staged: name,
    path: effect.path,
    before: effect.do === "replace" ? sha256(effect.before) : undefined,
    after: effect.do === "attach" ? UNCOMPARED : sha256(effect.text),
  };
}

/** A task comes into being with its folder, complete, by one rename. */
function isNewTask(change: { do: string; path: string }): boolean {
  return change.do === "create" && /^tasks\/T\d+\/task\.md$/.test(change.path);
}

/** Somebody who slept for hours before getting the lock may find the files that waited for it swept away. */
function findSwept(home: Home, steps: readonly Step[]): string | undefined {
  return steps.find((one) => !existsSync(join(stagingDir(home), one.staged)))?.path;
}

function findConflict(home: Home, effects: readonly Effect[]): string | undefined {
  for (const effect of effects) {
    const target = join(home.state, effect.path);
    if (effect.do === "create") {
      if (existsSync(isNewTask(effect) ? dirname(target) : target)) return effect.path;
    } else if (effect.do === "replace" && textIfPresent(target) !== effect.before) return effect.path;
    else if (effect.do === "attach" && effect.fresh && existsSync(target)) return effect.path;
  }
  return undefined;
}
