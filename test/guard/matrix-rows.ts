/**
 * What becomes of every way to move a protected branch that we know: the data of the test and of docs/guard.md.
 *
 * A script runs in the main worktree ($R), which is on main. There is a bound worktree ($W) of the task branch task/1
 * with one commit, a branch `feature` with another one, and a remote `origin` ($O) that has main.
 */
export type Outcome =
  /** The branch is where it was. */
  | "refused"
  /** It works as without the guard. */
  | "allowed"
  /** It gets through, and the next change of any ref says so; an audit finds it too. */
  | "tripwire"
  /** It gets through, and only a look at history, reflog, ledger and settings tells. */
  | "audit";

export interface Row {
  group: string;
  name: string;
  /** With hooks off, before the clock starts. */
  setup?: string;
  script: string;
  expected: Outcome;
  /** Older versions of git have no such command. */
  needs?: string;
  /** What newer versions of git make of it. */
  since?: { version: string; expected: Outcome };
  /** What becomes of it where refs lie in tables; "no such thing" where there is nothing to try. */
  tables?: "no such thing" | Partial<Pick<Row, "expected" | "byGit" | "found" | "silent" | "moves">>;
  /** Git says no by itself, so that the guard is not asked. */
  byGit?: boolean;
  /** The command keeps our words to itself. */
  silent?: boolean;
  /** Nothing would have moved without the guard either. */
  harmless?: boolean;
  /** The ref that must not move; main unless said otherwise. `$O` stands for main of the remote. */
  subject?: string;
  /** An allowed row that is about moving it; one that only an audit finds moves it unless this says no. */
  moves?: boolean;
  /** What a look at the settings finds afterwards. */
  problem?: "override" | "file_changed" | "not_active";
  /** What `pawl audit` calls it afterwards, beside whatever else it finds. */
  found?: string;
  /** How `pawl audit` ends then: 1 unless nobody can tell. */
  exit?: 2;
  /** A refused command leaves files and index as they were. */
  clean?: boolean;
  /** What brings files and index back that a refused command has left changed. */
  after?: string;
  /** Words that a refusal has to have. */
  says?: string;
  /** Tried with every shell that may be /bin/sh. */
  everyShell?: boolean;
  note?: string;
}

const NEW = "echo x > z && git add z";
/** Nobody has main checked out any more. */
const FREE = "git checkout -q --detach";
/** Hooks off, for what a row needs before it begins. */
const OFF = "git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false";

/** Every release branch is protected, too. */
const RELEASES =
  "mkdir -p .pawl && printf 'protected: [main, release/*]\\n' > .pawl/config.yaml && pawl install --profile hooks >/dev/null";
/** Pawl's own files are on main, and the remote has them. */
const INSTALLED = `pawl install --yes --agents generic >/dev/null && git add -A .pawl AGENTS.md && ${OFF} commit -qm pawl && ${OFF} push -q --no-verify origin main && note_tip`;
/** Another repository, with records of its own. */
const ANOTHER =
  'git init -q "$R/../another" && (cd "$R/../another" && git commit -q --allow-empty -m x && pawl install --profile hooks --yes >/dev/null)';
/** Another clone that somebody commits in and installs pawl in before it knows what others have recorded. */
const SECOND_CLONE = `pawl sync --yes >/dev/null && git clone -q "$O" "$R/../second" && cd "$R/../second" && ${NEW} && git commit -qm x && pawl install --profile hooks --yes >/dev/null`;

/** Eight settings that keep git from waiting for anybody; one of them takes the hooks away. */
const GEMINI_SETTINGS = [
  ...["core.hooksPath", "core.fsmonitor", "core.pager", "core.editor", "sequence.editor"],
  ...["credential.helper", "core.askPass", "core.sshCommand"],
];
const GEMINI = [
  "GEMINI_CLI=1 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=8",
  ...GEMINI_SETTINGS.map((key, at) => `GIT_CONFIG_KEY_${at}=${key} GIT_CONFIG_VALUE_${at}=`),
  ...["AUTHOR", "COMMITTER"].map((who) => `GIT_${who}_NAME=g GIT_${who}_EMAIL=g@localhost`),
].join(" ");

const group = (name: string, rows: Omit<Row, "group">[]): Row[] =>
  rows.map((row) => ({ group: name, ...row }));

const committing = group("Committing", [
  { name: "commit on main", script: `${NEW} && git commit -qm x`, expected: "refused", everyShell: true },
  {
    name: "commit --no-verify",
    script: `${NEW} && git commit -qnm x`,
    expected: "refused",
    everyShell: true,
  },
  { name: "commit --amend --no-verify", script: "git commit -q --amend -nm x", expected: "refused" },
  {
    name: "commit with HUSKY=0 LEFTHOOK=0 SKIP=all",
    script: `${NEW} && HUSKY=0 LEFTHOOK=0 SKIP=all git commit -qm x`,
    expected: "refused",
  },
  {
    name: "alias for commit -n",
    script: `${NEW} && git -c alias.ci='commit -n' ci -qm x`,
    expected: "refused",
  },
  {
    name: "commit with GIT_DIR and GIT_WORK_TREE",
    script: `${NEW} && cd / && GIT_DIR="$R/.git" GIT_WORK_TREE="$R" git commit -qm x`,
    expected: "refused",
    everyShell: true,
  },
  {
    name: "commit with GIT_INDEX_FILE",
    script: "GIT_INDEX_FILE=.git/other git read-tree HEAD~1 && GIT_INDEX_FILE=.git/other git commit -qm x",
    expected: "refused",
  },
  {
    name: "commit from a subfolder",
    script: "mkdir -p sub && cd sub && echo x > z && git add z && git commit -qm x",
    expected: "refused",
  },
  {
    name: "GIT_DIR of another git directory with a commondir",
    script: `mkdir "$R/../alt" && cp .git/HEAD .git/index "$R/../alt/" && echo "$R/.git" > "$R/../alt/commondir" && ${NEW} && GIT_DIR="$R/../alt" GIT_WORK_TREE="$R" git commit -q --allow-empty -m x`,
    expected: "refused",
    tables: { byGit: true },
  },
  { name: "commit on a detached HEAD", script: `${FREE} && ${NEW} && git commit -qm x`, expected: "allowed" },
  {
    name: "commit on an ordinary branch",
    script: `git checkout -q feature && ${NEW} && git commit -qm x`,
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "commit on the task's branch, in its worktree",
    script: `cd "$W" && ${NEW} && git commit -qm x`,
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
    everyShell: true,
  },
  {
    name: "first commit of an empty repository",
    script:
      'git init -q -b main "$R/../empty" && cd "$R/../empty" && pawl install --profile hooks >/dev/null && git commit -q --allow-empty -m first && ! git commit -q --allow-empty -m second',
    expected: "allowed",
    everyShell: true,
  },
]);

const switchingOff = group("Switching hooks off", [
  {
    name: "-c core.hooksPath=/dev/null",
    script: `${NEW} && git -c core.hooksPath=/dev/null commit -qm x`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
    everyShell: true,
  },
  {
    name: "GIT_CONFIG_COUNT in the environment",
    script: `${NEW} && GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= git commit -qm x`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
  },
  {
    name: "the environment that Gemini CLI gives its shell",
    script: `${NEW} && ${GEMINI} git commit -qm x`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
    note: "`pawl session` and `pawl doctor` say so there",
  },
  {
    name: "GIT_CONFIG_PARAMETERS in the environment",
    script: `${NEW} && GIT_CONFIG_PARAMETERS="'core.hooksPath=/dev/null'" git commit -qm x`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
  },
  {
    name: "-c hook.pawl.enabled=false as well",
    script: `${NEW} && ${OFF} commit -qm x`,
    expected: "tripwire",
  },
  {
    name: "GIT_CONFIG_GLOBAL with core.hooksPath",
    script: `printf '[core]\\n\\thooksPath = /dev/null\\n[user]\\n\\tname = a\\n\\temail = a@b\\n' > "$R/../cfg" && ${NEW} && GIT_CONFIG_GLOBAL="$R/../cfg" git commit -qm x`,
    expected: "refused",
  },
  {
    name: "git config core.hooksPath X",
    script: `git config core.hooksPath /dev/null && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hooks_path_changed",
    since: { version: "2.54", expected: "refused" },
    problem: "not_active",
    note: "the next pawl command that writes restores it",
  },
  {
    name: "git config core.hooksPath X where the project uses husky, lefthook or simple-git-hooks",
    setup:
      "mkdir -p .husky/_ && git config core.hooksPath .husky/_ && pawl install --profile hooks >/dev/null",
    script: `git config core.hooksPath /dev/null && ${NEW} && git commit -qm x`,
    expected: "refused",
    everyShell: true,
    note: "each worktree has its own setting there, which wins",
  },
  {
    name: "moving the repository, a commit, and moving it back",
    script: `cd .. && mv repo moved && (cd moved && ${NEW} && git commit -qm x); code=$?; mv moved repo && exit $code`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
    note: "the next pawl command that writes there restores the guard",
  },
  {
    name: "git config --unset core.hooksPath",
    script: `git config --unset core.hooksPath; ${NEW} && git commit -qm x`,
    expected: "refused",
  },
  {
    name: "git config --worktree core.hooksPath X",
    script: `git config extensions.worktreeConfig true && git config --worktree core.hooksPath /dev/null && ${NEW} && git commit -qm x`,
    expected: "tripwire",
    since: { version: "2.54", expected: "refused" },
    problem: "override",
    note: "the other worktrees notice",
  },
  {
    name: "git config include.path X",
    script: `printf '[core]\\n\\thooksPath = /dev/null\\n' > "$R/../cfg" && git config include.path "$R/../cfg" && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hooks_path_changed",
    since: { version: "2.54", expected: "refused" },
    problem: "not_active",
  },
  {
    name: "removing our line from .git/config",
    script: `sed -i "/hooksPath/d" .git/config && ${NEW} && git commit -qm x`,
    expected: "refused",
    problem: "not_active",
  },
  {
    name: "deleting .git/pawl",
    script: `rm -rf .git/pawl && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "committed_directly",
    since: { version: "2.54", expected: "refused" },
  },
  {
    name: "chmod -x on the hooks",
    script: `chmod -x .git/pawl/hooks/* && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hook_not_executable",
    since: { version: "2.54", expected: "refused" },
    problem: "file_changed",
  },
  {
    name: "chmod -x on every copy",
    script: `chmod -x .git/pawl/hooks/* .git/pawl/guard .git/hooks/* && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hook_not_executable",
    silent: true,
    since: { version: "2.54", expected: "refused" },
    problem: "file_changed",
  },
  {
    name: "deleting the hooks",
    script: `rm .git/pawl/hooks/* && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hook_missing",
    since: { version: "2.54", expected: "refused" },
    problem: "file_changed",
  },
  {
    name: "writing another hook over ours",
    script: `printf '#!/bin/sh\\n' > .git/pawl/hooks/reference-transaction && ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "hook_changed",
    since: { version: "2.54", expected: "refused" },
    problem: "file_changed",
  },
  {
    name: "an edited policy in a worktree",
    script: `mkdir -p .pawl && printf 'protected:\\n  - nothing\\n' > .pawl/config.yaml && pawl install --profile hooks >/dev/null; ${NEW} && git commit -qm x`,
    expected: "refused",
    everyShell: true,
  },
  {
    name: "an agent points the remote's default branch elsewhere, then has the hooks rewritten",
    script: `git update-ref refs/remotes/origin/feature feature && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/feature && CLAUDECODE=1 pawl doctor --fix >/dev/null; ${NEW} && git commit -qm x`,
    expected: "refused",
  },
  {
    name: "an agent commits a looser policy with hooks off, then has the hooks rewritten",
    setup: `mkdir -p .pawl && printf 'protected:\\n  - nothing\\n' > .pawl/config.yaml && git add -f .pawl/config.yaml && ${OFF} commit -qm x`,
    script: `CLAUDECODE=1 pawl install --profile hooks >/dev/null; CLAUDECODE=1 pawl note add x >/dev/null; ${NEW} && git commit -qm x`,
    expected: "refused",
  },
  {
    name: "an agent calls pawl uninstall",
    script: `CLAUDECODE=1 pawl uninstall; ${NEW} && git commit -qm x`,
    expected: "refused",
  },
]);

const plumbing = group("Plumbing", [
  {
    name: "commit-tree and update-ref",
    script: 'git update-ref refs/heads/main "$(git commit-tree -p HEAD -m x "HEAD^{tree}")"',
    expected: "refused",
    everyShell: true,
  },
  {
    name: "update-ref --stdin",
    script: 'printf "update refs/heads/main %s\\n" "$T" | git update-ref --stdin',
    expected: "refused",
  },
  { name: "update-ref HEAD", script: 'git update-ref HEAD "$T"', expected: "refused" },
  { name: "update-ref --no-deref HEAD", script: 'git update-ref --no-deref HEAD "$T"', expected: "allowed" },
  {
    name: "update-ref -d",
    script: "git update-ref -d refs/heads/main",
    expected: "refused",
    everyShell: true,
  },
  {
    name: "update-ref -d after packing",
    script: "git pack-refs --all && git update-ref -d refs/heads/main",
    expected: "refused",
    everyShell: true,
  },
  {
    name: "update-ref of main-worktree/refs/heads/main",
    script: 'cd "$W" && git update-ref main-worktree/refs/heads/main "$T"',
    expected: "refused",
    harmless: true,
  },
  {
    name: "update-ref verify",
    script: 'printf "start\\nverify refs/heads/main %s\\nprepare\\ncommit\\n" "$M" | git update-ref --stdin',
    expected: "allowed",
    tables: { expected: "refused" },
    note: "in a reftable repository git reports it like a deletion",
    everyShell: true,
  },
  {
    name: "recreating main after deleting it with hooks off",
    setup: `${FREE} && git remote remove origin && ${OFF} update-ref -d refs/heads/main`,
    script: 'git update-ref refs/heads/main "$T"',
    expected: "refused",
    everyShell: true,
  },
  {
    name: "creating a protected branch at a commit other than the remote's",
    setup: 'git update-ref refs/remotes/origin/master "$M"',
    script: 'git update-ref refs/heads/master "$T"',
    expected: "refused",
    subject: "refs/heads/master",
  },
  {
    name: "creating a protected branch at the remote's commit",
    setup: 'git update-ref refs/remotes/origin/master "$T"',
    script: "git branch -q master origin/master",
    expected: "allowed",
    subject: "refs/heads/master",
    moves: true,
  },
  {
    name: "creating a protected branch that no remote has",
    script: "git branch -q master main~1 && ! git branch -q -f master task/1",
    expected: "allowed",
    subject: "refs/heads/master",
    moves: true,
    note: "at a commit that another protected branch has",
  },
  {
    name: "symbolic-ref HEAD to main in the task's worktree",
    script: 'cd "$W" && git symbolic-ref HEAD refs/heads/main',
    expected: "allowed",
    since: { version: "2.46", expected: "refused" },
    note: "commits there are refused",
  },
  {
    name: "symbolic-ref refs/heads/main to a task",
    script: "git symbolic-ref refs/heads/main refs/heads/task/1",
    expected: "tripwire",
    since: { version: "2.46", expected: "refused" },
  },
  {
    name: "another name for main, and a commit there",
    script: `git symbolic-ref refs/heads/evil refs/heads/main; git symbolic-ref HEAD refs/heads/evil && ${NEW} && git commit -qnm x`,
    expected: "refused",
    since: { version: "2.46", expected: "allowed" },
    note: "a newer git refuses the name, and the commit creates another branch",
  },
  {
    name: "fast-import into main",
    script:
      'printf "commit refs/heads/main\\ncommitter a <a@b> 0 +0000\\ndata 1\\nx\\nfrom %s\\n" "$M" | git fast-import --quiet --force',
    expected: "refused",
  },
  {
    name: "filter-branch of main",
    script: "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cat; echo x' main",
    expected: "refused",
    silent: true,
  },
  {
    name: "git replace of main's tip",
    script: 'git replace "$M" "$T"',
    expected: "refused",
    subject: "refs/replace/$M",
    everyShell: true,
  },
  {
    name: "a graft by hand",
    script: 'mkdir -p .git/info && printf "%s\\n" "$M" > .git/info/grafts',
    expected: "audit",
    found: "graft_file",
    moves: false,
    note: "main stays, but shows another history",
  },
  {
    name: "writing .git/refs/heads/main",
    script: 'printf "%s\\n" "$T" > .git/refs/heads/main',
    expected: "tripwire",
    tables: "no such thing",
    everyShell: true,
  },
  {
    name: "a library that is not git (isomorphic-git, libgit2)",
    script: 'c=$(git commit-tree -p HEAD -m x "HEAD^{tree}") && printf "%s\\n" "$c" > .git/refs/heads/main',
    expected: "tripwire",
    tables: "no such thing",
  },
  {
    name: "editing packed-refs",
    script: 'git pack-refs --all && sed -i "s/^$M \\(refs.heads.main\\)$/$T \\1/" .git/packed-refs',
    expected: "audit",
    tables: "no such thing",
    found: "reflog_gap",
  },
  {
    name: "another git directory whose refs link to ours",
    script: `mkdir "$R/../alt" && cp .git/HEAD .git/config .git/index "$R/../alt/" && ln -s "$R/.git/objects" "$R/.git/refs" "$R/../alt/" && ${NEW} && GIT_DIR="$R/../alt" GIT_WORK_TREE="$R" git commit -q --allow-empty -m x`,
    expected: "refused",
    note: "its configuration names our hooks; without that line it is found by the tripwire",
  },
  {
    name: "the same without its configuration",
    script: `mkdir "$R/../alt" && cp .git/HEAD .git/index "$R/../alt/" && ln -s "$R/.git/objects" "$R/.git/refs" "$R/../alt/" && ${NEW} && GIT_DIR="$R/../alt" GIT_WORK_TREE="$R" git commit -q --allow-empty -m x`,
    expected: "tripwire",
    tables: "no such thing",
  },
  {
    name: "writing .git/HEAD, and a commit",
    script: `cd "$W" && echo "ref: refs/heads/main" > "$(git rev-parse --git-dir)/HEAD" && ${NEW} && git commit -qnm x`,
    expected: "refused",
    tables: "no such thing",
  },
  {
    name: "back to the state before an allowed change, with hooks off",
    setup: "advance_remote && git pull -q --ff-only",
    script: `${OFF} reset -q --hard "$M"`,
    expected: "tripwire",
  },
  {
    name: "away and back again, with hooks off",
    script: `${OFF} reset -q --hard task/1 && ${OFF} reset -q --hard "$M"`,
    expected: "audit",
    found: "moved_away",
    moves: false,
    note: "the reflog shows it",
  },
  {
    name: "away and back again, with hooks off, and the log truncated",
    script: `${OFF} reset -q --hard task/1 && ${OFF} reset -q --hard "$M" && git reflog expire --expire=now --all`,
    expected: "audit",
    found: "ref_rewritten",
    moves: false,
    tables: { expected: "allowed" },
    note: "the file's modification time shows it; in a reftable repository only the log would",
  },
  {
    name: "the ref's file written by hand, away and back again",
    script: 'echo "$T" > .git/refs/heads/main && echo "$M" > .git/refs/heads/main',
    expected: "audit",
    found: "ref_rewritten",
    moves: false,
    tables: "no such thing",
  },
  {
    name: "a forged unlock, away and back again, then the unlock removed and the log truncated",
    script:
      'mkdir -p .git/pawl/grants/unlock/refs/heads && echo "$(($(date +%s) + 60)) me" > .git/pawl/grants/unlock/refs/heads/main && git update-ref refs/heads/main "$T" && git update-ref refs/heads/main "$M" && rm -r .git/pawl/grants/unlock && git reflog expire --expire=now --all',
    expected: "audit",
    found: "moved_away",
    moves: false,
    note: "the guard keeps its own list",
  },
  {
    name: "a forged grant, away and back again, and its lines removed from the log",
    script:
      'mkdir -p .git/pawl/grants/update/refs/heads && g=.git/pawl/grants/update/refs/heads/main && cp .git/logs/refs/heads/main "$R/../log" && echo "$M $T refs/heads/main" > $g && git update-ref refs/heads/main "$T" && echo "$T $M refs/heads/main" > $g && git update-ref refs/heads/main "$M" && rm $g && cp "$R/../log" .git/logs/refs/heads/main',
    expected: "audit",
    found: "moved_away",
    moves: false,
    tables: "no such thing",
  },
  {
    name: "forging a grant",
    script:
      'mkdir -p .git/pawl/grants/update/refs/heads && echo "$M $T refs/heads/main" > .git/pawl/grants/update/refs/heads/main && git update-ref refs/heads/main "$T"',
    expected: "audit",
    found: "leftover_grant",
    note: "no approval names it",
  },
  {
    name: "forging an unlock",
    script:
      'mkdir -p .git/pawl/grants/unlock/refs/heads && echo "$(($(date +%s) + 60)) me" > .git/pawl/grants/unlock/refs/heads/main && git update-ref refs/heads/main "$T"',
    expected: "audit",
    found: "forged_unlock",
    note: "no record names it",
  },
  {
    name: "forging the record of what was there before",
    script:
      'git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false update-ref refs/heads/main "$T" && sed -i "s/$M/$T/" .pawl/state/repos/*.md && echo "$T refs/heads/main $T" > .git/pawl/tips/main',
    expected: "audit",
    found: "record_not_ours",
    note: "no event logs it; approvals and unlocks are compared the same way",
  },
  {
    name: "forging what the guard saw",
    script:
      'git -c core.hooksPath=/dev/null -c hook.pawl.enabled=false update-ref refs/heads/main "$T" && echo "$T refs/heads/main $T" > .git/pawl/tips/main && echo "0000000000000000000000000000000000000000 $T refs/heads/main created" >> .git/pawl/moves',
    expected: "audit",
    found: "committed_directly",
  },
  {
    name: "forging a remote-tracking ref, then fast-forward",
    script: 'git update-ref refs/remotes/origin/main "$T" && git merge -q --ff-only origin/main',
    expected: "audit",
    found: "remote_not_confirmed",
    note: "the remote does not confirm it",
  },
  {
    name: "replaced git programs that confirm everything",
    script: `mkdir "$R/../exec" && for f in "$(git --exec-path)"/*; do ln -s "$f" "$R/../exec/"; done && rm "$R/../exec/git" && printf '#!/bin/sh\\ncase $1 in rev-parse | merge-base | for-each-ref) echo %s ;; *) exec "%s/git" "$@" ;; esac\\n' "$T" "$(git --exec-path)" > "$R/../exec/git" && chmod +x "$R/../exec/git" && GIT_EXEC_PATH="$R/../exec" git update-ref refs/heads/main "$T"`,
    expected: "audit",
    tables: { expected: "tripwire" },
    found: "committed_directly",
    note: "the remote does not have it",
  },
  {
    name: "a faked clock, for an expired unlock",
    script:
      'mkdir -p .git/pawl/grants/unlock/refs/heads "$R/../bin" && echo "1000 me" > .git/pawl/grants/unlock/refs/heads/main && printf "#!/bin/sh\\necho 990\\n" > "$R/../bin/date" && chmod +x "$R/../bin/date" && PATH="$R/../bin:$PATH" git update-ref refs/heads/main "$T"',
    expected: "audit",
    found: "forged_unlock",
  },
  {
    name: "functions in the environment, for a shell that is bash",
    script: `${NEW} && env 'BASH_FUNC_read%%=() { return 1; }' 'BASH_FUNC_printf%%=() { :; }' git commit -qm x`,
    expected: "refused",
    everyShell: true,
  },
  {
    name: "a grant for another value",
    script:
      'mkdir -p .git/pawl/grants/update/refs/heads && echo "$T $T refs/heads/main" > .git/pawl/grants/update/refs/heads/main && git update-ref refs/heads/main "$T"',
    expected: "refused",
    everyShell: true,
  },
  {
    name: "an expired unlock",
    script:
      'mkdir -p .git/pawl/grants/unlock/refs/heads && echo "$(($(date +%s) - 1)) me" > .git/pawl/grants/unlock/refs/heads/main && git update-ref refs/heads/main "$T"',
    expected: "refused",
    everyShell: true,
  },
  {
    name: "an unlock for longer than eight hours",
    script:
      'mkdir -p .git/pawl/grants/unlock/refs/heads && echo "$(($(date +%s) + 40000)) me" > .git/pawl/grants/unlock/refs/heads/main && git update-ref refs/heads/main "$T"',
    expected: "refused",
  },
]);

const branches = group("Branch commands", [
  {
    name: "branch -f main (checked out)",
    script: "git branch -f main task/1",
    expected: "refused",
    byGit: true,
  },
  {
    name: "branch -f main",
    script: `${FREE} && git branch -f main task/1`,
    expected: "refused",
    everyShell: true,
  },
  {
    name: "branch -M task/1 main",
    script: `${FREE} && git branch -M task/1 main`,
    expected: "refused",
    tables: { expected: "tripwire" },
  },
  {
    name: "branch -M task/1 main, and the task's branch",
    script: `${FREE} && git branch -M task/1 main`,
    expected: "refused",
    tables: { expected: "tripwire" },
    subject: "refs/heads/task/1",
  },
  {
    name: "branch -M feature main",
    script: `${FREE} && git branch -M feature main`,
    expected: "refused",
    tables: { expected: "tripwire" },
    note: "by then git has deleted the name `feature`; its commit is in HEAD's reflog",
  },
  {
    name: "branch -M task/1 main (checked out)",
    script: "git branch -M task/1 main",
    expected: "refused",
    byGit: true,
  },
  { name: "branch -D main", script: `${FREE} && git branch -D main`, expected: "refused", everyShell: true },
  {
    name: "branch -m main old",
    script: "git branch -m main old",
    expected: "refused",
    tables: { expected: "audit", found: "branch_deleted" },
    note: "git calls no hook for a rename in a reftable repository",
  },
  {
    name: "branch -m main old, then branch -m task/1 main",
    script: `${FREE} && git branch -m main old; git branch -m task/1 main`,
    expected: "refused",
    tables: { expected: "tripwire" },
  },
  {
    name: "branch -C task/1 main (checked out)",
    script: "git branch -C task/1 main",
    expected: "refused",
    byGit: true,
  },
  {
    name: "branch -C task/1 main",
    script: `${FREE} && git branch -C task/1 main`,
    expected: "tripwire",
    note: "git calls no hook",
  },
  {
    name: "checkout -B main in the task's worktree",
    script: 'cd "$W" && git checkout -q -B main',
    expected: "refused",
    silent: true,
  },
  {
    name: "checkout -B main --ignore-other-worktrees",
    script: 'cd "$W" && git checkout -q -B main --ignore-other-worktrees',
    expected: "refused",
  },
  { name: "switch -C main task/1", script: `${FREE} && git switch -q -C main task/1`, expected: "refused" },
  {
    name: "worktree add -B main",
    script: `${FREE} && git worktree add -q -B main "$R/../new" task/1`,
    expected: "refused",
  },
  {
    name: "worktree add main (checked out)",
    script: 'git worktree add -q "$R/../new" main',
    expected: "refused",
    byGit: true,
    subject: "worktrees/new",
  },
  { name: "worktree add -f main", script: 'git worktree add -q -f "$R/../new" main', expected: "allowed" },
  {
    name: "worktree add -f main, and a commit there",
    script: `git worktree add -q -f "$R/../new" main && cd "$R/../new" && ${NEW} && git commit -qnm x`,
    expected: "refused",
  },
  {
    name: "worktree add with a new branch",
    script: 'git worktree add -q -b another "$R/../new"',
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "worktree move, lock, unlock, remove, prune",
    script:
      'git worktree add -q --detach "$R/../new" && git worktree move "$R/../new" "$R/../newer" && git worktree lock "$R/../newer" && git worktree unlock "$R/../newer" && git worktree remove "$R/../newer" && git worktree prune',
    expected: "allowed",
  },
  {
    name: "checkout main in the task's worktree",
    script: 'cd "$W" && git checkout -q main',
    expected: "refused",
    byGit: true,
    subject: "worktrees/wt/HEAD",
  },
  {
    name: "checkout --ignore-other-worktrees main in the task's worktree",
    script: 'cd "$W" && git checkout -q --ignore-other-worktrees main',
    expected: "allowed",
    since: { version: "2.46", expected: "refused" },
    note: "commits there are refused",
  },
  {
    name: "the same, and a commit there",
    script: `cd "$W" && git checkout -q --ignore-other-worktrees main; ${NEW} && git commit -qnm x`,
    expected: "refused",
    since: { version: "2.46", expected: "allowed" },
    note: "with a newer git the commit lands on the task's branch",
  },
  {
    name: "checkout of another branch",
    script: "git checkout -q feature && git checkout -q main && git switch -q -c more",
    expected: "allowed",
  },
  {
    name: "checkout of files",
    script: "echo y > f1 && git checkout -q -- f1 && git restore -s feature f2 && git checkout -q HEAD -- f2",
    expected: "allowed",
  },
  {
    name: "creating and deleting ordinary branches",
    script:
      "git branch a && git branch -m a b && git branch -f b feature && git branch -D b && git branch -c feature c",
    expected: "allowed",
  },
]);

const history = group("Merging and rewriting", [
  {
    name: "merge --ff-only task/1",
    script: "git merge -q --ff-only task/1",
    expected: "refused",
    clean: true,
    everyShell: true,
  },
  {
    name: "merge --no-ff task/1",
    script: "git merge -q --no-ff -m x task/1",
    expected: "refused",
    clean: true,
  },
  {
    name: "merge --no-ff --no-verify",
    script: "git merge -q --no-ff --no-verify -m x task/1",
    expected: "refused",
    clean: true,
  },
  {
    name: "merge of two branches",
    script: "git merge -q -m x task/1 feature",
    expected: "refused",
    clean: true,
  },
  {
    name: "merge --squash, then commit -n",
    script: "git merge -q --squash task/1; git commit -qnm x",
    expected: "refused",
    clean: true,
  },
  {
    name: "merge with another GIT_REFLOG_ACTION",
    script: "GIT_REFLOG_ACTION=hello git merge -q --ff-only task/1",
    expected: "refused",
  },
  { name: "pull . task/1", script: "git pull -q --ff-only . task/1", expected: "refused", clean: true },
  {
    name: "pull --rebase . task/1",
    script: "git pull -q --rebase . task/1",
    expected: "refused",
    clean: true,
  },
  { name: "fetch . task/1:main", script: "git fetch -q . task/1:main", expected: "refused", byGit: true },
  { name: "fetch -u . task/1:main", script: "git fetch -q -u . task/1:main", expected: "refused" },
  {
    name: "fetch from a bundle",
    script: `git bundle create -q "$R/../b" task/1 && ${FREE} && git fetch -q "$R/../b" +task/1:main`,
    expected: "refused",
  },
  {
    name: "reset --hard task/1",
    script: "git reset -q --hard task/1",
    expected: "refused",
    after: "git reset --hard HEAD",
    note: "files and index are already the other branch's",
    everyShell: true,
  },
  { name: "reset --soft HEAD~1", script: "git reset -q --soft HEAD~1", expected: "refused" },
  {
    name: "reset --hard HEAD",
    script: "echo y > f1 && git reset -q --hard HEAD",
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "rebase of main",
    script: "git rebase -q --force-rebase HEAD~1",
    expected: "refused",
    clean: true,
    everyShell: true,
  },
  { name: "rebase of main onto a task", script: "git rebase -q task/1", expected: "refused", clean: true },
  {
    name: "rebase <upstream> main from elsewhere",
    setup: "git checkout -q feature",
    script: "git rebase -q task/1 main",
    expected: "refused",
    clean: true,
  },
  { name: "rebase --no-verify of main", script: "git rebase -q --no-verify task/1", expected: "refused" },
  {
    name: "rebase -i --exec with a move of main",
    script:
      'cd "$W" && GIT_SEQUENCE_EDITOR=true git rebase -q -i --force-rebase --exec "git update-ref refs/heads/main HEAD" HEAD~1',
    expected: "refused",
  },
  {
    name: "cherry-pick",
    script: "git cherry-pick task/1",
    expected: "refused",
    after: "git cherry-pick --abort",
  },
  {
    name: "cherry-pick -n, then commit -n",
    script: "git cherry-pick -n task/1 && git commit -qnm x",
    expected: "refused",
  },
  {
    name: "revert",
    script: "git revert --no-edit HEAD",
    expected: "refused",
    after: "git reset --merge",
    says: "git reset --merge",
    note: "the refusal says so",
  },
  {
    name: "am",
    script: 'git format-patch -q -1 --stdout task/1 > "$R/../p" && git am -q "$R/../p"',
    expected: "refused",
    after: "git am --abort",
  },
  {
    name: "npm version patch",
    setup: `printf '{\\n  "name": "x",\\n  "version": "1.0.0"\\n}\\n' > package.json && git add package.json && ${OFF} commit -qm package && note_tip`,
    script: "npm version patch",
    expected: "refused",
    silent: true,
    after: "git checkout HEAD -- package.json",
    note: "the tag was not created; a leftover lock file comes back the same way",
  },
  {
    name: "apply --index, then commit -n",
    script:
      'git format-patch -q -1 --stdout task/1 > "$R/../p" && git apply --index "$R/../p" && git commit -qnm x',
    expected: "refused",
  },
  {
    name: "rebase of the task's branch onto main",
    script: 'cd "$W" && git rebase -q --force-rebase HEAD~1',
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
    everyShell: true,
  },
  {
    name: "rebase --abort in the task's worktree",
    script:
      'cd "$W" && ! GIT_SEQUENCE_EDITOR=true git rebase -q -i --force-rebase --exec false HEAD~1 && git rebase --abort',
    expected: "allowed",
  },
  {
    name: "rebase --update-refs in an ordinary branch",
    script:
      "git checkout -q feature && git branch below HEAD~1 && git rebase -q --force-rebase --update-refs HEAD~1",
    expected: "allowed",
  },
  {
    name: "merge of main into the task's branch",
    script: 'cd "$W" && git merge -q -m x feature',
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
  },
  {
    name: "stash push and pop on main",
    script: "echo y > f1 && git stash -q && git stash pop -q && git checkout -q f1",
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "stash branch",
    script: "echo y > f1 && git stash -q && git stash branch nb >/dev/null",
    expected: "allowed",
  },
  {
    name: "bisect",
    script: "git bisect start HEAD HEAD~2 >/dev/null && git bisect reset >/dev/null 2>&1",
    expected: "allowed",
  },
]);

const remotes = group("Remotes", [
  {
    name: "pull --ff-only of what the remote has",
    script: "advance_remote && git pull -q --ff-only",
    expected: "allowed",
    moves: true,
    everyShell: true,
  },
  {
    name: "pull with pull.rebase",
    script: "advance_remote && git -c pull.rebase=true pull -q",
    expected: "allowed",
    moves: true,
  },
  {
    name: "pull of nothing",
    script: "git pull -q --ff-only && git -c pull.rebase=true pull -q && git merge -q origin/main",
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "pull of nothing, with approved commits that are not pushed yet",
    setup: `${OFF} commit -q --allow-empty -m mine && note_tip`,
    script: "git pull -q --ff-only && git -c pull.rebase=true pull -q",
    expected: "allowed",
  },
  {
    name: "fetch, then merge origin/main",
    script: "advance_remote && git fetch -q && git merge -q origin/main",
    expected: "allowed",
    moves: true,
  },
  {
    name: "fetch, pack, then merge @{u}",
    script: "advance_remote && git fetch -q && git pack-refs --all && git merge -q '@{u}'",
    expected: "allowed",
    moves: true,
  },
  {
    name: "fetch, then rebase onto origin/main",
    script: "advance_remote && git fetch -q && git rebase -q origin/main",
    expected: "allowed",
    moves: true,
  },
  {
    name: "fetch origin main:main, after a plain fetch",
    script: `advance_remote && ${FREE} && git fetch -q && git fetch -q origin main:main`,
    expected: "allowed",
    moves: true,
    everyShell: true,
  },
  {
    name: "fetch origin main:main at once",
    script: `advance_remote && ${FREE} && git fetch -q origin main:main`,
    expected: "refused",
    note: "git asks about main before it records what the remote has; after a plain `git fetch` it is allowed",
  },
  {
    name: "reset --hard origin/main, which would lose nothing",
    script: "advance_remote && git fetch -q && git reset -q --hard origin/main",
    expected: "allowed",
    moves: true,
  },
  {
    name: "a merge of both histories by pull",
    setup: `${OFF} commit -q --allow-empty -m mine && note_tip`,
    script: `advance_remote && git pull -q --no-rebase --no-edit`,
    expected: "refused",
    clean: true,
  },
  {
    name: "reset --hard origin/main, which would lose commits",
    setup: `${OFF} commit -q --allow-empty -m mine && note_tip`,
    script: "git reset -q --hard origin/main",
    expected: "refused",
  },
  {
    name: "pull of another branch of the remote",
    script: `git push -q origin task/1:other && git pull -q --ff-only origin other`,
    expected: "refused",
    clean: true,
  },
  {
    name: "push . HEAD:main (checked out)",
    script: 'cd "$W" && git push -q . HEAD:main',
    expected: "refused",
    harmless: true,
    everyShell: true,
  },
  { name: "push . task/1:main", script: `${FREE} && git push -q . task/1:main`, expected: "refused" },
  {
    name: "push --no-verify . task/1:main",
    script: `${FREE} && git push -q --no-verify . task/1:main`,
    expected: "refused",
  },
  {
    name: "push into this repository from a clone",
    script: `git clone -q "$R" "$R/../clone" && ${FREE} && cd "$R/../clone" && git commit -q --allow-empty -m x && git push -q origin HEAD:main`,
    expected: "refused",
    everyShell: true,
  },
  {
    name: "push origin task/1:main",
    script: "git push -q origin task/1:main",
    expected: "refused",
    subject: "$O",
    everyShell: true,
  },
  {
    name: "push origin :main",
    setup: 'git -C "$O" config receive.denyDeleteCurrent ignore',
    script: "git push -q origin :main",
    expected: "refused",
    subject: "$O",
  },
  {
    name: "push --mirror of a moved main",
    script: 'printf "%s\\n" "$T" > .git/refs/heads/main && git push -q --mirror origin',
    expected: "refused",
    tables: "no such thing",
    subject: "$O",
  },
  {
    name: "push --no-verify origin task/1:main",
    script: "git push -q --no-verify origin task/1:main",
    expected: "audit",
    found: "no_approval",
    subject: "$O",
    note: "a server or CI that runs `pawl audit --ci` refuses it",
  },
  {
    name: "push --no-verify origin task/1:main, then pull",
    script: "git push -q --no-verify origin task/1:main && git pull -q --ff-only",
    expected: "audit",
    found: "pushed_directly",
    note: "without `--ci` too, because this clone's own log says that it pushed it",
  },
  {
    name: "send-pack origin task/1:main, then pull, and the remote is guarded",
    setup:
      "mkdir .pawl/x; printf 'remotes:\\n  - name: origin\\n    address: x\\n    guarded: true\\n' > .pawl/config.yaml",
    script: 'git send-pack "$O" task/1:main 2>/dev/null && git pull -q --ff-only',
    expected: "audit",
    found: "no_approval",
    note: "class `unapproved`",
  },
  {
    name: "send-pack origin task/1:main",
    script: 'git send-pack "$O" task/1:main 2>/dev/null',
    expected: "audit",
    found: "no_approval",
    subject: "$O",
  },
  {
    name: "push with -c core.hooksPath",
    script: "git -c core.hooksPath=/dev/null push -q origin task/1:main",
    expected: "audit",
    found: "no_approval",
    subject: "$O",
  },
  {
    name: "push of the task's branch",
    script: "git push -q origin task/1",
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "push with NODE_OPTIONS that load a program first",
    script: `echo 'process.exit(0)' > "$R/../first.cjs" && NODE_OPTIONS="--require=$(cd "$R/.." && pwd | sed 's/ /\\\\ /g')/first.cjs" git push -q origin task/1:main`,
    expected: "refused",
    subject: "$O",
  },
  {
    name: "push of main with a forged remote-tracking ref",
    setup: `${OFF} commit -q --allow-empty -m x && note_tip`,
    script: "git update-ref refs/remotes/origin/main main && git push -q origin main",
    expected: "refused",
    subject: "$O",
  },
  {
    name: "push --force of an older main",
    script: "git push -q --force origin main~1:main",
    expected: "refused",
    subject: "$O",
  },
  {
    name: "push of a task's branch under a protected name that is new",
    script: "git push -q origin task/1:master",
    expected: "refused",
    subject: "$O",
  },
  { name: "push of main as the remote has it", script: "git push -q origin main", expected: "allowed" },
  {
    name: "first push of a branch with old history",
    script: 'git init -q --bare "$R/../fresh.git" && git push -q "$R/../fresh.git" main',
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "fetch of nothing, of one ref, of five, all at once, and pruned",
    script:
      'git fetch -q && git push -q origin feature:a && git fetch -q && for i in 1 2 3 4 5; do git -C "$O" branch "n$i" main; done && git fetch -q && git -C "$O" branch m main && git fetch -q --atomic && git -C "$O" branch -q -D n1 n2 n3 && git fetch -q --prune',
    expected: "allowed",
  },
  {
    name: "remote set-head, remote update, remote rename",
    script:
      "git remote set-head origin -a >/dev/null && git remote update >/dev/null 2>&1 && git remote rename origin upstream >/dev/null 2>&1",
    expected: "allowed",
  },
  { name: "clone of this repository", script: 'git clone -q "$R" "$R/../clone"', expected: "allowed" },
]);

/** Another repository whose main is the task's branch, and what it takes to fetch from it. */
const EVIL =
  'git clone -q --bare "$R" "$R/../evil.git" && git -C "$R/../evil.git" update-ref refs/heads/main "$T"';
/** What ordinary git commands make of any remote-tracking ref. */
const FORGED = 'git update-ref refs/remotes/origin/main "$T"';
const MERGED = "git merge -q --ff-only origin/main";

const untrusted = group("Remotes that nobody trusts, and what pretends to be one", [
  {
    name: "a remote that is this repository",
    script:
      "git remote add self . && git update-ref refs/remotes/self/main task/1 && git merge -q --ff-only self/main",
    expected: "refused",
    clean: true,
    everyShell: true,
  },
  {
    name: "a remote that is this repository, by another address",
    script:
      'git remote add self "file://$(pwd)/.git" && git fetch -q self task/1:refs/remotes/self/main && git merge -q --ff-only self/main',
    expected: "refused",
  },
  {
    name: "a new remote with its own main",
    script: `${EVIL} && git remote add evil "$R/../evil.git" && git fetch -q evil && git merge -q --ff-only evil/main`,
    expected: "refused",
    clean: true,
    everyShell: true,
  },
  {
    name: "pull from a new remote that main follows now",
    script: `${EVIL} && git remote add evil "$R/../evil.git" && git fetch -q evil && git branch -q -u evil/main && git pull -q --ff-only`,
    expected: "refused",
  },
  {
    name: "a bundle as a remote",
    script:
      'git bundle create -q "$R/../b" task/1 && git remote add bundle "$R/../b" && git fetch -q bundle task/1:refs/remotes/bundle/main && git merge -q --ff-only bundle/main',
    expected: "refused",
  },
  {
    name: "a remote that is defined in .git/remotes",
    script: `${EVIL} && mkdir -p .git/remotes && printf 'URL: %s\nPull: refs/heads/main:refs/remotes/old/main\n' "$R/../evil.git" > .git/remotes/old && git fetch -q old && git merge -q --ff-only old/main`,
    expected: "refused",
  },
  {
    name: "origin pointed elsewhere",
    script: `${EVIL} && git remote set-url origin "$R/../evil.git" && git fetch -q && ${MERGED}`,
    expected: "refused",
    clean: true,
    everyShell: true,
  },
  {
    name: "origin pointed elsewhere by url.insteadOf",
    script: `${EVIL} && git config "url.$R/../evil.git.insteadOf" "$O" && git fetch -q && git pull -q --ff-only`,
    expected: "refused",
  },
  {
    name: "origin's name given to another remote",
    script: `${EVIL} && git remote rename origin old && git remote add origin "$R/../evil.git" && git fetch -q origin && ${MERGED}`,
    expected: "refused",
  },
  {
    name: "origin's push address pointed elsewhere, which moves origin/main",
    script: `${EVIL} && git remote set-url --push origin "$R/../evil.git" && git push -q origin task/1:main && ${MERGED}`,
    expected: "refused",
  },
  {
    name: "origin pointed elsewhere for one command only, by a setting",
    script: `${EVIL} && git remote set-url origin "$R/../evil.git" && git fetch -q && git -c "remote.origin.url=$O" merge -q --ff-only origin/main`,
    expected: "refused",
  },
  {
    name: "a forged refs/remotes/origin/main",
    script: `${FORGED} && ${MERGED}`,
    expected: "audit",
    found: "remote_not_confirmed",
    note: "the guard goes by the remote's name; an audit asks the remote itself",
    everyShell: true,
  },
  {
    name: "a forged refs/remotes/origin/main that is corrected afterwards",
    script: `${FORGED} && ${MERGED} && git update-ref refs/remotes/origin/main "$M"`,
    expected: "audit",
    found: "merged_directly",
  },
  {
    name: "a forged refs/remotes/origin/main, and a remote that does not answer",
    script: `${FORGED} && ${MERGED} && mv "$O" "$O.gone"`,
    expected: "audit",
    found: "remote_silent",
    exit: 2,
    note: "exit 2: the audit could not find out",
  },
  {
    name: "another remote's main fetched to refs/remotes/origin/main",
    script: `${EVIL} && git fetch -q "$R/../evil.git" +main:refs/remotes/origin/main && ${MERGED}`,
    expected: "audit",
    found: "remote_not_confirmed",
  },
  {
    name: "origin answered by another program, set with remote.origin.uploadpack",
    script: `${EVIL} && printf '#!/bin/sh\nexec git-upload-pack "%s"\n' "$R/../evil.git" > "$R/../pack" && chmod +x "$R/../pack" && git config remote.origin.uploadpack "'$R/../pack'" && git fetch -q && ${MERGED}`,
    expected: "audit",
    found: "remote_changed",
  },
  {
    name: "origin rewritten for two commands only",
    script: `${EVIL} && git -c "url.$R/../evil.git.insteadOf=$O" fetch -q && git -c "url.$R/../evil.git.insteadOf=$O" merge -q --ff-only origin/main`,
    expected: "audit",
    found: "remote_not_confirmed",
  },
  {
    name: "trust in a remote, written by hand",
    script: `${EVIL} && git remote set-url origin "$(dirname "$O")/evil.git" && sed -i "s,origin\\.git,evil.git,g" .git/pawl/remotes .git/pawl/hooks/reference-transaction .git/pawl/guard && git fetch -q && ${MERGED}`,
    expected: "audit",
    found: "remote_changed",
  },
]);

const newBranches = group("New branches under a protected name", [
  {
    name: "branch release/1 main",
    setup: RELEASES,
    script: "git branch release/1 main && git branch release/0 main~1",
    expected: "allowed",
    subject: "refs/heads/release/1",
    moves: true,
    everyShell: true,
  },
  {
    name: "branch release/1 task/1",
    setup: RELEASES,
    script: "git branch release/1 task/1",
    expected: "refused",
    subject: "refs/heads/release/1",
    says: "git branch release/1 main",
    everyShell: true,
  },
  {
    name: "branch release/1 at a commit that main only merged",
    setup: `${OFF} merge -q --no-ff -m merged feature && note_tip && ${RELEASES}`,
    script: "git branch release/1 feature",
    expected: "refused",
    subject: "refs/heads/release/1",
    says: "git branch release/1 main",
    everyShell: true,
  },
  {
    name: "push . feature:release/1, the same by a push",
    setup: `${OFF} merge -q --no-ff -m merged feature && note_tip && ${RELEASES}`,
    script: "git push -q --no-verify . feature:refs/heads/release/1",
    expected: "refused",
    subject: "refs/heads/release/1",
  },
  {
    name: "checkout -b release/1, and a commit",
    setup: `${RELEASES} && git checkout -q -b release/1`,
    script: `${NEW} && git commit -qm x`,
    expected: "refused",
    subject: "refs/heads/release/1",
  },
  {
    name: "branch release/1 task/1 with hooks off, then the hooks rewritten",
    setup: RELEASES,
    script: `${OFF} branch release/1 task/1 && pawl note add x >/dev/null && pawl install --profile hooks --yes >/dev/null`,
    expected: "audit",
    found: "committed_directly",
    subject: "refs/heads/release/1",
  },
  {
    name: "the same, and a forged note that the branch began there",
    setup: RELEASES,
    script: `${OFF} branch release/1 task/1 && echo "0000000000000000000000000000000000000000 $T refs/heads/release/1 created" >> .git/pawl/moves`,
    expected: "audit",
    found: "committed_directly",
    subject: "refs/heads/release/1",
  },
]);

const secondClones = group("A second clone", [
  {
    name: "a commit, an installation before any sync, and a push",
    script: `${SECOND_CLONE} && pawl sync --yes >/dev/null; git push -q origin main`,
    expected: "refused",
    subject: "$O",
  },
  {
    name: "the same with push --no-verify",
    script: `${SECOND_CLONE} && pawl sync --yes >/dev/null; git push -q --no-verify origin main`,
    expected: "audit",
    found: "no_approval",
    subject: "$O",
  },
  {
    name: "the same, and the state sent again",
    script: `${SECOND_CLONE} && git push -q --no-verify origin main; pawl sync --yes >/dev/null; pawl doctor --fix >/dev/null; pawl sync --yes >/dev/null`,
    expected: "audit",
    found: "no_approval",
    subject: "$O",
  },
]);

const wiping = group("Wiping what was installed", [
  {
    name: "deleting guard, hooks and records, and a commit",
    setup: INSTALLED,
    script: `rm -rf .git/pawl .git/hooks .pawl/state && git config --remove-section hook.pawl 2>/dev/null; git config --unset core.hooksPath; ${NEW} && git commit -qm x`,
    expected: "audit",
    found: "installation_gone",
  },
  {
    name: "deleting guard, hooks and records, then installing again",
    setup: INSTALLED,
    script: `rm -rf .git/pawl .git/hooks .pawl/state && git config --remove-section hook.pawl 2>/dev/null; git config --unset core.hooksPath; ${NEW} && git commit -qm x && CLAUDECODE=1 pawl install --yes >/dev/null`,
    expected: "audit",
    found: "late_baseline",
  },
  {
    name: "a line in .git/pawl/home that points to another repository's records, and a commit",
    setup: ANOTHER,
    script: `echo ../../../another/.pawl/state > .git/pawl/home && ${NEW} && ${OFF} commit -qm x`,
    expected: "tripwire",
    found: "committed_directly",
  },
  {
    name: "the same, with this repository's own records deleted",
    setup: ANOTHER,
    script: `rm -rf .pawl/state .git/pawl/state.git && echo ../../../another/.pawl/state > .git/pawl/home && ${NEW} && ${OFF} commit -qm x`,
    expected: "tripwire",
    found: "installation_gone",
  },
]);

const everyday = group("Everyday work that must go on", [
  { name: "gc", script: "git gc -q && git gc -q --prune=now", expected: "allowed", everyShell: true },
  {
    name: "pack-refs --all",
    script: "git pack-refs --all && git pack-refs --all",
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "maintenance run",
    script: "git maintenance run --task=pack-refs && git maintenance run --task=gc",
    expected: "allowed",
  },
  { name: "reflog expire", script: "git reflog expire --expire=now --all", expected: "allowed" },
  {
    name: "repack, prune, fsck",
    script: "git repack -qad && git prune && git fsck >/dev/null 2>&1",
    expected: "allowed",
  },
  {
    name: "tag, move and delete it",
    script:
      "git tag v1 && git tag -f -a -m x v1 feature >/dev/null && git tag -d v1 >/dev/null && git tag main",
    expected: "allowed",
  },
  { name: "notes", script: "git notes add -m x && git notes remove 2>/dev/null", expected: "allowed" },
  {
    name: "notes, tags and stash in the task's worktree",
    script:
      'cd "$W" && git notes add -m x && git tag v2 && echo y > t && git stash -q && git stash pop -q && git fetch -q && git update-ref refs/pawl/x HEAD',
    expected: "allowed",
  },
  {
    name: "status, log and diff",
    script: "git status --short && git log --oneline -1 >/dev/null && git diff",
    expected: "allowed",
  },
  {
    name: "a submodule, and a commit on its own main",
    script:
      'git -c protocol.file.allow=always submodule add -q "$O" sub && cd sub && git checkout -q -B main && git commit -q --allow-empty -m x',
    expected: "allowed",
    everyShell: true,
  },
  {
    name: "init of another repository inside",
    script: "git init -q -b main inner && cd inner && git commit -q --allow-empty -m x",
    expected: "allowed",
  },
]);

const tasks = group("Tasks' branches", [
  {
    name: "amend in its own worktree",
    script: 'cd "$W" && git commit -q --amend -m x',
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
  },
  {
    name: "reset in its own worktree",
    script: 'cd "$W" && git reset -q --hard HEAD~1',
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
  },
  {
    name: "moved from the main worktree",
    script: "git branch -f task/1 main 2>/dev/null || git update-ref refs/heads/task/1 main",
    expected: "refused",
    subject: "refs/heads/task/1",
    everyShell: true,
  },
  {
    name: "moved by another worktree's commit",
    script: `git worktree add -q -f "$R/../new" task/1 && cd "$R/../new" && git commit -q --allow-empty -m x`,
    expected: "refused",
    subject: "refs/heads/task/1",
  },
  {
    name: "deleted in the main worktree",
    script: "git update-ref -d refs/heads/task/1",
    expected: "refused",
    subject: "refs/heads/task/1",
    everyShell: true,
  },
  {
    name: "deleted in its own worktree",
    script: 'cd "$W" && git checkout -q --detach && git branch -q -D task/1',
    expected: "refused",
    subject: "refs/heads/task/1",
  },
  {
    name: "renamed in its own worktree",
    script: 'cd "$W" && git branch -m task/1 mine',
    expected: "refused",
    // The name is gone, and the worktree stays where it was.
    tables: "no such thing",
    subject: "refs/heads/task/1",
  },
  {
    name: "deleted with a grant",
    script:
      'mkdir -p .git/pawl/grants/update/refs/heads/task && echo "$T $(echo "$T" | tr 0-9a-f 0) refs/heads/task/1" > .git/pawl/grants/update/refs/heads/task/1 && git update-ref -d refs/heads/task/1',
    expected: "allowed",
    subject: "refs/heads/task/1",
    moves: true,
    everyShell: true,
  },
  {
    name: "another branch moved from the task's worktree",
    script: 'cd "$W" && git branch -f feature HEAD',
    expected: "refused",
    subject: "refs/heads/feature",
    everyShell: true,
  },
  {
    name: "another branch deleted from the task's worktree",
    script: 'cd "$W" && git branch -q -D feature',
    expected: "refused",
    subject: "refs/heads/feature",
  },
  {
    name: "a new branch created in the task's worktree",
    script: 'cd "$W" && git checkout -q -b mine',
    expected: "refused",
    subject: "refs/heads/mine",
    says: "git tag <name>",
    note: "commits there would be in no snapshot, review or merge of the task; use a tag to remember a commit",
  },
  {
    name: "a tag created in the task's worktree",
    script: 'cd "$W" && git tag mine',
    expected: "allowed",
    subject: "refs/tags/mine",
    moves: true,
  },
  {
    name: "packed from any worktree",
    script: 'cd "$W" && git pack-refs --all && cd "$R" && git gc -q',
    expected: "allowed",
  },
]);

export const ROWS: readonly Row[] = [
  ...committing,
  ...switchingOff,
  ...plumbing,
  ...branches,
  ...history,
  ...remotes,
  ...untrusted,
  ...newBranches,
  ...secondClones,
  ...wiping,
  ...everyday,
  ...tasks,
];
