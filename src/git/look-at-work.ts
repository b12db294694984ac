import { recall, remember } from "../files/cache.ts";
import type { Environment } from "../model/environment.ts";
import { refOfBranch } from "../model/naming.ts";
import type { Work } from "../ports/ports.ts";
import type { Place } from "./discover.ts";
import { isSurelyClean } from "./quick-clean.ts";
import { headOf, tipOf } from "./refs.ts";

/**
 * To be shown, never to be decided on: git is asked only for what nobody remembers, because it costs more than the rest
 * of the command that asks.
 */
export async function lookAtWork(
  { root, gitDir, commonDir }: Pick<Place, "root" | "gitDir" | "commonDir">,
  base: string | undefined,
  env: Environment,
  { certain = false } = {},
): Promise<Work> {
  // Without a worktree there is nothing that could be changed.
  if (root === undefined) return { committed: [], uncommitted: [] };
  const head = headOf({ gitDir, commonDir })?.commit;
  const tip = base === undefined ? undefined : tipOf(commonDir, refOfBranch(base));
  const asked = certain ? askUncommitted(root, env) : undefined;
  const [{ tree, files }] = await Promise.all([
    head === undefined ? NOTHING : lookAtCommit(root, commonDir, head, tip, env),
    asked,
  ]);
  return { committed: files, uncommitted: (await asked) ?? (await uncommitted(root, gitDir, tree, env)) };
}

interface Committed {
  tree: string | undefined;
  files: string[];
}
const NOTHING: Committed = { tree: undefined, files: [] };

/** Two commits never change what they say about each other. */
async function lookAtCommit(
  root: string,
  commonDir: string,
  head: string,
  tip: string | undefined,
  env: Environment,
): Promise<Committed> {
  const [folder, name] = [`${commonDir}/pawl`, `work ${head} ${tip ?? ""}`];
  const known = recall<Committed>(folder, name);
  if (Array.isArray(known?.files)) return known;
  const git = await gitIn(root, env);
  const [tree, changed] = await Promise.all([
    git.line(["rev-parse", `${head}^{tree}`]),
    // Two histories without a common commit have nothing to compare.
    tip === undefined || tip === head ? undefined : git.ask([...DIFF, "--merge-base", tip, head]),
  ]);
  const found = { tree, files: (changed?.out ?? "").split("\0").filter(Boolean) };
  remember(folder, name, "", found);
  return found;
}

const DIFF = ["diff", "--name-only", "--no-renames", "-z"];
const STATUS = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];

async function uncommitted(
  root: string,
  gitDir: string,
  tree: string | undefined,
  env: Environment,
): Promise<string[]> {
  if (tree !== undefined && (await isSurelyClean(root, gitDir, { tree }, { untracked: true }))) return [];
  return askUncommitted(root, env);
}

async function askUncommitted(root: string, env: Environment): Promise<string[]> {
  const git = await gitIn(root, env);
  const lines = await git.names("git status failed", STATUS);
  return lines.map((line) => line.slice("XY ".length));
}

const gitIn = async (root: string, env: Environment) =>
  (await import("./run-git.ts")).Git.in("brief", env, root);
