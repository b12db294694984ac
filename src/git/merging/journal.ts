import { rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile, syncDirectory } from "../../files/durable.ts";
import { bytesOf, namesIfPresent } from "../../files/read.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { Purpose } from "../../ports/merges.ts";

/** One worktree that has a moving branch checked out. */
export interface CheckoutStep {
  /** Its git directory, relative to the common one: a moved or copied project finds its own, not another's. */
  gitDir: string;
  /** What our `index.lock` says, so that it is told from everybody else's. */
  token: string;
  /** Files may have been written here; before this is said none was. */
  writing: boolean;
}

export interface RepositoryStep {
  name: string;
  branch: string;
  old: string;
  new: string;
  /** The git directory whose HEAD is locked along with the branch, relative to the common one. */
  head: string;
  checkouts: CheckoutStep[];
}

/**
 * What a killed process leaves for the next one. Before `decided` everything is taken back, after it everything is
 * completed; the children are waited for first, because they outlive us.
 */
export interface Journal {
  version: 1;
  purpose: Purpose;
  reflog: string;
  owner: string;
  /** The gits that may still be at work, by process identity. */
  children: string[];
  started: number;
  decided: boolean;
  repos: RepositoryStep[];
}

export class JournalFile {
  readonly path: string;
  readonly name: string;
  private readonly folder: string;

  constructor(folder: string, name: string) {
    this.folder = folder;
    this.name = name;
    this.path = join(folder, `${name}.json`);
  }

  write(journal: Journal, what: string): void {
    step(`merge-journal ${what}`);
    replaceFile(this.path, `${JSON.stringify(journal, null, 1)}\n`);
  }

  read(): Journal {
    let journal: Journal;
    try {
      journal = JSON.parse(bytesOf(this.path).toString("utf8")) as Journal;
    } catch (cause) {
      throw unreadable(this.path, cause);
    }
    if (journal.version !== 1) throw unreadable(this.path, undefined);
    return journal;
  }

  remove(): void {
    step("merge-journal removed");
    rmSync(this.path, { force: true });
    syncDirectory(this.folder);
  }
}

export function journalsIn(folder: string): JournalFile[] {
  return namesIfPresent(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => new JournalFile(folder, name.slice(0, -".json".length)));
}

function unreadable(path: string, cause: unknown): Failure {
  return new Failure("unreadable", "broken_journal", `${path} is not a journal that this pawl understands.`, {
    hint: "A newer pawl may have written it; use that version.",
    details: { file: path },
    cause,
  });
}
