import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonIfReadable } from "../files/read.ts";
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

const REMEMBERED = 64;
/** Changed together with what is remembered. */
const FORM = 3;

/** `contained`: pairs of a commit and a tip that it is part of. */
type Memory = { form: number; facts: [string, BranchFacts][]; contained: string[] };

export async function branchFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
  /** Whoever decides on it asks git itself: a file that anybody can write proves nothing. */
  fresh: boolean,
): Promise<BranchFacts> {
  const key = `${head} ${base}`;
  const memory = recall(commonDir);
  const known = memory.facts.find(([name]) => name === key)?.[1];
  if (known && !fresh) return known;
  const { askFacts } = await import("./ask-branches.ts");
  const found = await askFacts(commonDir, head, base, env);
  const others = memory.facts.filter(([name]) => name !== key);
  remember(commonDir, {
    ...memory,
    facts: [[key, found] as const, ...others].slice(0, REMEMBERED) as Memory["facts"],
  });
  return found;
}

/** Whether all of these commits are part of what the tip has. */
export async function containsAll(
  commonDir: string,
  tip: string,
  commits: readonly string[],
  env: Environment,
  fresh: boolean,
): Promise<boolean> {
  const memory = recall(commonDir);
  const unknown = commits.filter((one) => fresh || !memory.contained.includes(`${one} ${tip}`));
  if (unknown.length === 0) return true;
  const { askContains } = await import("./ask-branches.ts");
  for (const commit of unknown) if (!(await askContains(commonDir, commit, tip, env))) return false;
  const contained = [...unknown.map((one) => `${one} ${tip}`), ...memory.contained];
  remember(commonDir, { ...memory, contained: [...new Set(contained)].slice(0, REMEMBERED) });
  return true;
}

const fileOf = (commonDir: string) => join(commonDir, "pawl/branches.cache");

function recall(commonDir: string): Memory {
  // It is only a memory of what git knows: without it git is asked again.
  const memory = jsonIfReadable<Memory>(fileOf(commonDir));
  return memory?.form === FORM ? memory : { form: FORM, facts: [], contained: [] };
}

function remember(commonDir: string, memory: Memory): void {
  const file = fileOf(commonDir);
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, JSON.stringify(memory));
    renameSync(fresh, file);
  } catch {
    rmSync(fresh, { force: true });
  }
}
