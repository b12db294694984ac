import { join } from "node:path";
import type { PushedRef, Unexplained } from "../core/git/guard.ts";
import { readBefore } from "./before.ts";
import { isProtectedRef } from "./facts.ts";
import { textOf } from "./place.ts";
import { ask, type GuardedSite, line } from "./policy.ts";
import { LONGEST_UNLOCK_SECONDS } from "./render-hooks.ts";
import { readMoves } from "./tips.ts";

type Approved = ReadonlyMap<string, ReadonlySet<string>>;

const isNothing = (id: string) => /^0*$/.test(id);

/**
 * Every first-parent commit that a push brings to a protected name has to come from somewhere: it was there before the
 * guard, the remote has it, a human approved it, or a human had unlocked the branch.
 */
export function unexplained(
  site: GuardedSite,
  patterns: readonly string[],
  pushed: readonly PushedRef[],
  approved: Approved,
): Unexplained[] {
  return pushed
    .filter((one) => isProtectedRef(patterns, one.remoteRef) && !isUnlocked(site.commonDir, one.remoteRef))
    .flatMap((one): Unexplained[] => {
      if (isNothing(one.localId)) return [{ ref: one.remoteRef, commits: [], deletes: true }];
      const commits = withoutReason(site, patterns, one, approved);
      return commits.length > 0 ? [{ ref: one.remoteRef, commits, deletes: false }] : [];
    });
}

export function isUnlocked(commonDir: string, ref: string): boolean {
  const [until = ""] = (textOf(join(commonDir, "pawl", "grants", "unlock", ref)) ?? "").split(" ");
  const left = /^\d+$/.test(until) ? Number(until) - Date.now() / 1000 : 0;
  return left > 0 && left <= LONGEST_UNLOCK_SECONDS;
}

function withoutReason(
  site: GuardedSite,
  patterns: readonly string[],
  { localId, remoteId }: PushedRef,
  approved: Approved,
): Unexplained["commits"] {
  const moves = readMoves(site.commonDir);
  const known = [
    ...Object.values(readBefore(site.commonDir)?.baseline ?? {}),
    ...moves.filter((move) => move.why === "created").map((move) => move.new),
    ...remoteTips(site, patterns),
    remoteId,
  ].filter((id) => !isNothing(id) && ask(site, ["cat-file", "-e", `${id}^{commit}`]).code === 0);
  const listed = ask(site, [
    ...["rev-list", "--first-parent", "--format=%H %s", "--no-commit-header", localId],
    ...["--not", ...new Set(known)],
  ]);
  // What cannot be listed cannot be explained.
  if (listed.code !== 0) return [{ id: localId, subject: listed.err.trim().slice(0, 200) }];
  const rows = listed.out.split("\n").filter((row) => row !== "");
  const left = new Map(rows.map((row) => [row.slice(0, row.indexOf(" ")), row.slice(row.indexOf(" ") + 1)]));
  for (const ids of approved.values()) for (const id of ids) left.delete(id);
  for (const move of moves) {
    if (left.size === 0) break;
    if (!rows.some((row) => row.startsWith(move.new)) || isNothing(move.new) || move.why === "created")
      continue;
    const since = isNothing(move.old) ? [] : ["--not", move.old];
    const brought = line(site, ["rev-list", "--first-parent", move.new, ...since]) ?? "";
    for (const id of brought.split("\n")) left.delete(id);
  }
  return [...left].map(([id, subject]) => ({ id, subject }));
}

/** What remotes have under protected names. */
function remoteTips(site: GuardedSite, patterns: readonly string[]): string[] {
  const listed = ask(site, [
    "for-each-ref",
    "--format=%(objectname) %(refname:lstrip=3)",
    "refs/remotes/",
  ]).out;
  return listed
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => [row.slice(0, row.indexOf(" ")), row.slice(row.indexOf(" ") + 1)] as const)
    .filter(([, name]) => isProtectedRef(patterns, `refs/heads/${name}`))
    .map(([id]) => id);
}
