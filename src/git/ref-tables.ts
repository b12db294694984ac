import { statSync } from "node:fs";
import { pathBelow } from "../files/path-below.ts";
import type { Environment } from "../model/environment.ts";
import { environmentFor } from "./policies.ts";

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

export const tablesOf = (gitDir: string) => pathBelow(gitDir, "reftable", "tables.list");

/** Everything that the tables of this git directory, and those that it shares, say. */
export function readTables(gitDir: string): Tables {
  const stamp = stampOf(tablesOf(gitDir));
  const earlier = known.get(gitDir);
  if (earlier?.stamp === stamp) return earlier;
  const tables: Tables = { stamp, tips: new Map(), targets: new Map() };
  const rows = ask(gitDir, ["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]) ?? "";
  for (const row of rows.split("\n")) {
    const [ref = "", tip = "", target = ""] = row.split(" ");
    if (tip !== "") tables.tips.set(ref, tip);
    if (target !== "") tables.targets.set(ref, target);
  }
  const head = ask(gitDir, ["symbolic-ref", "-q", "HEAD"])?.trim();
  const commit = head ? tables.tips.get(head) : ask(gitDir, ["rev-parse", "-q", "--verify", "HEAD"])?.trim();
  if (head) tables.targets.set("HEAD", head);
  if (commit) tables.tips.set("HEAD", commit);
  known.set(gitDir, tables);
  return tables;
}

/** The log of a ref as git prints it, newest first: `<commit> <time> <words>` in each line. */
export function readTableLog(
  gitDir: string,
  ref: string,
): { commit: string; time: number; message: string }[] {
  const format = ["--date=unix", "--format=%H %gd%x09%gs"];
  const rows = ask(gitDir, ["reflog", "show", "--no-abbrev", ...format, ref, "--"]) ?? "";
  return rows.split("\n").flatMap((row) => {
    const [, commit = "", time, message = ""] = /^(\S+) .*@\{(\d+)\}\t(.*)$/.exec(row) ?? [];
    return commit === "" ? [] : [{ commit, time: Number(time), message }];
  });
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "absent" : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/** A read command must not pay for loading it, so that this git is not one of `Git`; Node before 20.16 has only the other way. */
function ask(gitDir: string, args: readonly string[]): string | undefined {
  const { getBuiltinModule, mainModule } = process as Partial<NodeJS.Process>;
  const processes: typeof import("node:child_process") =
    getBuiltinModule?.("node:child_process") ?? mainModule?.require("node:child_process");
  const run = processes.spawnSync("git", ["--git-dir", gitDir, ...args], {
    env: environmentFor("shared", environment, {}),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return run.status === 0 ? run.stdout : undefined;
}
