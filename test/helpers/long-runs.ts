/** `npm run long` does more of the same: more tasks, more rounds, more random values. */
export const IS_LONG = process.env.PAWL_TEST_TIER === "long";

/** How long a test goes on that has no end of its own. */
export const SECONDS = Number(process.env.PAWL_TEST_SECONDS ?? 300);

/** PAWL_TEST_RUNS multiplies how often each property is tried. */
const TIMES = Number(process.env.PAWL_TEST_RUNS ?? (IS_LONG ? 20 : 1));

/**
 * How often fast-check tries a property. Everywhere but in the long tests it tries the same values each time, so that
 * nothing fails by chance.
 */
export const runs = (usual: number): { numRuns: number; seed?: number } => ({
  numRuns: Math.max(1, Math.round(usual * TIMES)),
  ...(IS_LONG ? {} : { seed: 20_261_119 }),
});
