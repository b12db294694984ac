import { Failure } from "../../core/failure.ts";
import type { Undertaking } from "../../core/git/merges.ts";
import { step } from "../../core/steps.ts";
import { identityOf, printIdentity } from "../../disk/process-identity.ts";
import { changedPaths } from "./changed-paths.ts";
import { installIndex, lockIndex, type Moving, unlockIndex, writeFiles } from "./checkout-files.ts";
import type { JournalFile } from "./journal.ts";
import { MergingGit } from "./merging-git.ts";
import { checkoutObstacles } from "./obstacles.ts";
import { openRefTransaction, type RefTransaction } from "./ref-transaction.ts";
import { complete, grantPart, type Part, type Settling, takeBack, withdrawPart } from "./settling.ts";

/**
 * The branches of all repositories move together, in two phases: git locks every branch after comparing it, the files
 * of every checkout are written, the journal says that it is decided, and only then does anything become visible.
 */
export function undertake(file: JournalFile, settling: Settling): Undertaking {
  const { journal, parts, env } = settling;
  let transactions: RefTransaction[] = [];

  const remember = (pid: number | undefined) => {
    if (pid !== undefined) journal.children.push(printIdentity(identityOf(pid)));
  };

  async function prepare(): Promise<void> {
    for (const part of parts) grantPart(part);
    transactions = parts.map(({ repo, site }) =>
      openRefTransaction(env, {
        ...{ name: repo.name, branch: repo.branch, old: repo.old, new: repo.new },
        ...{ gitDir: gitDirOf(site.commonDir, repo.head), reflog: journal.reflog },
      }),
    );
    for (const { pid } of transactions) remember(pid);
    file.write(journal, "children");
    for (const transaction of transactions) {
      step("merge-prepare");
      await transaction.prepare();
    }
    for (const part of parts) for (const moving of part.checkouts) await bringAlong(part, moving);
  }

  /** Looks once more, now that nobody's git can change this worktree, and writes its files. */
  async function bringAlong({ repo, git }: Part, moving: Moving): Promise<void> {
    lockIndex(moving);
    const changed = await changedPaths(git, repo.old, repo.new);
    const [obstacle] = await checkoutObstacles(
      MergingGit.inCheckout(env, moving),
      moving,
      repo.branch,
      changed,
    );
    if (obstacle) {
      const { code, message, hint, details } = obstacle;
      throw new Failure("refused", code, message, { hint, details: { repo: repo.name, ...details } });
    }
    await writeFiles(env, moving, repo, (pid) => {
      remember(pid);
      moving.step.writing = true;
      file.write(journal, "writing");
    });
  }

  async function commit(): Promise<void> {
    for (const transaction of transactions) {
      step("merge-ref");
      await transaction.commit();
    }
    for (const part of parts) {
      for (const moving of part.checkouts) {
        installIndex(moving);
        unlockIndex(moving);
      }
      withdrawPart(part);
    }
  }

  async function undo(): Promise<string[]> {
    for (const transaction of transactions) await transaction.abort();
    transactions = [];
    return takeBack(settling);
  }

  return {
    purpose: journal.purpose,
    decided: () => journal.decided,
    undo,
    close: () => file.remove(),
    carryOut: () =>
      withoutInterruption(async () => {
        try {
          await prepare();
          journal.decided = true;
          file.write(journal, "decided");
        } catch (error) {
          journal.decided = false;
          await undo();
          throw error;
        }
        try {
          await commit();
        } catch {
          // It is decided, so whatever went wrong at the last step is done again until it is done.
          for (const transaction of transactions) await transaction.abort();
          const { outcome, notes } = await complete(settling);
          if (outcome === "undone") throw takenBack(notes);
        }
      }),
  };
}

const gitDirOf = (commonDir: string, head: string) => (head === "." ? commonDir : `${commonDir}/${head}`);

function takenBack(notes: string[]): Failure {
  return new Failure("refused", "base_moved", `Nothing was merged. ${notes.join(" ")}`, {
    hint: "Bring the move in with `pawl refresh`, and approve again.",
  });
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Ctrl-C reaches our git children too: they stop, and we stay to put everything back. */
async function withoutInterruption<T>(act: () => Promise<T>): Promise<T> {
  const ignore = () => {};
  for (const signal of SIGNALS) process.on(signal, ignore);
  try {
    return await act();
  } finally {
    for (const signal of SIGNALS) process.off(signal, ignore);
  }
}
