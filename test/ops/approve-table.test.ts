import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFUSALS } from "./approve-refusals.ts";

const RECORDS = [
  "## What the records are worth",
  "",
  "Every record that a gate rests on is compared with the events that told of it, in both directions. One that pawl did not write, or",
  "that was changed or deleted since, counts for nothing and is named (`record_unexplained`, `record_altered`, `record_missing`).",
  "Both are files, though, and whoever can write the one can write the other. Whoever forges a record and its event together is",
  "stopped only by `recheck: true` in the policy, with which the approval runs the required checks once more itself",
  "([test/ops/witnessed-records.test.ts](../test/ops/witnessed-records.test.ts)).",
];

/** `npx vitest run test/ops/approve-table -u` writes it anew. */
test("the documentation lists every refusal that is provoked by a test, and no other", async () => {
  const rows = REFUSALS.map(({ code, because, exit }) => `| \`${code}\` | ${because} | ${exit ?? 1} |`);
  const text = [
    readFileSync(new URL("approve-page.md", import.meta.url), "utf8"),
    "## What `pawl approve` refuses",
    "",
    "Each of these is provoked on a real repository by `test/ops/approve.test.ts`, which this table is made from. A refusal",
    "changes nothing, in no repository, and names the command that settles it.",
    "",
    "| code | because | exit |",
    "|---|---|---|",
    ...rows,
    "",
    ...RECORDS,
    "",
  ].join("\n");
  await expect(text).toMatchFileSnapshot("../../docs/approve.md");
});
