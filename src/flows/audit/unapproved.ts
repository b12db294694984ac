import { CLASSES, type Class, type Explained, explainer } from "../../judge/audit/classify.ts";
import type { AuditedBranch } from "../../judge/audit/judge.ts";
import { branchOfRef } from "../../model/naming.ts";
import type { Known, Unapproved } from "../../ports/audit-facts.ts";
import type { Audits, RemoteAnswer } from "../../ports/audits.ts";
import type { KeysLine } from "./keys-line.ts";
import type { OneBaseline } from "./one-baseline.ts";
import type { Chain, Subject } from "./subject.ts";
import { wholeSecond } from "./unlocks.ts";

/**
 * Commits that reached a remote against its rules: the policy before them says that the remote is guarded or
 * that decisions are signed, or this very clone pushed them there, which its own hook would have refused.
 */
export async function unapprovedCommits(
  audits: Audits,
  subject: Subject,
  ref: string,
  { chain, remote, baseline, line }: Around,
): Promise<Map<string, Unapproved>> {
  const found = await pushedFromHere(audits, subject, ref, baseline);
  if (remote.size === 0) return found;
  const always = new Set(subject.remotes.filter((one) => one.guarded).map((one) => one.name));
  // A commit is judged by the policy before it, not by the one it brings.
  for (const commit of chain.commits) {
    const by = remote.get(commit.id);
    if (by === undefined) continue;
    const { guarded } = await line.at(commit.parents[0]);
    if (always.has(by) || guarded.has(by)) found.set(commit.id, { remote: by, how: "guarded" });
    else if (await line.needsSignature(commit)) found.set(commit.id, { remote: by, how: "unsigned" });
  }
  return found;
}

interface Around {
  chain: Chain;
  remote: ReadonlyMap<string, string>;
  baseline: OneBaseline;
  line: KeysLine;
}

async function pushedFromHere(
  audits: Audits,
  { site, remotes }: Subject,
  ref: string,
  { commits, at }: OneBaseline,
): Promise<Map<string, Unapproved>> {
  const found = new Map<string, Unapproved>();
  for (const { name } of remotes) {
    const tracking = `refs/remotes/${name}/${branchOfRef(ref)}`;
    for (const move of audits.log(site, tracking) ?? []) {
      if (move.message !== "update by push" || (at !== undefined && move.time < wholeSecond(at))) continue;
      const { brought } = await audits.follow(site, { ...move, seen: "log" }, commits);
      for (const { id } of brought) found.set(id, { remote: name, how: "pushed" });
    }
  }
  return found;
}

/** What a remote's branch has and the local one does not, reported before anybody pulls it. */
export function judgeAhead(
  subject: Subject,
  known: Known,
  answers: readonly RemoteAnswer[],
  signed: boolean,
): AuditedBranch[] {
  const tell = explainer(known);
  return answers.flatMap(({ name, tracking, ahead }): AuditedBranch[] => {
    const guarded = signed || subject.remotes.some((one) => one.name === name && one.guarded);
    const commits = ahead.map(tell).flatMap((one): Explained[] => {
      if (one.class === "unapproved") return [one];
      if (one.class !== "unexplained" || !guarded) return [];
      return [
        explainer({ ...known, unapproved: new Map([[one.commit.id, { remote: name, how: "guarded" }]]) })(
          one.commit,
        ),
      ];
    });
    if (commits.length === 0) return [];
    const counts = Object.fromEntries(CLASSES.map((one) => [one, 0])) as Record<Class, number>;
    counts.unapproved = commits.length;
    return [{ repo: subject.site.name, ref: tracking, tip: ahead[0]?.id ?? "", counts, commits }];
  });
}
