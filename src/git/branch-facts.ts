import { recall, remember } from "../files/cache.ts";
import type { Environment } from "../model/environment.ts";

/** What two commits say about each other and never change: worth asking git once. */
export interface BranchFacts {
  tree: string;
  baseTree: string;
  contained: boolean;
  changed: boolean;
  conflicts: string[];
  /** `.pawl/config.yaml` on the base. */
  policy: string | undefined;
  /** The base has `.pawl/lock.json`. */
  surfaces: boolean;
}

/** Changed together with what is remembered. */
const FORM = 4;

export async function branchFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
  /** Whoever decides on it asks git itself: a file that anybody can write proves nothing. */
  fresh: boolean,
): Promise<BranchFacts> {
  const [folder, name] = [`${commonDir}/pawl`, `facts ${FORM} ${head} ${base}`];
  const known = fresh ? undefined : recall<BranchFacts>(folder, name);
  if (known) return known;
  const { askFacts } = await import("./ask-branches.ts");
  const found = await askFacts(commonDir, head, base, env);
  remember(folder, name, "", found);
  return found;
}

/** Whether what was changed from one commit to another was taken back before the tip. */
export async function isUndone(
  commonDir: string,
  tip: string,
  { from, to }: { from: string; to: string },
  env: Environment,
  fresh: boolean,
): Promise<boolean> {
  if (to === tip) return false;
  const [folder, name] = [`${commonDir}/pawl`, `undone ${from} ${to} at ${tip}`];
  const remembered = fresh ? undefined : recall<boolean>(folder, name);
  if (typeof remembered === "boolean") return remembered;
  const { askUndone } = await import("./ask-branches.ts");
  const undone = await askUndone(commonDir, { from, to, tip }, env);
  remember(folder, name, "", undone);
  return undone;
}

/** Whether all of these commits are part of what the tip has. */
export async function containsAll(
  commonDir: string,
  tip: string,
  commits: readonly string[],
  env: Environment,
  fresh: boolean,
): Promise<boolean> {
  const [folder, name] = [`${commonDir}/pawl`, `parts of ${tip}`];
  const remembered = fresh ? undefined : recall<string[]>(folder, name);
  const known = Array.isArray(remembered) ? remembered : [];
  const unknown = commits.filter((one) => !known.includes(one));
  if (unknown.length === 0) return true;
  const { askContains } = await import("./ask-branches.ts");
  for (const commit of unknown) if (!(await askContains(commonDir, commit, tip, env))) return false;
  remember(folder, name, "", [...known, ...unknown]);
  return true;
}
