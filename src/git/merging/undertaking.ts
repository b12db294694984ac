import { join } from "node:path";
import { identityOf, printIdentity } from "../../files/process-identity.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { Purpose, Undertaking } from "../../ports/merges.ts";
import { Git } from "../run-git.ts";
import { changedPaths } from "./changed-paths.ts";
import { installIndex, lockIndex, type Moving, unlockIndex, writeFiles } from "./checkout-files.ts";
import type { Journal, JournalFile } from "./journal.ts";
import { checkoutObstacles } from "./obstacles.ts";
import { openRefTransaction, type RefTransaction } from "./ref-transaction.ts";
import { complete, grantPart, letGo, type Part, type Settling, takeBack, withdrawPart } from "./settling.ts";

/**
 * The branches of all repositories move together, in two phases: git locks every branch after comparing it, the files
 * of every checkout are written, the journal says that it is decided, and only then does anything become visible.
 */
export class JournaledMoves implements Undertaking {
  readonly purpose: Purpose;
  private readonly file: JournalFile;
  private readonly settling: Settling;
  private readonly journal: Journal;
  private transactions: RefTransaction[] = [];

  constructor(file: JournalFile, settling: Settling) {
    this.file = file;
    this.settling = settling;
    this.journal = settling.journal;
    this.purpose = settling.journal.purpose;
  }

  decided(): boolean {
    return this.journal.decided;
  }

  async close(): Promise<void> {
    await letGo(this.settling);
    this.file.remove();
  }

  undo(): Promise<string[]> {
    return withoutInterruption(async () => {
      await this.abort();
      return takeBack(this.settling);
    });
  }

  carryOut(): Promise<void> {
    return withoutInterruption(async () => {
      await this.prepare();
      this.decide();
      try {
        await this.commit();
      } catch {
        // It is decided, so whatever went wrong at the last step is done again until it is done.
        await this.abort();
        const { outcome, notes } = await complete(this.settling);
        if (outcome === "done") return;
        this.journal.decided = false;
        throw takenBack(notes);
      }
    });
  }

  private async prepare(): Promise<void> {
    const { env, parts } = this.settling;
    for (const part of parts) grantPart(part);
    this.transactions = parts.map(({ repo, site }) =>
      openRefTransaction(env, {
        name: repo.name,
        branch: repo.branch,
        old: repo.old,
        new: repo.new,
        gitDir: join(site.commonDir, repo.head),
        reflog: this.journal.reflog,
      }),
    );
    for (const { pid } of this.transactions) this.remember(pid);
    this.file.write(this.journal, "children");
    for (const transaction of this.transactions) {
      step("merge-prepare");
      await transaction.prepare();
    }
    for (const part of parts) for (const moving of part.checkouts) await this.bringAlong(part, moving);
  }

  /** Looks once more, now that nobody's git can change this worktree, and writes its files. */
  private async bringAlong({ repo, git }: Part, moving: Moving): Promise<void> {
    const { env } = this.settling;
    lockIndex(moving);
    const changed = await changedPaths(git, repo.old, repo.new);
    const inside = Git.on("quiet", env, moving);
    const [obstacle] = await checkoutObstacles(inside, moving, repo.branch, changed);
    if (obstacle) {
      const { code, message, hint, details } = obstacle;
      throw new Failure("refused", code, message, { hint, details: { repo: repo.name, ...details } });
    }
    await writeFiles(env, moving, { ...repo, changed }, (pid) => {
      this.remember(pid);
      moving.step.writing = true;
      this.file.write(this.journal, "writing");
    });
  }

  private decide(): void {
    this.journal.decided = true;
    try {
      this.file.write(this.journal, "decided");
    } catch (error) {
      // It may have reached the disk all the same; whoever reads it has to know that we turned back.
      this.journal.decided = false;
      this.file.write(this.journal, "not decided");
      throw error;
    }
  }

  private async commit(): Promise<void> {
    for (const transaction of this.transactions) {
      step("merge-ref");
      await transaction.commit();
    }
    for (const part of this.settling.parts) {
      for (const moving of part.checkouts) {
        installIndex(moving);
        unlockIndex(moving);
      }
      withdrawPart(part);
    }
  }

  private async abort(): Promise<void> {
    for (const transaction of this.transactions) await transaction.abort();
    this.transactions = [];
  }

  private remember(pid: number | undefined): void {
    if (pid !== undefined) this.journal.children.push(printIdentity(identityOf(pid)));
  }
}

function takenBack(notes: string[]): Failure {
  return new Failure("refused", "base_moved", `Nothing was merged. ${notes.join(" ")}`, {
    hint: "Bring the change in with `pawl refresh`, then approve again.",
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
