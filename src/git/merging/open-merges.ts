import { createHash, randomBytes } from "node:crypto";
import { relative } from "node:path";
import { tryAcquire } from "../../files/intent-lock.ts";
import { pause } from "../../files/pause.ts";
import { parseIdentity, printIdentity, seeProcesses } from "../../files/process-identity.ts";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { TELL_GIT_WHO } from "../../model/git-identity.ts";
import type { BranchMove, Merges, Purpose, Settled, Undertaking } from "../../ports/merges.ts";
import type { CheckRun } from "../../ports/ports.ts";
import type { Site, Sites } from "../../ports/sites.ts";
import { expectGit, Git } from "../run-git.ts";
import { involvedCheckouts } from "./checkouts.ts";
import { type Journal, JournalFile, journalsIn, type RepositoryStep } from "./journal.ts";
import { complete, hold, letGo, partsOf, takeBack } from "./settling.ts";
import { waitForChildren } from "./stale-locks.ts";
import { treeWithFile } from "./tree-with-file.ts";
import { tryOut } from "./try-out.ts";
import { JournaledMoves } from "./undertaking.ts";

export interface MergesSetup {
  env: Environment;
  sites: Sites;
  /** Where the journals are: about this machine only. */
  folder: string;
  /** Completes changes of the records that were decided by somebody who was killed: what they say decides here. */
  settleRecords(): Promise<void>;
  runCheck(argv: readonly string[], cwd: string, policy: Readonly<Record<string, string>>): Promise<CheckRun>;
}

const PATIENCE_MS = 60_000;

export function openMerges(setup: MergesSetup): Merges {
  const { env, folder } = setup;
  const at = (site: Site) => Git.of("quiet", env, site.commonDir);
  const lock = `${folder}.lock`;
  return {
    async merge(site, ours, theirs) {
      const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
      const { code, out, err } = await at(site).ask(args);
      const [tree = "", ...conflicts] = out.split("\0").filter((field) => field !== "");
      if (code === 0) return { tree };
      return { conflicts: code === 1 ? [...new Set(conflicts)] : [], said: err.trim() };
    },
    withFile: (site, id, path, text) => treeWithFile(at(site), id, path, text),
    commit: (site, what) => commit(at(site), site, what),
    checkIdentity: (site) => checkIdentity(at(site), site),
    diffDigest: (site, from, to) =>
      digestOf(at(site), [
        "diff-tree",
        "-r",
        "-p",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        from,
        to,
      ]),
    begin: (name, purpose, reflog, moves) => begin(setup, name, { purpose, reflog, moves }),
    async exclusively(act) {
      for (const started = Date.now(); ; await pause(20 + Math.random() * 60)) {
        const release = tryAcquire(lock);
        if (release) return holding(release, act);
        if (Date.now() - started > PATIENCE_MS) throw busy(lock);
      }
    },
    async ifNobodyElse(act) {
      const release = tryAcquire(lock);
      return release && holding(release, act);
    },
    settle: (say) => settleAll(setup, say),
    tryOut: (site, id, near, { commands, env }) =>
      tryOut(at(site), id, near, commands, (argv, cwd) => setup.runCheck(argv, cwd, env)),
  };
}

/** sha256 of what git prints, however long it is. */
function digestOf(git: Git, args: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  const child = git.start(args);
  child.stdin.end();
  return new Promise((done, fail) => {
    let err = "";
    child.stdout.on("data", (chunk) => hash.update(chunk));
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    child.on("error", fail);
    child.on("close", (code) => {
      if (code === 0) return done(hash.digest("hex"));
      try {
        expectGit({ code: code ?? 128, out: "", err }, "The difference could not be read");
      } catch (error) {
        fail(error as Error);
      }
    });
  });
}

async function holding<T>(release: () => void, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } finally {
    release();
  }
}

async function begin(
  { env, sites, folder }: MergesSetup,
  name: string,
  plan: { purpose: Purpose; reflog: string; moves: readonly BranchMove[] },
): Promise<Undertaking> {
  const repos = plan.moves.map(({ site, branch, old, new: fresh }): RepositoryStep => {
    const inside = (gitDir: string) => relative(site.commonDir, gitDir).replaceAll("\\", "/") || ".";
    const checkouts = involvedCheckouts(site, branch).checkouts.map(({ gitDir }) => ({
      gitDir: inside(gitDir),
      token: `${name}-${randomBytes(6).toString("hex")}`,
      writing: false,
    }));
    return { name: site.name, branch, old, new: fresh, head: checkouts[0]?.gitDir ?? ".", checkouts };
  });
  const journal: Journal = {
    version: 1,
    purpose: plan.purpose,
    reflog: plan.reflog,
    owner: printIdentity(seeProcesses().self),
    children: [],
    started: Date.now(),
    decided: false,
    repos,
  };
  const file = new JournalFile(folder, name);
  const settling = { env, journal, parts: partsOf(env, sites, journal), name };
  await hold(settling);
  file.write(journal, "begun");
  return new JournaledMoves(file, settling);
}

/** Whoever holds the lock knows that nobody alive is working on a journal, but for a holder that lost the lock. */
async function settleAll(
  { env, sites, folder, settleRecords }: MergesSetup,
  say: (line: string) => void,
): Promise<Settled[]> {
  const settled: Settled[] = [];
  const files = journalsIn(folder);
  if (files.length > 0) await settleRecords();
  for (const file of files) {
    const journal = file.read();
    const owner = parseIdentity(journal.owner);
    const own = owner?.pid === process.pid;
    if (owner && !own && seeProcesses().livenessOf(owner) === "alive") continue;
    await waitForChildren(journal, say);
    const settling = { env, journal, parts: partsOf(env, sites, journal), name: file.name };
    const { outcome, notes } = journal.decided
      ? await complete(settling)
      : { outcome: "undone" as const, notes: await takeBack(settling) };
    const close = async () => {
      await letGo(settling);
      file.remove();
    };
    settled.push({ purpose: journal.purpose, outcome, notes, close });
  }
  return settled;
}

async function checkIdentity(git: Git, site: Site): Promise<void> {
  const named = await git.ask(["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]);
  if (named.code === 0) return;
  throw new Failure("refused", "no_identity", `Git does not know who you are in ${site.name}.`, {
    hint: TELL_GIT_WHO,
    details: { repo: site.name },
  });
}

/** Never signed: a signature would ask for a passphrase in the middle of it, and the approval's record is the proof. */
async function commit(
  git: Git,
  site: Site,
  { tree, parents, message }: { tree: string; parents: string[]; message: string },
): Promise<string> {
  await checkIdentity(git, site);
  const args = ["commit-tree", "--no-gpg-sign", tree, ...parents.flatMap((parent) => ["-p", parent])];
  return git.expect("The merge could not be created", args, message);
}

function busy(lock: string): Failure {
  return new Failure(
    "conflict",
    "approval_busy",
    "Another approval or refresh has been running for a minute.",
    {
      hint: "Let it finish, then run the command again.",
      details: { dir: lock },
    },
  );
}
