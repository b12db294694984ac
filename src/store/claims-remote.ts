import { readBlobs } from "../git/cat-file.ts";
import { lastWords, type Transfer, transfer, unreachable, whyNotPushed } from "../git/transfer.ts";
import { CLAIMS, claimRef, claimText, readClaim } from "../model/claim.ts";
import { Failure } from "../model/failure.ts";
import { step } from "../model/steps.ts";
import type { ClaimPush, ClaimPushed, FoundClaim } from "../ports/claims.ts";
import type { Site } from "../ports/sites.ts";
import { callFor } from "./state/remote-branch.ts";
import { gitOf, type StateRepository } from "./state/state-basics.ts";

/** Which remote, reached by whose settings, and who hears how far it is. */
export interface At {
  repo: StateRepository;
  site: Site;
  remote: string;
  progress: Transfer["progress"];
}

/** Whoever wants to begin does not wait long for a remote that says nothing. */
const PATIENCE_SECONDS = 10;
/** A claim may change between being listed and being fetched. */
const TRIES = 4;
const IS_TASK = /^T\d{4,}$/;

const callAt = ({ repo, site, remote, progress }: At, options: string[] = []): Transfer => ({
  ...callFor(repo, site, remote, progress),
  patienceSeconds: PATIENCE_SECONDS,
  options,
});

/** All claims that the remote has. Nothing of it is kept under a name here, so that nobody waits for a lock. */
export async function lookAtClaims(at: At): Promise<FoundClaim[]> {
  const { repo, remote } = at;
  for (let tries = 1; ; tries++) {
    const listed = await transfer("ls-remote", remote, [`${CLAIMS}*`], callAt(at));
    if (!listed.ok) throw unreachable(remote, listed.said);
    const rows = readRows(listed.out);
    const missing = await missingOf(repo, rows);
    if (missing.length === 0 || tries === TRIES) return readAll(repo, rows, missing);
    const options = ["--no-tags", "--no-write-fetch-head", "--refmap=", "--no-filter"];
    const refs = missing.map((one) => claimRef(one.task));
    await transfer("fetch", remote, refs, callAt(at, options));
  }
}

export async function pushClaim(at: At, { task, old, claim }: ClaimPush): Promise<ClaimPushed> {
  const { repo, remote } = at;
  const commit = claim && (await makeCommit(repo, claimText(claim)));
  const ref = claimRef(task);
  const options = [`--force-with-lease=${ref}:${old ?? ""}`];
  step("claim push");
  const done = await transfer("push", remote, [`${commit ?? ""}:${ref}`], callAt(at, options));
  if (done.ok || (commit === undefined && /remote ref does not exist/.test(done.said)))
    return { ok: true, commit };
  const reason = whyNotPushed(done.said);
  if (reason === "rejected") return { ok: false };
  if (reason === "unreachable") throw unreachable(remote, done.said);
  throw new Failure(
    "unavailable",
    "claim_refused",
    `${remote} does not accept claims: ${lastWords(done.said)}`,
    {
      hint: `Make sure you can push to ${CLAIMS}.`,
      details: { remote, said: done.said.slice(-2000) },
    },
  );
}

function readRows(listed: string): { task: string; commit: string }[] {
  return listed.split("\n").flatMap((line) => {
    const [commit = "", ref = ""] = line.split("\t");
    const task = ref.trim().slice(CLAIMS.length);
    return ref.startsWith(CLAIMS) && IS_TASK.test(task) ? [{ task, commit }] : [];
  });
}

async function missingOf<T extends { commit: string }>(repo: StateRepository, rows: T[]): Promise<T[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((one) => `${one.commit}\n`).join("");
  const { out } = await gitOf(repo).ask(["cat-file", "--batch-check"], ids);
  const answers = out.split("\n");
  return rows.filter((_, nth) => / missing$/.test(answers[nth] ?? ""));
}

async function readAll(
  repo: StateRepository,
  rows: readonly { task: string; commit: string }[],
  missing: readonly { commit: string }[],
): Promise<FoundClaim[]> {
  const there = rows.filter((one) => !missing.some(({ commit }) => commit === one.commit));
  if (rows.length === 0) return [];
  const texts = await readBlobs(
    gitOf(repo),
    "The claims could not be read",
    there.map((one) => one.commit),
  );
  return rows.map(({ task, commit }) => {
    const text = texts.get(commit)?.toString("utf8") ?? "";
    // The message follows the first empty line of a commit.
    return { task, commit, claim: readClaim(task, text.slice(text.indexOf("\n\n"))) };
  });
}

/** Without files and without a parent, so that nothing else travels with it. */
async function makeCommit(repo: StateRepository, text: string): Promise<string> {
  const git = gitOf(repo);
  const what = "The claim could not be written";
  const tree = await git.expect(what, ["mktree"]);
  return git.expect(what, ["commit-tree", "--no-gpg-sign", tree], text);
}
