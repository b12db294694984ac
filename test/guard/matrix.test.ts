import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkRow, expectedOf } from "./check-row.ts";
import { type GuardedRepository, makeGuardedRepository } from "./guarded-repository.ts";
import { ROWS } from "./matrix-rows.ts";
import { renderMatrix } from "./render-matrix.ts";

describe("the guard", () => {
  let at: GuardedRepository;
  beforeAll(async () => {
    at = await makeGuardedRepository();
  });
  afterAll(() => at.remove());
  beforeEach(() => at.reset());

  test.each(ROWS.map((row) => ({ row, outcome: expectedOf(row) })))(
    "$row.group: $row.name → $outcome",
    ({ row }) => checkRow(at, row),
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
