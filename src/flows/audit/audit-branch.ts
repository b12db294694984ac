import { type AuditedBranch, judgeBranch, type Verdict } from "../../judge/audit/judge.ts";
import { mustSign } from "../../judge/keys.ts";
import type { Standing } from "../../judge/trust.ts";
import { branchOfRef } from "../../model/naming.ts";
import { LEDGER_FILE } from "../../model/paths.ts";
import type { Unlock } from "../../model/records/unlock.ts";
import type {
  BranchAudit,
  CommitFact,
  MoveFact,
  RemoteFact,
  RemoteWord,
  Unapproved,
} from "../../ports/audit-facts.ts";
import type { AskedRemote, Audits, BranchTip, LoggedMove, RemoteAnswer } from "../../ports/audits.ts";
import type { Site } from "../../ports/sites.ts";
import { beginningOf } from "./beginning.ts";
import { keysLine } from "./keys-line.ts";
import type { Baseline } from "./ledger.ts";
import { lostBaseline, lostCommits } from "./lost.ts";
import type { Neighbours } from "./neighbours.ts";
import { afterBaseline, lateCommits, type OneBaseline } from "./one-baseline.ts";
import { withFormerly } from "./signed-formerly.ts";
import { signedMerges, unlockedCommits } from "./signed-records.ts";
import { withRequests } from "./signed-requests.ts";
import { type Chain, type Subject, within } from "./subject.ts";
import { judgeAhead, unapprovedCommits } from "./unapproved.ts";
import { movesWithin, witnessOf } from "./unlocks.ts";

/** Gathers the facts about one protected branch and has them judged. */
export async function auditBranch(
  audits: Audits,
  around: Subject,
  branch: BranchTip,
  neighbours: Neighbours,
): Promise<Verdict & { ahead?: AuditedBranch[] }> {
  const { site, manner } = around;
  const { ref, tip } = branch;
  const { baseline, subject } = await beginningOf(audits, around, branch, neighbours);
  if (baseline.from === "none") return untouched(audits, subject, branch);
  const local = manner.view === "here";
  const commits = await audits.history(site, { tip, without: baseline.commits });
  const chain = { tip, without: baseline.commits, commits };
  const asked = askedRemotes(subject, [tip, ...baseline.commits]);
  const answers = local ? await audits.remotes(site, ref, asked) : [];
  const remote = await fromRemotes(audits, site, chain, answers);
  const line = await keysLine(audits, subject, chain);
  const opened = unlocksOf(audits, subject, ref);
  const approvals = await signedMerges(audits, subject, line, ref);
  const given = await withFormerly(audits, subject, line, ref, { approvals, unlocks: opened });
  const { unlocked, rejected, moves } = await unlockedCommits(
    audits,
    subject,
    line,
    opened,
    baseline.commits,
  );
  const log = local ? audits.log(site, ref) : undefined;
  const kept = { branch, commits, answers, moves };
  const audit: BranchAudit = {
    ref,
    tip,
    standsFor: branch.standsFor,
    commits,
    earlier: (await audits.count(site, tip)) - commits.length,
    moves: local
      ? await followMoves(audits, site, [...movesOf(audits, site, branch, log, baseline)], {
          commits,
          baseline,
          upTo: answers.flatMap((one) => one.upTo ?? []),
        })
      : [],
    remotes: answers,
    unlogged: local && (log === undefined || log.length === 0),
    doubtful: await doubtful(audits, site, chain, answers, remote),
    late: await lateCommits(audits, site, chain, baseline),
    missing: await lostCommits(audits, subject, kept, given),
  };
  const explained = {
    baseline: new Set(baseline.commits),
    approvals,
    unlocked,
    rejected,
    remote,
    requests: subject.ledger.requests,
    unapproved: local
      ? await unapprovedCommits(audits, subject, ref, { chain, remote, baseline, line })
      : new Map<string, Unapproved>(),
  };
  const ahead = answers.flatMap((one) => one.ahead);
  const known = await withRequests(audits, subject, line, ref, [...ahead, ...commits], explained);
  const verdict = judgeBranch(site.name, audit, { known, unlockedMoves: moves });
  const lost = await lostBaseline(audits, subject, kept, baseline);
  return {
    ...verdict,
    branch: { ...verdict.branch, root: describeRoot(verdict.branch, baseline) },
    ahead: judgeAhead(subject, known, answers, mustSign(await line.at(tip))),
    findings: [...verdict.findings, ...lost],
  };
}

/**
 * With no baseline, everything counts as older than pawl, unless the branch itself says that pawl was
 * installed.
 */
export async function untouched(
  audits: Audits,
  subject: Subject,
  { ref, tip, standsFor }: BranchTip,
): Promise<Verdict> {
  const { site, manner } = subject;
  const none = { ref, tip, standsFor, commits: [], moves: [], remotes: [], missing: [] };
  const earlier = await audits.count(site, tip);
  const verdict = judgeBranch(
    site.name,
    { ...none, earlier, unlogged: false, doubtful: new Map(), late: new Set() },
    {
      known: {
        baseline: new Set(),
        approvals: [],
        unlocked: new Map(),
        rejected: new Map(),
        remote: new Map(),
        unapproved: new Map(),
      },
      unlockedMoves: [],
    },
  );
  const where = branchOfRef(ref);
  if (await wasGuarded(audits, subject, tip)) {
    const message = `Its ${LEDGER_FILE} says that pawl guards it, but no record says what it contained before that. ${WAYS_OUT[manner.view]}`;
    return { ...verdict, findings: [{ code: "baseline_gone", repo: site.name, where, message }] };
  }
  const note = `There is no baseline yet: everything on ${where} counts as older than pawl.`;
  return { ...verdict, notes: [...verdict.notes, note] };
}

/**
 * Whether the branch's own files say that pawl was installed with its guard. For a published branch any
 * commit may say so, because whoever deleted the records can delete the file too. A clone without records of
 * its own gets another finding for that.
 */
async function wasGuarded(
  audits: Audits,
  { site, manner, ledger, names }: Subject,
  tip: string,
): Promise<boolean> {
  if (manner.view === "here" && !ledger.repositories.some((one) => names.has(one.id))) return false;
  const told =
    manner.view === "here" ? [tip] : await audits.changing(site, { tip, without: [] }, [LEDGER_FILE]);
  for (const commit of told) if (hasGuard(await audits.fileAt(site, commit, LEDGER_FILE))) return true;
  return false;
}

/** Whether the ledger of what was installed names the guard; skills alone come without one. */
export const hasGuard = (ledger: string | undefined) => /"profile":\s*"all"/.test(ledger ?? "");

const WAYS_OUT = {
  here: "Get the records from the remote: pawl sync. If nobody has them, a human can start over: pawl install",
  published: "Publish the records again from a clone that has them: pawl sync",
};

export async function fromRemotes(
  audits: Audits,
  site: Site,
  chain: Chain,
  answers: readonly RemoteAnswer[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, upTo } of answers)
    if (upTo !== undefined) for (const id of await within(audits, site, chain, upTo)) found.set(id, name);
  return found;
}

/** Commits that remote-tracking refs have but no remote confirms; of several words the strongest is reported. */
async function doubtful(
  audits: Audits,
  site: Site,
  chain: Chain,
  answers: readonly RemoteAnswer[],
  confirmed: ReadonlyMap<string, string>,
): Promise<Map<string, RemoteFact>> {
  const found = new Map<string, RemoteFact>();
  const worth: readonly RemoteWord[] = ["untrusted", "changed", "denied", "unconfirmed", "silent"];
  const open = answers.filter((one) => one.word !== "confirmed");
  for (const one of open.toSorted((a, b) => worth.indexOf(a.word) - worth.indexOf(b.word)))
    for (const id of await within(audits, site, chain, one.believed))
      if (!confirmed.has(id)) found.set(id, one);
  return found;
}

const WORDS: Record<Standing, RemoteWord | undefined> = {
  trusted: undefined,
  unconfirmed: "unconfirmed",
  changed: "changed",
  unlisted: "untrusted",
  never: "untrusted",
  untrusted: "untrusted",
};

/** Only trusted remotes are asked; for the others it is enough to know that they exist. */
export const askedRemotes = ({ remotes, manner }: Subject, beyond: readonly string[]): AskedRemote[] =>
  remotes.map(({ name, standing }) => ({
    name,
    word: WORDS[standing] ?? (manner.ask ? undefined : "silent"),
    beyond,
  }));

/** A closed unlock lists its moves; for one that is still open they are read from this clone's log. */
export function unlocksOf(audits: Audits, { site, names, ledger, manner }: Subject, ref: string): Unlock[] {
  const own = ledger.unlocks.filter((one) => one.ref === ref && names.has(one.repo ?? ""));
  return own.flatMap((one) => {
    if (one.status === "closed") return [one];
    if (manner.view !== "here" || !manner.clones.has(one.clone)) return [];
    const guarded = ledger.repositories.some((each) => each.guarded.includes(one.clone));
    const witness = witnessOf(audits, site, ref, guarded);
    return [{ ...one, moves: movesWithin(audits.log(site, ref) ?? [], one, witness) }];
  });
}

/** The commit from which keys are trusted, and how it got there. */
export function describeRoot({ commits }: AuditedBranch, { root }: OneBaseline): AuditedBranch["root"] {
  if (root === undefined) return undefined;
  const found = commits.find(({ commit }) => commit.id === root);
  return { commit: root, class: found?.class ?? "baseline", ...(found?.by && { by: found.by }) };
}

/** The moves in git's log, those that the log leaves out, and those that only the guard saw. */
function* movesOf(
  audits: Audits,
  site: Site,
  { ref, tip }: BranchTip,
  log: readonly LoggedMove[] | undefined,
  baseline: Baseline,
): Generator<LoggedMove & Pick<MoveFact, "seen">> {
  const seen = audits.guardedTips(site).find((one) => one.ref === ref);
  if (seen && ![seen.was, seen.allowed].includes(tip))
    yield { seen: "guard", old: seen.was, new: tip, time: "", message: "" };
  const isLogged = (move: { old: string; new: string }) =>
    log?.some((one) => one.old === move.old && one.new === move.new) === true;
  for (const { old, new: fresh, why } of audits.passed(site).filter((one) => one.ref === ref))
    if (why !== "created" && !isLogged({ old, new: fresh }))
      yield { seen: "passed", old, new: fresh, time: "", message: why };
  if (log === undefined || log.length === 0) return;
  const begin = afterBaseline(log, baseline);
  let last = log[begin - 1]?.new;
  for (const one of log.slice(begin)) {
    if (last !== undefined && one.old !== last)
      yield { seen: "gap", old: last, new: one.old, time: one.time, message: "" };
    yield { ...one, seen: "log" };
    last = one.new;
  }
  if (last !== undefined && last !== tip) yield { seen: "tip", old: last, new: tip, time: "", message: "" };
}

interface Around {
  commits: readonly CommitFact[];
  baseline: Baseline;
  upTo: readonly string[];
}

/** Most moves lie on the branch's current line, where no git call is needed to know what they brought. */
async function followMoves(
  audits: Audits,
  site: Site,
  moves: readonly (LoggedMove & Pick<MoveFact, "seen">)[],
  { commits, baseline, upTo }: Around,
): Promise<MoveFact[]> {
  const places = new Map(commits.map((one, index) => [one.id, index]));
  const bottom = commits.at(-1)?.parents[0];
  if (bottom !== undefined) places.set(bottom, commits.length);
  const followed: MoveFact[] = [];
  for (const move of moves) {
    const [from, to] = [places.get(move.old), places.get(move.new)];
    if (from !== undefined && to !== undefined && to <= from)
      followed.push({ ...move, forward: true, brought: commits.slice(to, from) });
    else followed.push(await audits.follow(site, move, [...baseline.commits, ...upTo]));
  }
  return followed;
}
