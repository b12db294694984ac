import { existsSync, statSync } from "node:fs";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { environmentFor, MOST_TEXT, policyOf } from "./policies.ts";

/*
 * Refs that lie in tables (`extensions.refStorage = reftable`) can be read by git alone. One git lists all of them, and is
 * asked again only when the tables have changed; whoever never meets such a repository never loads what starts it.
 */

interface Tables {
  stamp: string;
  /** The commit of each ref, and what a symbolic one stands for. */
  tips: Map<string, string>;
  targets: Map<string, string>;
}

const known = new Map<string, Tables>();
let environment: Environment = {};

/** Refs are read in many places and of one environment; whoever begins says which. */
export function readTablesWith(env: Environment): void {
  environment = env;
}

export const tablesOf = (gitDir: string) => `${gitDir}/reftable/tables.list`;

const LINKED = /^(.*)[\\/]worktrees[\\/][^\\/]+$/;

/** Everything that the tables of this git directory, and those that it shares, say. */
export function readTables(gitDir: string): Tables {
  const stamp = stampOf(tablesOf(gitDir));
  const earlier = known.get(gitDir);
  if (earlier?.stamp === stamp) return earlier;
  try {
    const tables = askForTables(gitDir, stamp);
    known.set(gitDir, tables);
    return tables;
  } catch (error) {
    const shared = LINKED.exec(gitDir)?.[1];
    // A bare repository may lie in a folder of that name as well.
    if (shared === undefined || !existsSync(`${shared}/HEAD`)) throw error;
    // Fails in its turn where the fault is not this worktree's alone. One that is damaged, or is being added or removed, is
    // passed over by git as well: nothing is checked out there.
    readTables(shared);
    return { stamp, tips: new Map(), targets: new Map() };
  }
}

function askForTables(gitDir: string, stamp: string): Tables {
  const tables: Tables = { stamp, tips: new Map(), targets: new Map() };
  const rows = ask(gitDir, ["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
  for (const row of rows.split("\n")) {
    const [ref = "", tip = "", target = ""] = row.split(" ");
    if (tip !== "") tables.tips.set(ref, tip);
    if (target !== "") tables.targets.set(ref, target);
  }
  const head = ask(gitDir, ["symbolic-ref", "-q", "HEAD"]).trim();
  const commit = head ? tables.tips.get(head) : ask(gitDir, ["rev-parse", "-q", "--verify", "HEAD"]).trim();
  if (head) tables.targets.set("HEAD", head);
  if (commit) tables.tips.set("HEAD", commit);
  return tables;
}

/** The log of a ref as git prints it, newest first: `<commit> <time> <words>` in each line. */
export function readTableLog(
  gitDir: string,
  ref: string,
): { commit: string; time: number; message: string }[] {
  if (!readTables(gitDir).tips.has(ref)) return [];
  const format = ["--date=unix", "--format=%H %gd%x09%gs"];
  const rows = ask(gitDir, ["reflog", "show", "--no-abbrev", ...format, ref, "--"]);
  return rows.split("\n").flatMap((row) => {
    const [, commit = "", time, message = ""] = /^(\S+) .*@\{(\d+)\}\t(.*)$/.exec(row) ?? [];
    return commit === "" ? [] : [{ commit, time: Number(time), message }];
  });
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "absent" : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/** Git's own no, to a name that stands for nothing. */
const NO = 1;
const TOO_OLD = /unknown repository extension|repository version/;

/**
 * What git says, and nothing where it says no. Any other end is a failure: refs that cannot be read are not refs that are
 * not there. This git is not one of `Git`, which a command that only reads does not load; Node before 20.16 has only the
 * other way to a module of its own.
 */
function ask(gitDir: string, args: readonly string[]): string {
  const { getBuiltinModule, mainModule } = process as Partial<NodeJS.Process>;
  const processes: typeof import("node:child_process") =
    getBuiltinModule?.("node:child_process") ?? mainModule?.require("node:child_process");
  const settings = (policyOf("shared").settings ?? []).flatMap((one) => ["-c", one]);
  const { status, stdout, stderr, error } = processes.spawnSync(
    "git",
    [...settings, "--git-dir", gitDir, ...args],
    { env: environmentFor("shared", environment, {}), encoding: "utf8", maxBuffer: MOST_TEXT },
  );
  if (status === 0) return stdout;
  if (status === NO) return "";
  const said = error?.message ?? stderr.trim().slice(0, 400);
  const message = `${gitDir} keeps its refs in tables, and git said "${said}".`;
  throw new Failure("unavailable", "git_failed", message, {
    hint: TOO_OLD.test(said)
      ? "Git 2.45 or newer reads them; make sure that it comes first on the PATH."
      : `To see it for yourself: git --git-dir "${gitDir}" for-each-ref`,
  });
}
