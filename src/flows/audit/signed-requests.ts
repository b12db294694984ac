import { explainer, isWrong } from "../../judge/audit/classify.ts";
import { judgeMove, type Signed } from "../../judge/keys.ts";
import type { Approval } from "../../model/records/run.ts";
import { requestStatement } from "../../model/statement.ts";
import type { CommitFact, Known, SignedRequest } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { KeysLine } from "./keys-line.ts";
import type { Subject } from "./subject.ts";

/** What a human signed of one branch that a pull request goes to. */
interface Request {
  record: Approval;
  ref: string;
  head: string;
  tree: string;
}

/**
 * Adds what hosts made of signed requests: a merge of the signed head, or one commit instead of it, with exactly the tree
 * that merging it gives. The oldest such commit is what a request explains; no later one is. `line` has all commits of
 * the branch, the newest first.
 */
export async function withRequests(
  audits: Audits,
  subject: Subject,
  keys: KeysLine,
  ref: string | undefined,
  line: readonly CommitFact[] | (() => Promise<CommitFact[]>),
  known: Known,
): Promise<Known> {
  const open = requestsIn(subject, ref);
  if (open.size === 0) return known;
  const signedRequests = new Map<string, SignedRequest>();
  const rejected = new Map(known.rejected);
  const tell = explainer(known);
  const commits = typeof line === "function" ? await line() : line;
  for (const commit of commits.toReversed()) {
    if (signedRequests.has(commit.id) || !isWrong(tell(commit))) continue;
    for (const [name, request] of likelyFirst(open, commit)) {
      const told = await judgeRequest(audits, subject, keys, commit, request);
      if (typeof told === "string") rejected.set(commit.id, `${request.record.id} ${told}.`);
      if (typeof told !== "object") continue;
      signedRequests.set(commit.id, told);
      rejected.delete(commit.id);
      open.delete(name);
      break;
    }
  }
  return { ...known, rejected, signedRequests };
}

/** Each by what was signed: a copy of a record is not a second request. */
function requestsIn({ ledger, names }: Subject, ref: string | undefined): Map<string, Request[]> {
  const found = new Map<string, Request[]>();
  for (const record of ledger.approvals.filter((one) => one.status === "requested"))
    for (const one of record.repos)
      if (names.has(one.name) && (ref === undefined || one.ref === ref)) {
        const name = `${record.uid} ${one.ref}`;
        found.set(name, [...(found.get(name) ?? []), { record, ...one }]);
      }
  return found;
}

/** Those that could be meant, the one first whose tree a base that did not move gives. */
const likelyFirst = (open: ReadonlyMap<string, Request[]>, { parents, tree }: CommitFact) =>
  [...open]
    .flatMap(([name, requests]) => requests.map((one): [string, Request] => [name, one]))
    .filter(([, one]) => parents.length === 1 || (parents.length === 2 && parents[1] === one.head))
    .sort(([, one], [, other]) => Number(other.tree === tree) - Number(one.tree === tree));

/** Whose signature explains the commit, or why not where the request is clearly meant; undefined where it is not. */
async function judgeRequest(
  audits: Audits,
  subject: Subject,
  keys: KeysLine,
  commit: CommitFact,
  request: Request,
): Promise<SignedRequest | string | undefined> {
  const { site } = subject;
  const { head, tree, record } = request;
  const [onto = ""] = commit.parents;
  // What a remote has and nobody fetched cannot be looked at.
  if ((await audits.resolve(site, commit.id)) === undefined) return undefined;
  const isMeant = commit.parents.length === 2 || commit.tree === tree;
  const signed = await judgeSigned(subject, keys, commit, request);
  if (!signed.ok) return isMeant ? `asks for it, but ${signed.why}` : undefined;
  if (!signed.by) return undefined;
  if ((await audits.resolve(site, head)) === undefined)
    return isMeant ? `asks for it, but its commit ${head.slice(0, 12)} is not here; fetch it` : undefined;
  if ((await audits.mergedTree(site, onto, head)) !== commit.tree)
    return isMeant
      ? `asks for it, but its content is not what merging ${head.slice(0, 12)} gives`
      : undefined;
  // What the branch had already is not merged once more, and an empty commit is not a request.
  if (await audits.contains(site, onto, head)) return undefined;
  return { id: record.id, signed: signed.by };
}

async function judgeSigned(
  { names, checkSignature }: Subject,
  keys: KeysLine,
  { id, parents }: CommitFact,
  { record, ref }: Request,
): Promise<Signed> {
  const [before, after] = [await keys.at(parents[0]), await keys.at(id)];
  const { uid = "", receipt, repos, signatures } = record;
  // Whatever the record says of this repository's own name: it has to be the one that the branch knows.
  const isOwn = (one: (typeof repos)[number]) => names.has(one.name) && one.ref === ref;
  const approval = requestStatement({
    uid,
    receipt,
    repos: repos.map((one) => (isOwn(one) ? { ...one, id: before.id } : one)),
  });
  const move = { ref, old: parents[0] ?? "", new: id, uid, signatures, approval };
  return judgeMove(move, before, after, checkSignature);
}
