import { type Explained, isWrong } from "../../judge/audit/classify.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import { plural } from "../../model/text.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Site } from "../../ports/sites.ts";
import { confirmTyped } from "../human-only.ts";
import { signMove } from "../trust/sign.ts";
import { auditRepository } from "./audit-repository.ts";
import { readLedger, withHistory } from "./ledger.ts";
import { closeWithMoves, newUnlock } from "./open-unlock.ts";
import { subjectHere } from "./subject-here.ts";

/**
 * The commits of a branch that nothing explains, newest first. `ask`: remotes are asked, and may explain some
 * of them.
 */
export async function unexplained(hands: Hands, site: Site, ref: string, ask: boolean): Promise<Explained[]> {
  const ledger = await withHistory(hands, site, await hands.look((reader) => readLedger(reader)));
  const { branches } = await auditRepository(hands, await subjectHere(hands, site, ledger, ask), ref);
  return branches.filter((one) => one.ref === ref).flatMap((one) => one.commits.filter(isWrong));
}

/**
 * A human accepts for good what a branch has now. It leaves the same record as an unlock, with one move that
 * covers all of it. Meant for commits from before the clone was guarded, and for anything else a human has
 * looked at.
 */
export async function acceptCommits(
  hands: Hands,
  site: Site,
  branch: string,
  { reason, signWith }: { reason: string; signWith: string | undefined },
): Promise<Unlock> {
  const ref = refOfBranch(branch);
  const wrong = await unexplained(hands, site, ref, true);
  const [newest, oldest] = [wrong[0]?.commit, wrong.at(-1)?.commit];
  if (!newest || !oldest)
    throw new Failure("refused", "nothing_to_accept", `Everything on ${branch} is already explained.`);
  for (const { commit } of wrong) hands.say(`${commit.id.slice(0, 12)} ${commit.author}: ${commit.subject}`);
  const what = `${plural(wrong.length, "commit")} that nobody approved`;
  await confirmTyped(hands, `Type ${branch} to accept ${what}: `, branch);
  const old = oldest.parents[0] ?? "0".repeat(oldest.id.length);
  const signing = await signMove(hands, site, { ref, old, new: newest.id }, signWith);
  const until = (await hands.git.locks()).later(0);
  const said = [`accepted afterwards: ${what}`, reason].filter(Boolean).join(". ");
  const { data } = await hands.record(
    (reader, at) =>
      newUnlock(reader, at, { ref, tip: old, until, reason: said, repo: site.name, ...signing }),
    { phase: "before", milestone: `accept ${what} on ${branch}` },
  );
  await closeWithMoves(hands, data.unlock.id, [{ old, new: newest.id }]);
  return { ...data.unlock, status: "closed", moves: [{ old, new: newest.id }] };
}
