import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

const TEMPLATE = fileURLToPath(new URL("../../adapters/opencode/plugin.js.hbs", import.meta.url));
/** Helpers have sessions of their own, and may have helpers, too. */
const PARENTS: Readonly<Record<string, string>> = {
  ses_helper: "ses_first",
  ses_helpers_helper: "ses_helper",
};

test.each([
  ["ses_first", "ses_first"],
  ["ses_helper", "ses_first"],
  ["ses_helpers_helper", "ses_first"],
  ["ses_unknown", "ses_unknown"],
])("opencode's session %s acts in the name of %s", async (sessionID, name) => {
  const folder = makeTemporaryFolder("opencode plugin");
  const file = join(folder, "pawl.mjs");
  copyFileSync(TEMPLATE, file);
  const { Pawl } = await import(pathToFileURL(file).href);
  const get = async ({ path: { id } }: { path: { id: string } }) => {
    if (id === "ses_unknown") throw new Error("There is no such session");
    return { data: { id, parentID: PARENTS[id] } };
  };
  const hooks = await Pawl({ client: { session: { get } }, directory: folder, worktree: folder });
  const output: { env: Record<string, string> } = { env: {} };
  await hooks["shell.env"]({ sessionID }, output);
  expect(output.env).toEqual({ OPENCODE_SESSION_ID: name });
  rmSync(folder, { recursive: true });
});
