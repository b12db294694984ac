import { isBlob } from "../git/blobs.ts";
import type { Place } from "../git/discover.ts";
import { grantMove, withdrawMove } from "../git/grants.ts";
import { nothingLike } from "../git/object-ids.ts";
import { operationIn } from "../git/unfinished-operation.ts";
import { Failure } from "../model/failure.ts";
import { TELL_GIT_WHO } from "../model/git-identity.ts";
import { branchOfRef } from "../model/naming.ts";
import { LEDGER_FILE } from "../model/paths.ts";
import { step } from "../model/steps.ts";
import type { CommitLook, PreparedCommit } from "../ports/installation.ts";
import { parseLedger } from "./plan/ledger.ts";
import type { Look } from "./plan/look.ts";
import { planFiles } from "./plan/plan-files.ts";
import { plainText } from "./plan/steps.ts";
import type { Wanted } from "./plan/wanted.ts";
import type { GitEntry, TreeGit } from "./tree-git.ts";

/** Whether a commit could be made here, and on which branch; asked before anything is written. */
export function lookAtCommit(place: Place, git: TreeGit): CommitLook {
  const ref = git.ask(["symbolic-ref", "-q", "HEAD"]).out.trim() || undefined;
  const branch = ref?.startsWith("refs/heads/") ? branchOfRef(ref) : undefined;
  const tip = git.ask(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).out.trim() || undefined;
  const look = { branch, ref, tip };
  const refuse = (code: string, message: string, hint: string) => ({
    ...look,
    obstacle: { code, message, hint },
  });
  if (branch === undefined)
    return refuse(
      "detached",
      "No branch is checked out here, so nothing can be committed.",
      "git switch <branch>",
    );
  const busy = operationIn(place.gitDir)?.what;
  if (busy)
    return refuse(
      "operation_in_progress",
      `There is ${busy} in progress here.`,
      "Finish it first, or leave out --commit.",
    );
  const who = git.ask(["var", "GIT_COMMITTER_IDENT"]);
  if (who.code !== 0) return refuse("no_identity", "Git does not know who you are.", TELL_GIT_WHO);
  if (git.ignored([LEDGER_FILE]).size > 0)
    return refuse(
      "ignored",
      `${LEDGER_FILE} is ignored by this project's .gitignore.`,
      "Remove .pawl from it first.",
    );
  return { ...look, obstacle: undefined };
}

export function isCommitted(git: TreeGit, ledger: Look): boolean {
  const committed = git.ask(["rev-parse", "-q", "--verify", `HEAD:${ledger.real}`]).out.trim();
  return ledger.text !== undefined && isBlob(committed, plainText(ledger.text));
}

export interface CommitWanted {
  git: TreeGit;
  look: CommitLook;
  /** Everything that is installed and in the ledger. */
  wanted: readonly Wanted[];
  /** Paths that are not to be taken out, whether they are committed with the rest or not. */
  stays: ReadonlySet<string>;
  /** What the tree has now: where links lead, and which text the ledger has. */
  disk(path: string): Look;
  force: boolean;
  version: string;
}

/** Our edit of what a commit, or the index, has: the user's own changes stay where they are. */
function editsOf(
  { git, wanted, stays, disk, force }: CommitWanted,
  entries: ReadonlyMap<string, GitEntry>,
): Map<string, Uint8Array | undefined> {
  const textAt = (path: string) => {
    const entry = entries.get(path);
    return entry && git.text(entry);
  };
  const look = (path: string): Look => {
    const { real, blocked } = disk(path);
    const entry = entries.get(real);
    const text = textAt(real);
    const bytes = text === undefined ? entry && git.bytes(entry) : Buffer.from(text, "utf8");
    const foreign = entry !== undefined && (bytes === undefined || !entry.mode.startsWith("100"));
    return {
      path,
      real,
      text,
      bytes,
      missing: [],
      blocked: blocked ?? (foreign ? "is committed in a different form" : undefined),
    };
  };
  const ledgerText = textAt(disk(LEDGER_FILE).real);
  const ledger =
    ledgerText === undefined ? undefined : parseLedger(ledgerText, `the committed ${LEDGER_FILE}`);
  const steps = planFiles({ wanted, ledger, look, kept: () => undefined, force, lenient: true });
  const edits = new Map<string, Uint8Array | undefined>();
  const counted = steps.filter((each) => each.do !== "remove" || !stays.has(each.path));
  for (const one of counted.flatMap((each) => each.changes ?? [])) edits.set(one.path, one.after);
  const now = disk(LEDGER_FILE);
  if (now.text !== undefined && now.text !== ledgerText) edits.set(now.real, now.bytes);
  return edits;
}

/** With what the index is to hold for it, and what it held before. */
export interface MadeCommit extends PreparedCommit {
  staged: Map<string, GitEntry | undefined>;
  before: Map<string, GitEntry | undefined>;
}

/** Makes the commit as an object: exactly our files, on top of what the branch has, whatever lies in the tree. */
export function prepareCommit(asked: CommitWanted): MadeCommit | undefined {
  const { git, look, wanted, disk, version } = asked;
  const { branch = "", ref = "", tip } = look;
  const all = [...new Set([...wanted.map((one) => one.path), LEDGER_FILE].map((path) => disk(path).real))];
  const known = ledgerPaths(git, tip, disk);
  const paths = [...new Set([...all, ...known])];
  const head = git.committed(tip, paths);
  const ignored = git.ignored(paths.filter((path) => !head.has(path)));
  const edits = new Map([...editsOf(asked, head)].filter(([path]) => !ignored.has(path)));
  if (edits.size === 0) return undefined;
  const changed = toEntries(git, edits, head);
  const tree = git.treeWith(tip, changed);
  const parents = tip === undefined ? [] : ["-p", tip];
  const signs = git.ask(["config", "--type=bool", "commit.gpgsign"]).out.trim() === "true" ? ["-S"] : [];
  const message = `Install pawl ${version}\n\nMade by \`pawl install --commit\`: exactly the files that it wrote.\n`;
  const commit = git.expect(["commit-tree", ...signs, tree, ...parents], message);
  const index = git.staged(paths);
  return {
    ref,
    branch,
    old: tip,
    commit,
    paths: [...edits.keys()].sort(),
    left: [...ignored].sort().map((path) => ({ path, why: "this project's .gitignore names it" })),
    staged: stagedAfter(asked, { index, head, changed }),
    before: new Map([...changed.keys()].map((path) => [path, index.get(path)])),
  };
}

/** What an earlier version had installed may have to go. */
function ledgerPaths(git: TreeGit, tip: string | undefined, disk: (path: string) => Look): string[] {
  const entry = git.committed(tip, [LEDGER_FILE]).get(LEDGER_FILE);
  const text = entry && git.text(entry);
  if (text === undefined) return [];
  return parseLedger(text, `the committed ${LEDGER_FILE}`).files.map((one) => disk(one.path).real);
}

function toEntries(
  git: TreeGit,
  edits: ReadonlyMap<string, Uint8Array | undefined>,
  before: ReadonlyMap<string, GitEntry>,
): Map<string, GitEntry | undefined> {
  const contents = [...edits].flatMap(([path, bytes]) => (bytes === undefined ? [] : [{ path, bytes }]));
  const ids = git.write(contents.map((one) => one.bytes));
  const written = new Map(contents.map(({ path }, index) => [path, ids[index] ?? ""]));
  return new Map(
    [...edits.keys()].map((path) => {
      const id = written.get(path);
      return [path, id === undefined ? undefined : { mode: before.get(path)?.mode ?? "100644", id }];
    }),
  );
}

/** A path that nobody has staged anything at follows the commit; one with staged changes gets our edit of those. */
function stagedAfter(
  asked: CommitWanted,
  at: {
    index: ReadonlyMap<string, GitEntry>;
    head: ReadonlyMap<string, GitEntry>;
    changed: ReadonlyMap<string, GitEntry | undefined>;
  },
): Map<string, GitEntry | undefined> {
  const isOwn = (path: string) => at.index.get(path)?.id !== at.head.get(path)?.id;
  const own = [...at.changed.keys()].filter(isOwn);
  const result = new Map([...at.changed].filter(([path]) => !own.includes(path)));
  if (own.length === 0) return result;
  const edits = editsOf(asked, at.index);
  const ours = new Map([...edits].filter(([path]) => own.includes(path)));
  for (const [path, entry] of toEntries(asked.git, ours, at.index)) result.set(path, entry);
  return result;
}

/**
 * Stages first and moves the branch then: killed in between, our files are staged and nothing is lost; the other way
 * round the next commit of the user's would take them out again.
 */
export function moveBranch(git: TreeGit, commonDir: string, made: MadeCommit, granted: boolean): void {
  const { ref, commit } = made;
  const old = made.old ?? nothingLike(commit);
  step("install index");
  git.stage(made.staged);
  try {
    if (granted) grantMove(commonDir, { ref, old, new: commit });
    step("install commit");
    const moved = git.ask(["update-ref", "-m", "commit: Install pawl", ref, commit, old]);
    if (moved.code !== 0) throw notMoved(made.branch, moved.err);
  } catch (error) {
    git.stage(made.before);
    throw error;
  } finally {
    if (granted) withdrawMove(commonDir, ref);
  }
}

function notMoved(branch: string, err: string): Failure {
  return new Failure(
    "refused",
    "not_committed",
    `The files were written, but ${branch} could not be moved.`,
    {
      hint: `git said: ${err.trim().slice(0, 400)}`,
      details: { branch },
    },
  );
}
