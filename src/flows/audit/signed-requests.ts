import { explainer, isWrong } from "../../judge/audit/classify.ts";
import { judgeMove, type Signed } from "../../judge/keys.ts";
import type { Approval } from "../../model/records/run.ts";
import { requestStatement } from "../../model/statement.ts";
import type { CommitFact, Known, SignedRequest } from "../../ports/audit-facts.ts";
import type { Audits } from "../../ports/audits.ts";
import type { KeysLine } from "./keys-line.ts";
import type { Subject } from "./subject.ts";

/** What a human signed for one target branch of a pull request. */
interface Request {
  record: Approval;
  ref: string;
  head: string;
  tree: string;
}

/**
 * Adds the commits that hosts made from signed requests: a merge of the signed head, or one squashed commit,
 * with exactly the tree that merging the head gives. A request explains only the oldest such commit. `line`
 * has all commits of the branch, newest first.
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

/** Keyed by what was signed: a copied record is not a second request. */
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

/**
 * Requests that the commit could come from; first those whose signed tree it has, as when the base did not
 * move.
 */
const likelyFirst = (open: ReadonlyMap<string, Request[]>, { parents, tree }: CommitFact) =>
  [...open]
    .flatMap(([name, requests]) => requests.map((one): [string, Request] => [name, one]))
    .filter(([, one]) => parents.length === 1 || (parents.length === 2 && parents[1] === one.head))
    .sort(([, one], [, other]) => Number(other.tree === tree) - Number(one.tree === tree));

/**
 * The signature that explains the commit; or why not, if the request is clearly meant; undefined if it is
 * not.
 */
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
  // A commit that only the remote has cannot be examined.
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
  // A head that the branch already has is not merged again, and an empty commit fulfils no request.
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
  // The record may claim any id for this repository, so the statement uses the one that the branch knows.
  const isOwn = (one: (typeof repos)[number]) => names.has(one.name) && one.ref === ref;
  const approval = requestStatement({
    uid,
    receipt,
    repos: repos.map((one) => (isOwn(one) ? { ...one, id: before.id } : one)),
  });
  const move = { ref, old: parents[0] ?? "", new: id, uid, signatures, approval };
  return judgeMove(move, before, after, checkSignature);
}
