import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vitest/config";

/** The bundler gives scripts and templates as text; so do the tests. Vite by itself would give an address of some. */
const asText: Plugin = {
  name: "as-text",
  enforce: "pre",
  load: (id) =>
    /\.(?:sh|hbs|txt|css)$|web\/assets\/\w+\.js$/.test(id)
      ? `export default ${JSON.stringify(readFileSync(id, "utf8"))};`
      : undefined,
};

export default defineConfig({
  plugins: [asText],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/helpers/work-in-memory.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two workers: the suite starts many processes of its own, and more workers only make them wait.
    maxWorkers: 2,
    // Every git that a test starts is a fork of its worker first, which copies the map of its memory: with little of it for
    // young objects a worker stays below 250 MB instead of 400, and a crash test takes 11 s of processor time instead of 15.
    execArgv: ["--max-semi-space-size=1", "--optimize-for-size"],
  },
});
