import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

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
const FORM = 2;

type Memory = { form: number; facts: [string, BranchFacts][] };

export async function branchFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<BranchFacts> {
  const file = join(commonDir, "pawl", "branches.cache");
  const key = `${head} ${base}`;
  const memory = recall(file);
  const known = memory.facts.find(([name]) => name === key)?.[1];
  if (known) return known;
  const { askFacts } = await import("./ask-branches.ts");
  const found = await askFacts(commonDir, head, base, env);
  remember(file, {
    form: FORM,
    facts: [[key, found], ...memory.facts].slice(0, REMEMBERED) as Memory["facts"],
  });
  return found;
}

function recall(file: string): Memory {
  try {
    const memory = JSON.parse(readFileSync(file, "utf8")) as Memory;
    if (memory.form === FORM) return memory;
  } catch {
    // It is only a memory of what git knows: without it git is asked again.
  }
  return { form: FORM, facts: [] };
}

function remember(file: string, memory: Memory): void {
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, JSON.stringify(memory));
    renameSync(fresh, file);
  } catch {
    rmSync(fresh, { force: true });
  }
}
