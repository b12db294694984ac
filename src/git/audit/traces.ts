import { join } from "node:path";
import { textIfPresent } from "../../files/read.ts";
import type { Trace } from "../../ports/audit-facts.ts";
import type { TracesWanted } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { readGrants, readGuardedTips, unlockIn } from "../guard-files.ts";
import { tipOf } from "../refs.ts";
import { known } from "./history.ts";
import type { HistoryGit } from "./history-git.ts";
import { isRewritten } from "./reflog.ts";

/** What only the guard can tell of itself. */
export interface GuardWitness {
  traces(site: Site, guarded: boolean): Promise<Trace[]>;
}

/** What somebody may have left in the repository who went around its rules. */
export async function readTraces(
  git: HistoryGit,
  wanted: TracesWanted,
  guard: GuardWitness,
): Promise<Trace[]> {
  const { commonDir } = git.site;
  return [
    ...(await replacements(git)),
    ...grafts(commonDir),
    ...(await shallowGrafts(git)),
    ...grants(git.site, wanted),
    ...unlocks(git.site, wanted),
    ...(await deleted(git)),
    ...rewritten(commonDir, wanted.protectedRefs),
    ...(await guard.traces(git.site, wanted.guarded)),
  ];
}

async function replacements(git: HistoryGit): Promise<Trace[]> {
  const out = await git.must(["for-each-ref", "--format=%(refname) %(objectname)", "refs/replace/"]);
  return out
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [ref = "", shown = ""] = line.split(" ");
      return { code: "replace_ref", where: ref, said: shown.slice(0, 12) };
    });
}

function grafts(commonDir: string): Trace[] {
  const text = textIfPresent(join(commonDir, "info", "grafts")) ?? "";
  const real = text.split("\n").some((line) => /^[0-9a-f]/.test(line));
  return real ? [{ code: "graft_file", where: "info/grafts", said: "" }] : [];
}

/** A shallow clone lacks the parents of the commits it ends with; where they are there, somebody hid them. */
async function shallowGrafts(git: HistoryGit): Promise<Trace[]> {
  const hidden: Trace[] = [];
  for (const id of shallowCommits(git.site.commonDir)) {
    const parents = await parentsOf(git, id);
    if (parents.length === 0 || (await known(git, parents)).length < parents.length) continue;
    hidden.push({ code: "shallow_graft", where: "shallow", said: id.slice(0, 12) });
  }
  return hidden;
}

export const shallowCommits = (commonDir: string) =>
  (textIfPresent(join(commonDir, "shallow")) ?? "")
    .split("\n")
    .filter((line) => /^[0-9a-f]{40,64}$/.test(line));

export async function parentsOf(git: HistoryGit, id: string): Promise<string[]> {
  const { code, out } = await git.ask(["cat-file", "commit", id]);
  if (code !== 0) return [];
  const header = out.slice(0, out.indexOf("\n\n"));
  return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] ?? "");
}

/** A grant allows one move, for as long as that takes. */
function grants(site: Site, { protectedRefs, granted }: TracesWanted): Trace[] {
  return readGrants(site.commonDir, "update").flatMap(({ ref, said }) => {
    if (!protectedRefs.includes(ref)) return [];
    if (granted.some((one) => `${one.old} ${one.new} ${one.ref}` === said)) return [];
    return [{ code: "leftover_grant", where: ref, said }];
  });
}

function unlocks(site: Site, { open }: TracesWanted): Trace[] {
  return readGrants(site.commonDir, "unlock").flatMap(({ ref, said }) => {
    const { until, record } = unlockIn(said);
    const known = open.find((one) => one.ref === ref && one.id === record);
    if (known && Date.parse(known.until) === until) return [];
    return [{ code: "forged_unlock", where: ref, said }];
  });
}

/** The guard knows a branch that is not there any more. */
async function deleted(git: HistoryGit): Promise<Trace[]> {
  const out = await git.must(["for-each-ref", "--format=%(refname)", "refs/heads/"]);
  const refs = new Set(out.split("\n"));
  return readGuardedTips(git.site.commonDir)
    .filter((one) => !refs.has(one.ref) && /[1-9a-f]/.test(one.allowed))
    .map((one) => ({ code: "branch_deleted", where: one.ref, said: "" }));
}

/** Where the branch is elsewhere than it was, that alone is told. */
function rewritten(commonDir: string, refs: readonly string[]): Trace[] {
  const isWhere = (ref: string) => readGuardedTips(commonDir).find((one) => one.ref === ref)?.was;
  return refs
    .filter((ref) => isRewritten(commonDir, ref) && tipOf(commonDir, ref) === isWhere(ref))
    .map((ref) => ({ code: "ref_rewritten", where: ref, said: "" }));
}
