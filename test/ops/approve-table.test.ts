import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REFUSALS } from "./approve-refusals.ts";

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
  ].join("\n");
  await expect(text).toMatchFileSnapshot("../../docs/approve.md");
});
