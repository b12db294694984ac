import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemGit } from "../helpers/optional-program.ts";
import { describeMatrix } from "./describe-matrix.ts";
import { ROWS } from "./matrix-rows.ts";
import { renderMatrix } from "./render-matrix.ts";

describeMatrix(`the guard, with git ${systemGit.version}`, { git: systemGit });

test("docs/guard.md says what the matrix says", () => {
  const path = fileURLToPath(new URL("../../docs/guard.md", import.meta.url));
  const text = renderMatrix(ROWS);
  if (process.env.UPDATE_DOCS) writeFileSync(path, text);
  expect(readFileSync(path, "utf8"), "UPDATE_DOCS=1 npx vitest run test/guard/matrix.test.ts writes it").toBe(
    text,
  );
});
