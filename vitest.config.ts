import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { filesOf, TAGS, type Tier, tagsOf } from "./test/helpers/tiers.ts";

/** The bundler gives scripts and templates as text; so do the tests. Vite by itself would give an address of some. */
const asText: Plugin = {
  name: "as-text",
  enforce: "pre",
  load: (id) =>
    /\.(?:sh|hbs|txt|css)$|web\/assets\/\w+\.js$/.test(id)
      ? `export default ${JSON.stringify(readFileSync(id, "utf8"))};`
      : undefined,
};

/**
 * Without a history vitest begins with the largest files, and some of those that take longest are the smallest of all: at
 * the end one worker would have nothing to do. Each run says which files are the longest.
 */
const LONGEST = [
  ...["agents/supervised-runs", "agents/obedience", "agents/pipeline", "agents/exit-codes"],
  ...[
    "crash/approve-crash",
    "crash/page-crash",
    "crash/install-crash",
    "docs/examples",
    "guard/forget-state",
  ],
  ...["ops/run", "ops/run-pipeline", "ops/run-manager", "ops/later-branches", "scenarios/package"],
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.endsWith(name));
    return (await super.sort(files)).sort((one, other) => Number(isLong(other)) - Number(isLong(one)));
  }
}

/** `npm test` and its like name a tier; without one, a file that is named runs whole, but for what takes hours. */
const tier = process.env.PAWL_TEST_TIER as Tier | undefined;

export default defineConfig({
  plugins: [asText],
  test: {
    include: tier ? filesOf(tier) : ["test/**/*.test.ts"],
    tags: TAGS,
    // Vitest declares it as an option of the command line alone, and takes it from here too.
    ...{ tagsFilter: [tier ? tagsOf(tier) : "!long"] },
    globalSetup: ["test/helpers/run-folders.mjs"],
    sequence: { sequencer: LongestFirst },
    testTimeout: tier === "long" ? 3_600_000 : 60_000,
    hookTimeout: 120_000,
    // Two workers, because the tests start many processes of their own; proofs often wait, for agents and browsers.
    maxWorkers: tier === "proofs" ? 3 : 2,
    // Every git that a test starts is a fork of its worker first, which copies the map of its memory: with little of it for
    // young objects a worker stays below 250 MB instead of 400, and a crash test takes 11 s of processor time instead of 15.
    execArgv: ["--max-semi-space-size=1", "--optimize-for-size", "--single-threaded"],
  },
});
