import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { observeSteps } from "../../src/model/steps.ts";
import type { Project } from "../helpers/command-line.ts";
import {
  approveIt,
  gitIn,
  ok,
  type Ready,
  type Said,
  TASK_BRANCH,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { askStateGit, stateOf } from "../helpers/temporary-repository.ts";

/** One way in which an approval is refused: how it comes about, and what it is called. */
export interface Refusal {
  code: string;
  /** What the user did, for the table in the documentation. */
  because: string;
  exit?: number;
  argv?: string[];
  said?: Said;
  provoke(repo: Project, ready: Ready): unknown;
}

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
export const commitIn = (ready: Ready, at: string, path: string, text: string) => {
  put(join(at, path), text);
  gitIn(ready, at, "add", "-A", "--", path);
  gitIn(ready, at, "commit", "-q", "-m", `Change ${path}`);
};
const evidence = (repo: Project) => ok(repo.pawlIn(worktreeOf(repo), {}, "verify", "--", "test", "-d", "."));
export const pass = async (repo: Project) => {
  await evidence(repo);
  await ok(repo.pawl("snapshot", "T1"));
  await ok(repo.pawl("check", "T1", "--stage", "close"));
};

/** A bare repository that `main` is published to, and a colleague's clone of it. */
export function makeRemote(repo: Project, ready: Ready): { remote: string; colleague: string } {
  const [remote, colleague] = [join(ready.root, "remote.git"), join(ready.root, "colleague")];
  gitIn(ready, ready.root, "clone", "-q", "--bare", repo.path, remote);
  repo.git("remote", "add", "origin", remote);
  repo.git("fetch", "-q", "origin");
  gitIn(ready, ready.root, "clone", "-q", remote, colleague);
  return { remote, colleague };
}

export function publish(ready: Ready, colleague: string, path: string, text: string): void {
  commitIn(ready, colleague, path, text);
  gitIn(ready, colleague, "push", "-q", "origin", "HEAD:main");
}

const AT_MAIN: Refusal[] = [
  {
    code: "human_only",
    because: "an agent runs it",
    said: { typed: "T0001", env: { CODEX_SESSION_ID: "s" } },
    provoke() {},
  },
  {
    code: "human_only",
    because: "`--actor` says that it is an agent",
    argv: ["--actor", "agent:x"],
    provoke() {},
  },
  { code: "no_terminal", because: "there is no terminal to type on", said: {}, provoke() {} },
  { code: "not_confirmed", because: "you typed something else", said: { typed: "yes" }, provoke() {} },
  { code: "not_confirmed", because: "you typed only the number", said: { typed: "1" }, provoke() {} },
  {
    code: "not_started",
    because: "the task was not started",
    argv: ["--task", "T2"],
    provoke: (repo) => ok(repo.pawl("task", "new", "Another")),
  },
  {
    code: "task_blocked",
    because: "the task is blocked",
    provoke: (repo) => ok(repo.pawl("task", "update", "T1", "--status", "blocked", "--blocker", "no key")),
  },
  {
    code: "task_dropped",
    because: "the task was dropped",
    provoke: (repo) => ok(repo.pawl("task", "update", "T1", "--status", "dropped")),
  },
  { code: "already_merged", because: "it is merged already", provoke: (_repo, ready) => approveIt(ready) },
];

/** Its fix is in a commit that the branch is about to lose, which would be a reason of its own. */
/** Settled in a way that no commit has to bear out. */
async function withoutFindings(repo: Project): Promise<void> {
  await ok(repo.pawl("finding", "reopen", "T1/F1", "--note", "Seen again"));
  await ok(repo.pawl("finding", "wontfix", "T1/F1", "--note", "Not worth it"));
}

const AT_GATE: Refusal[] = [
  {
    code: "fix_not_in_branch",
    because: "the commit that fixed a finding was rewritten",
    provoke: (repo, ready) => gitIn(ready, worktreeOf(repo), "commit", "-q", "--amend", "-m", "Rewritten"),
  },
  {
    code: "fix_not_in_branch",
    because: "the commit that fixed a finding was reverted",
    provoke: (repo, ready) => gitIn(ready, worktreeOf(repo), "revert", "--no-edit", "HEAD"),
  },
  {
    code: "open_finding",
    because: "a finding is open",
    provoke: (repo) =>
      ok(repo.pawl("finding", "add", "wrong", "--severity", "high", "--kind", "branch", "--task", "T1")),
  },
  {
    code: "dependency_open",
    because: "a task it depends on is not merged",
    async provoke(repo) {
      await ok(repo.pawl("task", "new", "First"));
      await ok(repo.pawl("task", "update", "T1", "--depends", "T2"));
    },
  },
  {
    code: "slice_open",
    because: "a slice is open",
    provoke: (repo) => ok(repo.pawl("slice", "open", "More", "--task", "T1")),
  },
  {
    code: "dirty_worktree",
    because: "the task's worktree has uncommitted files",
    provoke: (repo) => put(join(worktreeOf(repo), "forgotten.txt"), "x"),
  },
  {
    code: "worktree_missing",
    because: "the task's worktree was deleted",
    provoke: (repo) => rmSync(worktreeOf(repo), { recursive: true }),
  },
  {
    code: "branch_missing",
    because: "the task's branch was deleted",
    async provoke(repo) {
      await withoutFindings(repo);
      repo.git("update-ref", "-d", `refs/heads/${TASK_BRANCH}`);
    },
  },
  {
    code: "base_changed",
    because: "the task's base was changed after the close check",
    async provoke(repo) {
      repo.git("branch", "release/1", "main");
      await ok(repo.pawl("task", "update", "T1", "--base", "release/1"));
    },
  },
  {
    code: "base_missing",
    because: "the base branch was renamed",
    provoke: (repo) => repo.git("branch", "-m", "main", "trunk"),
  },
  {
    code: "no_changes",
    because: "the branch adds nothing to the base",
    async provoke(repo, ready) {
      await withoutFindings(repo);
      gitIn(ready, worktreeOf(repo), "reset", "-q", "--hard", "main");
    },
  },
  {
    code: "base_moved",
    because: "the base moved",
    provoke: (repo, ready) => commitIn(ready, repo.path, "other.txt", "x\n"),
  },
  {
    code: "unmergeable",
    because: "the base moved, and the merge would conflict",
    provoke: (repo, ready) => commitIn(ready, repo.path, "src/changed.txt", "quite different\n"),
  },
  {
    code: "check_stale",
    because: "the branch has a commit that was never checked",
    provoke: (repo, ready) => commitIn(ready, worktreeOf(repo), "late.txt", "x\n"),
  },
  {
    code: "check_failed",
    because: "the last check of this tree failed",
    provoke: (repo) => repo.pawlIn(worktreeOf(repo), {}, "verify", "--", "false"),
  },
  {
    code: "review_missing",
    because: "nobody else reviewed it",
    provoke: (repo) => ok(repo.pawl("task", "update", "T1", "--profile", "standard")),
  },
  {
    code: "records_taken_back",
    because: "the branch of the records was taken back with git",
    provoke: (repo) => askStateGit(repo, "reset", "-q", "--hard", "HEAD~1"),
  },
  {
    code: "record_unexplained",
    because: "evidence was written by hand",
    provoke(repo) {
      const proof = join(stateOf(repo), "tasks/T0001/evidence");
      const text = readFileSync(join(proof, "E1.md"), "utf8").replaceAll("T0001/E1", "T0001/E9");
      put(join(proof, "E9.md"), text);
    },
  },
  {
    code: "target_dirty",
    because: "a tracked file in the target's checkout is modified",
    provoke: (repo) => appendFileSync(join(repo.path, "src/kept.txt"), "mine\n"),
  },
  {
    code: "target_dirty",
    because: "something is staged in the target's checkout",
    provoke(repo) {
      put(join(repo.path, "staged.txt"), "mine\n");
      repo.git("add", "staged.txt");
    },
  },
];

const AT_TARGET: Refusal[] = [
  {
    code: "target_dirty",
    because: "a file marked skip-worktree differs, and the merge changes it",
    provoke(repo) {
      repo.git("update-index", "--skip-worktree", "src/changed.txt");
      writeFileSync(join(repo.path, "src/changed.txt"), "my local setting\n");
    },
  },
  {
    code: "target_dirty",
    because: "the same, with assume-unchanged",
    provoke(repo) {
      repo.git("update-index", "--assume-unchanged", "README.md");
      writeFileSync(join(repo.path, "README.md"), "my local setting\n");
    },
  },
  {
    code: "files_in_the_way",
    because: "an untracked file is where the merge adds one",
    provoke: (repo) => put(join(repo.path, "added/new file.txt"), "mine\n"),
  },
  {
    code: "files_in_the_way",
    because: "an ignored file is where the merge adds one",
    provoke(repo) {
      appendFileSync(join(repo.path, ".git/info/exclude"), "added/\n");
      put(join(repo.path, "added/new file.txt"), "mine\n");
    },
  },
  {
    code: "files_in_the_way",
    because: "an untracked file is where the merge needs a folder",
    provoke: (repo) => put(join(repo.path, "added"), "mine\n"),
  },
  {
    code: "files_in_the_way",
    because: "a link is where the merge needs a folder",
    provoke: (repo) => symlinkSync("src", join(repo.path, "added")),
  },
  {
    code: "files_in_the_way",
    because: "an ignored file is in a folder that the merge turns into a file",
    provoke: (repo) => put(join(repo.path, "folder-to-file/my.log"), "mine\n"),
  },
  {
    code: "operation_in_progress",
    because: "a merge is in progress in the target",
    provoke(repo) {
      repo.git("branch", "side");
      repo.git("commit", "-q", "--allow-empty", "-m", "x");
      repo.git(
        "update-ref",
        "refs/heads/side",
        repo.git("commit-tree", "-p", "HEAD~1", "-m", "y", "HEAD^{tree}"),
      );
      repo.git("reset", "-q", "--soft", "HEAD~1");
      repo.git("merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "side");
    },
  },
  ...["CHERRY_PICK_HEAD", "REVERT_HEAD"].map(
    (file): Refusal => ({
      code: "operation_in_progress",
      because: `${file} says that one is in progress`,
      provoke: (repo) => writeFileSync(join(repo.path, ".git", file), `${repo.git("rev-parse", "HEAD")}\n`),
    }),
  ),
  ...["sequencer", "rebase-apply"].map(
    (folder): Refusal => ({
      code: "operation_in_progress",
      because: `the folder ${folder} says that one is in progress`,
      provoke: (repo) => mkdirSync(join(repo.path, ".git", folder)),
    }),
  ),
  {
    code: "operation_in_progress",
    because: "a rebase of the target has stopped, so HEAD is elsewhere",
    provoke: (repo) =>
      execFileSync("git", ["rebase", "-q", "-i", "HEAD~1"], {
        cwd: repo.path,
        env: { ...repo.env, GIT_SEQUENCE_EDITOR: "sed -i 1ibreak" },
        stdio: "pipe",
      }) && undefined,
  },
  {
    code: "operation_in_progress",
    because: "a bisect began on the target",
    provoke: (repo) => void repo.git("bisect", "start", "HEAD", "HEAD~1"),
  },
  {
    code: "index_locked",
    because: "another git has locked the target's index",
    provoke: (repo) => writeFileSync(join(repo.path, ".git/index.lock"), ""),
  },
  {
    code: "sparse_checkout",
    because: "the target is a sparse checkout",
    provoke: (repo) => void repo.git("sparse-checkout", "set", "--no-cone", "/*"),
  },
  {
    code: "checkout_unreachable",
    because: "the target is checked out in a locked worktree that is missing",
    provoke(repo) {
      repo.git("switch", "-q", "-c", "elsewhere");
      repo.git("worktree", "add", "-q", "--lock", `${repo.path} usb`, "main");
      rmSync(`${repo.path} usb`, { recursive: true });
    },
  },
  {
    code: "unsupported_repository",
    because: "the base branch is a symbolic ref to another branch",
    provoke(repo) {
      repo.git("branch", "-q", "real", "main");
      repo.git("symbolic-ref", "refs/heads/main", "refs/heads/real");
    },
  },
  {
    code: "no_identity",
    because: "git has no user.name or user.email",
    provoke: (_repo, ready) => rmSync(join(ready.root, ".gitconfig")),
  },
];

const AT_REMOTE: Refusal[] = [
  { code: "no_remote", because: "`--push`, and there is no remote", argv: ["--push"], provoke() {} },
  {
    code: "remote_unreachable",
    because: "the remote does not answer",
    exit: 2,
    provoke: (repo) => void repo.git("remote", "add", "origin", "/nowhere/at all.git"),
  },
  {
    code: "base_behind_remote",
    because: "a colleague has pushed",
    provoke(repo, ready) {
      publish(ready, makeRemote(repo, ready).colleague, "theirs.txt", "x\n");
    },
  },
  {
    code: "base_diverged",
    because: "a colleague has pushed, and the local base has commits of its own",
    async provoke(repo, ready) {
      const { colleague } = makeRemote(repo, ready);
      repo.git("commit", "-q", "--allow-empty", "-m", "ours");
      await ok(repo.pawl("refresh", "T1"));
      await pass(repo);
      publish(ready, colleague, "theirs.txt", "x\n");
    },
  },
];

/** What happens while the human thinks, or in the very moment of the merge. */
function atStep(name: string, act: () => void): void {
  let done = false;
  observeSteps((step) => {
    if (step !== name || done) return;
    done = true;
    act();
  });
}

const AT_THE_LAST_MOMENT: Refusal[] = [
  {
    code: "base_moved",
    because: "the base moved at the moment of the merge",
    provoke: (repo) =>
      atStep("merge-prepare", () => {
        const other = repo.git("commit-tree", "-p", "main", "-m", "other", "main^{tree}");
        repo.git("update-ref", "refs/heads/main", other);
      }),
  },
  {
    code: "target_dirty",
    because: "you edited a file at the moment of the merge",
    provoke: (repo) =>
      atStep("merge-lock-index", () => writeFileSync(join(repo.path, "src/changed.txt"), "just now\n")),
  },
  {
    code: "files_in_the_way",
    because: "a file got in the way at the moment of the merge",
    provoke: (repo) => atStep("merge-lock-index", () => put(join(repo.path, "added/new file.txt"), "mine\n")),
  },
  {
    code: "index_locked",
    because: "another git locked the index at the moment of the merge",
    provoke: (repo) =>
      atStep("merge-lock-index", () => writeFileSync(join(repo.path, ".git/index.lock"), "")),
  },
  {
    code: "ref_busy",
    because: "another git has locked the branch",
    provoke: (repo) => put(join(repo.path, ".git/refs/heads/main.lock"), `${"1".repeat(40)}\n`),
  },
  {
    code: "hook_refused",
    because: "one of your own hooks refuses",
    provoke(repo) {
      const hook = join(repo.path, ".git/hooks/reference-transaction");
      put(hook, '#!/bin/sh\n[ "$1" != prepared ] || { echo "not today" >&2; exit 1; }\n');
      chmodSync(hook, 0o755);
    },
  },
  {
    code: "approval_taken",
    because: "another approval took its number meanwhile",
    exit: 5,
    provoke: (repo) =>
      atStep("merge-journal begun", () =>
        put(join(stateOf(repo), "tasks/T0001/approvals/A1.md"), "synced\n"),
      ),
  },
];

export const REFUSALS: readonly Refusal[] = [
  ...AT_MAIN,
  ...AT_GATE,
  ...AT_TARGET,
  ...AT_REMOTE,
  ...AT_THE_LAST_MOMENT,
];
