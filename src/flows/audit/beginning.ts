import { explainer } from "../../judge/audit/classify.ts";
import type { Audits, BranchTip } from "../../ports/audits.ts";
import { enrolledTogether } from "./enrolled-together.ts";
import { keysLine } from "./keys-line.ts";
import { mergesOf } from "./ledger.ts";
import type { Neighbours } from "./neighbours.ts";
import { olderKeys, olderTips } from "./older-keys.ts";
import { baselineFor, type OneBaseline, recordedRefs } from "./one-baseline.ts";
import { withoutRemoved } from "./removed-keys.ts";
import { signedMerges, unlockedCommits, wholeMove } from "./signed-records.ts";
import type { Subject } from "./subject.ts";

/** Where a branch's history starts to need explanations of its own, and what its signatures are judged by. */
export interface Beginning {
  baseline: OneBaseline;
  subject: Subject;
}

/** A branch's first-parent line: each commit with its position, newest first. */
type Line = ReadonlyMap<string, number>;

/**
 * A protected branch that was created under the guard begins at a commit on an older branch's own line, never
 * at one that the older branch merely merged. It begins no later than where its own records first saw it:
 * whatever it gained after that they have to explain, even if another branch has the same commits.
 */
export async function beginningOf(
  audits: Audits,
  subject: Subject,
  branch: Pick<BranchTip, "ref" | "tip">,
  { all, older: elders }: Neighbours,
): Promise<Beginning> {
  const { ref, tip } = branch;
  const found = await baselineFor(audits, subject, ref, tip);
  const isFirst = elders.length === 0 && recordedRefs(subject).size === 0;
  if (isFirst || elders.some((one) => one.ref === ref)) return { baseline: found, subject };
  const ids = await audits.ids(subject.site, { tip, without: [] });
  const line: Line = new Map(ids.map((id, place) => [id, place]));
  const checkSignature = await withoutRemoved(audits, subject, ref, line, elders);
  const older = await olderKeys(audits, subject, ref, elders);
  const judging = { ...subject, checkSignature, older };
  const tips = await olderTips(audits, subject, elders);
  const fork = await forkOf(audits, subject, line, tips);
  const made =
    fork &&
    (await madeFromLater(audits, judging, branch, fork, {
      later: all.filter((one) => !elders.includes(one)).map((one) => one.ref),
    }));
  const places = [made, ...ownBeginnings(audits, subject, ref)].flatMap((id) => line.get(id ?? "") ?? []);
  const begin =
    ownRoot(subject, ref, line) ??
    (await enrolledTogether(audits, judging, ref, line, tips)) ??
    (fork && ids[Math.max(...places)]);
  const shared = Math.max(...[fork?.commit, begin].map((id) => line.get(id ?? "") ?? 0));
  const born = { from: fork?.ref, at: fork && ids[shared] };
  const commits = begin === undefined ? [] : [begin];
  return { baseline: { ...found, commits, late: [], from: "recorded", born }, subject: judging };
}

/** A pinned root that its own record brought to this branch: with all keys lost, each branch gets the new one by itself. */
function ownRoot({ roots, ledger, names }: Subject, ref: string, line: Line): string | undefined {
  if (roots === undefined) return undefined;
  const brought = ledger.unlocks
    .filter((one) => one.ref === ref && names.has(one.repo ?? "") && one.status === "closed")
    .map((one) => wholeMove(one)?.new);
  return [...line.keys()].find((id) => roots.includes(id) && brought.includes(id));
}

interface Fork {
  /** The older branch, and the newest commit that both lines share. */
  ref: string;
  commit: string;
}

async function forkOf(
  audits: Audits,
  subject: Subject,
  line: Line,
  tips: readonly { ref: string; tip: string }[],
): Promise<Fork | undefined> {
  const found: (Fork & { place: number })[] = [];
  for (const { ref, tip } of tips)
    for (const commit of await audits.ids(subject.site, { tip, without: [] })) {
      const place = line.get(commit);
      if (place === undefined) continue;
      found.push({ ref, commit, place });
      break;
    }
  return found.sort((one, other) => one.place - other.place)[0];
}

/** Where the branch's own records place it, and where this clone's guard saw it created. */
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

/**
 * The branch may have been made from another late branch: then it begins as far up as that one's records
 * explain.
 */
async function madeFromLater(
  audits: Audits,
  subject: Subject,
  { ref, tip }: Pick<BranchTip, "ref" | "tip">,
  { commit }: Fork,
  { later }: { later: readonly string[] },
): Promise<string> {
  const { site, ledger, names } = subject;
  const others = later.filter((one) => one !== ref);
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
