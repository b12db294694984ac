import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askGit, expectGit } from "./run-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What two commits say about each other and never change: worth asking git once. */
export interface BranchFacts {
  tree: string;
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
const FORM = 1;

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

async function askFacts(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<BranchFacts> {
  const ask = (...args: string[]) => askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  const must = async (...args: string[]) =>
    expectGit(await ask(...args), "The task's branch could not be compared with its base");
  const [tree, split, policy, surfaces] = await Promise.all([
    must("rev-parse", "--verify", `${head}^{tree}`),
    ask("merge-base", base, head),
    textAt(commonDir, base, ".pawl/config.yaml", env),
    ask("cat-file", "-e", `${base}:.pawl/lock.json`),
  ]);
  // Without a common commit everything differs, and nothing can be merged.
  const from = split.code === 0 ? split.out.trim() : undefined;
  const contained = from === base;
  return {
    tree,
    contained,
    changed: from === undefined || (await must("rev-parse", "--verify", `${from}^{tree}`)) !== tree,
    conflicts: contained
      ? []
      : from === undefined
        ? ["everything"]
        : await conflictsOf(commonDir, head, base, env),
    policy,
    surfaces: surfaces.code === 0,
  };
}

/** The text of a file on a commit; undefined only when git says that it is not there. */
async function textAt(
  commonDir: string,
  commit: string,
  path: string,
  env: Environment,
): Promise<string | undefined> {
  const ask = (...args: string[]) => askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  const listed = expectGit(await ask("ls-tree", commit, "--", path), "The base's policy could not be read");
  if (listed === "") return undefined;
  return expectGit(await ask("cat-file", "blob", `${commit}:${path}`), "The base's policy could not be read");
}

async function conflictsOf(
  commonDir: string,
  head: string,
  base: string,
  env: Environment,
): Promise<string[]> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head];
  const merged = await askGit(["--git-dir", commonDir, ...args], { cwd: commonDir, env });
  if (merged.code === 0) return [];
  const [, ...files] = merged.out.split("\0").filter(Boolean);
  if (merged.code === 1) return [...new Set(files)];
  expectGit(merged, "The task's branch could not be merged for a try");
  return [];
}
