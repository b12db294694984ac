import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFUSALS } from "./approve-refusals.ts";

const RECORDS = [
  "## What the records are worth",
  "",
  "Every record that opens a gate is compared with the event that logged it, and the other way round. One that pawl did not write, or",
  "that was changed or deleted since, counts for nothing and is named (`record_unexplained`, `record_altered`, `record_missing`).",
  "The same goes for all of them together: pawl remembers the newest commit of the records that it made, and asks git's own log where that note is gone. If somebody takes their branch back with git,",
  "for example with `reset --hard HEAD~1`, records and events vanish together, and `records_taken_back` says so until `pawl doctor --fix` or `pawl sync` brings them back.",
  "Both are files, though: somebody who forges a record and its event together is stopped only by `recheck: true` in the policy,",
  "which makes the approval run the required checks once more",
  "([test/ops/witnessed-records.test.ts](../test/ops/witnessed-records.test.ts)).",
];

/** `npx vitest run test/ops/approve-table -u` writes it again. */
test("the documentation lists every refusal that is provoked by a test, and no other", async () => {
  const rows = REFUSALS.map(({ code, because, exit }) => `| \`${code}\` | ${because} | ${exit ?? 1} |`);
  const text = [
    readFileSync(new URL("approve-page.md", import.meta.url), "utf8"),
    "## What `pawl approve` refuses",
    "",
    "A refusal changes nothing, in any repository, and names the command that settles it. `test/ops/approve.test.ts` provokes each of",
    "these on a real repository; this table is made from it.",
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
