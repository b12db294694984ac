// @module-tag proof
import { existsSync, realpathSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { notRun, systemGit } from "../helpers/optional-program.ts";
import { checkRow, expectedOf, firstState, stateOf } from "./check-row.ts";
import { type GuardedRepository, makeGuardedRepository } from "./guarded-repository.ts";
import { ROWS } from "./matrix-rows.ts";

/** The shell that /bin/sh is has been tried with every row. */
const usual = realpathSync("/bin/sh");
const SHELLS = ["/bin/dash", "/bin/bash", "/bin/busybox sh"].filter(
  (shell) => !existsSync(shell) || realpathSync(shell) !== usual,
);

describe.each(SHELLS)("the guard, run by %s", (shell) => {
  const missing = !existsSync(shell.split(" ")[0] ?? "");
  let at: GuardedRepository;
  beforeAll(async () => {
    if (!missing) at = await makeGuardedRepository({ shebang: shell });
  });
  afterAll(() => at?.remove());
  beforeEach(() => at?.reset());

  const skipped = notRun(!missing, shell);
  const rows = ROWS.filter((row) => row.everyShell).map(
    (row) => [`${row.group}: ${row.name}${skipped}`, row] as const,
  );
  test.skipIf(missing).each(rows)("%s", (_name, row) => checkRow(at, row));
});

describe("without the guard", () => {
  let at: GuardedRepository;
  beforeAll(async () => {
    at = await makeGuardedRepository();
  });
  afterAll(() => at.remove());
  beforeEach(() => at.reset("bare of it"));

  // A row that would not have moved anything by itself proves nothing about the guard.
  const telling = ROWS.filter(
    (row) =>
      expectedOf(row, { git: systemGit }) === "refused" &&
      !row.byGit &&
      !row.harmless &&
      // One that installs pawl by itself is never bare of it.
      !/pawl install/.test(row.setup ?? "") &&
      !/pawl|an unlock|a grant/.test(row.script + row.name),
  );
  test.each(telling.map((row) => [`${row.group}: ${row.name}`, row] as const))(
    "%s moves it",
    (_name, row) => {
      if (row.setup) at.sh(row.setup);
      const before = firstState(at, row);
      at.sh(row.script);
      expect(stateOf(at, row)).not.toBe(before);
    },
  );
});
