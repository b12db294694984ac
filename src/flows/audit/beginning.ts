import { explainer } from "../../judge/audit/classify.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import { keysLine } from "./keys-line.ts";
import { mergesOf } from "./ledger.ts";
import { baselineFor, type OneBaseline, recordedRefs } from "./one-baseline.ts";
import { withoutRemoved } from "./removed-keys.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import type { Subject } from "./subject.ts";

/** Where the history of a branch begins to need explanations of its own, and by which signatures it is judged. */
export interface Beginning {
  baseline: OneBaseline;
  subject: Subject;
}

/** A branch's own line, newest first, with the place of each commit in it. */
type Line = ReadonlyMap<string, number>;

/**
 * A protected branch that came into being under the guard begins with a commit that an older one has been at: one of
 * that branch's own line, never one that it merely merged. It begins no later than where its own records found it: how
 * far it went on from there is for them to explain, although another branch has the same commits.
 */
export async function beginningOf(
  audits: Audits,
  subject: Subject,
  branch: Pick<BranchTip, "ref" | "tip">,
  branches: readonly BranchTip[],
): Promise<Beginning> {
  const { ref, tip } = branch;
  const found = await baselineFor(audits, subject, ref, tip);
  const recorded = recordedRefs(subject);
  if (recorded.has(ref) || recorded.size === 0) return { baseline: found, subject };
  const ids = await audits.ids(subject.site, { tip, without: [] });
  const line: Line = new Map(ids.map((id, place) => [id, place]));
  const checkSignature = await withoutRemoved(audits, subject, ref, line, branches);
  const judging = { ...subject, checkSignature };
  const fork = await forkOf(audits, subject, line, branches);
  const made = fork && (await madeFromLater(audits, judging, branch, fork, branches));
  const places = [made, ...ownBeginnings(audits, subject, ref)].flatMap((id) => line.get(id ?? "") ?? []);
  const begin = fork && ids[Math.max(...places)];
  const shared = Math.max(...[fork?.commit, begin].map((id) => line.get(id ?? "") ?? 0));
  const born = { from: fork?.ref, at: fork && ids[shared] };
  const commits = begin === undefined ? [] : [begin];
  return { baseline: { ...found, commits, late: [], from: "recorded", born }, subject: judging };
}

interface Fork {
  /** The older branch, and the newest commit that both lines have. */
  ref: string;
  commit: string;
}

async function forkOf(
  audits: Audits,
  subject: Subject,
  line: Line,
  branches: readonly BranchTip[],
): Promise<Fork | undefined> {
  const found: (Fork & { place: number })[] = [];
  for (const { ref, tip } of await olderTips(audits, subject, branches))
    for (const commit of await audits.ids(subject.site, { tip, without: [] })) {
      const place = line.get(commit);
      if (place === undefined) continue;
      found.push({ ref, commit, place });
      break;
    }
  return found.sort((one, other) => one.place - other.place)[0];
}

/** The branches that were there when the guard came; what trusted remotes have of them is judged with these. */
async function olderTips(
  audits: Audits,
  { site, ledger, names, manner, remotes }: Subject,
  branches: readonly BranchTip[],
): Promise<{ ref: string; tip: string }[]> {
  const recorded = recordedRefs({ ledger, names });
  const found = branches.filter((one) => recorded.has(one.ref)).map(({ ref, tip }) => ({ ref, tip }));
  if (manner.view !== "here") return found;
  for (const { name } of remotes.filter((one) => one.standing === "trusted"))
    for (const ref of recorded) {
      const tip = await audits.resolve(site, ref.replace(/^refs\/heads\//, `refs/remotes/${name}/`));
      if (tip !== undefined) found.push({ ref, tip });
    }
  return found;
}

/** Where the branch was by its own records, and where the guard of this clone saw it begin. */
function ownBeginnings(audits: Audits, { site, ledger, names, manner }: Subject, ref: string): string[] {
  const merges = mergesOf(ledger, names, ref).filter((one) => one.status === "merged");
  const unlocks = ledger.unlocks.filter((one) => one.ref === ref && names.has(one.repo ?? ""));
  const created = manner.view === "here" ? audits.passed(site) : [];
  return [
    ...merges.map((one) => one.onto ?? one.old),
    ...unlocks.flatMap((one) => (one.status === "closed" ? (one.moves[0]?.old ?? []) : [])),
    ...created.filter((one) => one.ref === ref && one.why === "created").map((one) => one.new),
  ];
}

/** It may have been made from a branch that is itself a later one: as far as the records of that one explain it. */
async function madeFromLater(
  audits: Audits,
  subject: Subject,
  { ref, tip }: Pick<BranchTip, "ref" | "tip">,
  { commit }: Fork,
  branches: readonly BranchTip[],
): Promise<string> {
  const recorded = recordedRefs(subject);
  const { site, ledger, names } = subject;
  const others = branches.map((one) => one.ref).filter((one) => one !== ref && !recorded.has(one));
  const unlocks = ledger.unlocks.filter(
    (one) => others.includes(one.ref) && names.has(one.repo ?? "") && one.status === "closed",
  );
  const approved = others.filter((one) => mergesOf(ledger, names, one).length > 0);
  if (commit === tip || approved.length + unlocks.length === 0) return commit;
  const commits = await audits.history(site, { tip, without: [commit] });
  const line = await keysLine(audits, subject, { tip, without: [commit], commits });
  const approvals = [];
  for (const one of approved) approvals.push(...(await signedMerges(audits, subject, line, one)));
  const { unlocked, rejected } = await unlockedCommits(audits, subject, line, unlocks, [commit]);
  const known = { baseline: new Set<string>(), approvals, unlocked, rejected };
  const tell = explainer({ ...known, remote: new Map(), unapproved: new Map() });
  let last = commit;
  for (const one of commits.toReversed()) {
    if (tell(one).class === "unexplained") break;
    last = one.id;
  }
  return last;
}
