import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RUN_REASONS } from "../../src/model/records/attempt.ts";
import { root } from "./read-markdown.ts";

/** Whoever reads a reason in a list finds it on the page about recovering, with what to do. */
test.each(RUN_REASONS)("docs/recovering.md says what to do about %s", (reason) => {
  const page = readFileSync(join(root, "docs/recovering.md"), "utf8");
  const row = page.split("\n").find((line) => line.startsWith("| `") && line.includes(`(${reason})`));
  expect(row).toMatch(/\| (?:.*`pawl .*`.*|nothing.*) \|$/);
});
