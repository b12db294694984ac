import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readTablesWith } from "../../src/git/ref-tables.ts";
import { openGuard } from "../../src/guard/open.ts";
import { readConfigText } from "../../src/model/config.ts";
import { IS_LONG } from "../helpers/long-runs.ts";
import { systemGit } from "../helpers/optional-program.ts";
import { inTiers } from "../helpers/rows.ts";
import { auditOf, checkRow, expectedOf } from "./check-row.ts";
import { type GuardedRepository, type Making, makeGuardedRepository } from "./guarded-repository.ts";
import { ROWS, type Row } from "./matrix-rows.ts";

function problemsOf({ repo, env }: GuardedRepository): string[] {
  // As every command begins: the git that reads tables is the repository's, not this machine's.
  readTablesWith(env);
  onTestFinished(() => readTablesWith({}));
  const guard = openGuard({
    env,
    programs: { node: "", program: "" },
    readConfig: (where, text) => readConfigText(where, text, undefined),
  });
  const site = { name: "repo", home: true, commonDir: join(repo, ".git"), mainRoot: repo };
  return guard.inspect(site).problems.map((one) => one.code);
}

/**
 * This machine's own git is tried with every row. Another git, and tables, which one module reads, are tried with the rows
 * that mean something else there and with a third of the rest, each with another one; `npm run long` tries all of them.
 */
function isRun(row: Row, index: number, { git, formats }: Making): boolean {
  if (IS_LONG || (git === systemGit && !formats)) return true;
  if (formats) return typeof row.tables === "object" || index % 3 === 0;
  return row.needs !== undefined || row.since !== undefined || index % 3 === 1;
}

/** The rows of the matrix in one kind of repository, with one git. */
export function describeMatrix(title: string, making: Making): void {
  describe(title, () => {
    let at: GuardedRepository;
    beforeAll(async () => {
      at = await makeGuardedRepository(making);
    });
    afterAll(() => at?.remove());
    beforeEach(() => at.reset());

    // Otherwise a row that an audit finds would prove nothing.
    test.each(["here", "published"] as const)("leaves nothing for an audit to find: %s", (where) => {
      expect(auditOf(at, where)).toEqual({ code: 0, found: [] });
    });

    const rows = ROWS.filter((row) => row.needs === undefined || making.git?.isSince(row.needs))
      .filter((row) => !making.formats || row.tables !== "no such thing")
      .filter((row, index) => isRun(row, index, making));
    // In `npm test` the first of each group, and what every shell has to get right.
    const isNeeded = (row: Row) => row.everyShell || rows.find(({ group }) => group === row.group) === row;
    for (const tier of inTiers(rows, isNeeded))
      test.each(
        tier.rows.map((row) => [`${row.group}: ${row.name} → ${expectedOf(row, making)}`, row] as const),
      )("%s", { tags: tier.tags }, (_name, row) => {
        checkRow(at, row);
        if (row.problem) expect(problemsOf(at)).toContain(row.problem);
      });
  });
}
