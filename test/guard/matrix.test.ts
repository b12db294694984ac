import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openGuard } from "../../src/guard/open.ts";
import { readConfigText } from "../../src/model/config.ts";
import { scrubbedEnvironment } from "../helpers/temporary-repository.ts";
import { auditOf, checkRow, expectedOf } from "./check-row.ts";
import { type GuardedRepository, makeGuardedRepository } from "./guarded-repository.ts";
import { ROWS } from "./matrix-rows.ts";
import { renderMatrix } from "./render-matrix.ts";

function problemsOf({ repo, root }: GuardedRepository): string[] {
  const guard = openGuard({
    env: scrubbedEnvironment(root),
    programs: { node: "", program: "" },
    readConfig: (where, text) => readConfigText(where, text, undefined),
  });
  const site = { name: "repo", home: true, commonDir: join(repo, ".git"), mainRoot: repo };
  return guard.inspect(site).problems.map((one) => one.code);
}

describe("the guard", () => {
  let at: GuardedRepository;
  beforeAll(async () => {
    at = await makeGuardedRepository();
  });
  afterAll(() => at.remove());
  beforeEach(() => at.reset());

  // Otherwise a row that an audit finds would prove nothing.
  test.each(["here", "published"] as const)("leaves nothing for an audit to find: %s", (where) => {
    expect(auditOf(at, where)).toEqual({ code: 0, found: [] });
  });

  test.each(ROWS.map((row) => [`${row.group}: ${row.name} → ${expectedOf(row)}`, row] as const))(
    "%s",
    (_name, row) => {
      checkRow(at, row);
      if (row.problem) expect(problemsOf(at)).toContain(row.problem);
    },
  );
});

test("docs/guard.md says what the matrix says", () => {
  const path = fileURLToPath(new URL("../../docs/guard.md", import.meta.url));
  const text = renderMatrix(ROWS);
  if (process.env.UPDATE_DOCS) writeFileSync(path, text);
  expect(readFileSync(path, "utf8"), "UPDATE_DOCS=1 npx vitest run test/guard/matrix.test.ts writes it").toBe(
    text,
  );
});
