import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two workers: the suite starts many processes of its own, and more workers only make them wait.
    maxWorkers: 2,
  },
});
