import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allCommands } from "../helpers/all-commands.ts";
import { renderCommands } from "./render-commands.ts";
import { renderConfiguration } from "./render-configuration.ts";

const commands = await allCommands();

test.each([
  ["commands.md", () => renderCommands(commands)],
  ["configuration.md", renderConfiguration],
])("docs/%s says what the code says", async (name, render) => {
  const path = fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
  const text = await render();
  if (process.env.UPDATE_DOCS) writeFileSync(path, text);
  expect(readFileSync(path, "utf8"), "UPDATE_DOCS=1 npx vitest run test/docs/generated writes it").toBe(text);
});
