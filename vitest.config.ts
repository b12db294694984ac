import { defineConfig, type Plugin } from "vitest/config";

/** The bundler gives a shell script as text; so do the tests. */
const shellText: Plugin = {
  name: "shell-text",
  enforce: "pre",
  transform: (code, id) => (id.endsWith(".sh") ? `export default ${JSON.stringify(code)};` : undefined),
};

export default defineConfig({
  plugins: [shellText],
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two workers: the suite starts many processes of its own, and more workers only make them wait.
    maxWorkers: 2,
  },
});
