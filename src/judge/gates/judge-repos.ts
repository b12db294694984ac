import type { Check } from "../../model/config.ts";
import type { Evidence, Review } from "../../model/records/parts.ts";
import type { Run } from "../../model/records/run.ts";
import { testsNothing } from "../../model/tests-nothing.ts";
import { firstFew, quoted } from "../../model/text.ts";
import { ENROL } from "../keys.ts";
import type { RecordFacts, RepoFacts } from "./facts.ts";
import { isPassed, latestReview } from "./judge-records.ts";
import type { Breach } from "./rules.ts";

/** What git and the records together say is missing, over all repositories of the run. */
export function judgeRepos(facts: RecordFacts, repos: readonly RepoFacts[]): Breach[] {
  const { task, run } = facts;
  if (!run && task.status === "done")
    return [
      {
        code: "not_started",
        message: `${task.id} is done: its work is merged and its worktree removed, nothing is left to check.`,
        record: task.id,
        command: `pawl task show ${task.id}`,
      },
    ];
  if (!run || run.status === "starting")
    return [
      {
        code: "not_started",
        message: run ? `${run.id} did not finish starting.` : `${task.id} has no run.`,
        record: run?.id ?? task.id,
        command: `pawl start ${task.id}`,
      },
    ];
  const bases = run.repos.map((one) => one.base_branch);
  const drifted: Breach[] =
    task.base_branch === undefined || bases.includes(task.base_branch)
      ? []
      : [
          {
            code: "base_changed",
            message: `${task.id} targets ${task.base_branch}, but ${run.id} works for ${bases.join(" and ")}.`,
            record: task.id,
            command: `pawl task update ${task.id} --base ${quoted(bases[0] ?? "")}`,
          },
        ];
  const whole = repos.filter((one) => one.head !== undefined && one.base !== undefined);
  const breaches = [...drifted, ...repos.flatMap((one) => judgePlace(facts, one))];
  const [first] = whole;
  // Uncommitted work is reported as `dirty_worktree`, so this is not reported as well.
  const isUntouched = whole.every((one) => !one.changed && !one.dirty?.length);
  if (first && whole.length === repos.length && isUntouched)
    breaches.push({
      code: "no_changes",
      message: "No repository of the task differs from its base: no work is committed on its branch.",
      record: run.id,
      command: `git -C ${quoted(first.path)} commit`,
    });
  for (const one of whole.filter((each) => each.changed))
    breaches.push(...judgeBase(task.id, one), ...judgeChecks(facts, one), ...judgeSnapshot(facts, run, one));
  return [
    ...breaches,
    ...judgeReview(
      facts,
      run,
      whole.filter((one) => one.changed),
    ),
  ];
}

const breachIn =
  (repo: RepoFacts["repo"]) =>
  (code: Breach["code"], message: string, command: string): Breach => ({
    code,
    message,
    record: repo.worktree,
    repo: repo.name,
    command,
  });

/** The task's branch, and the base that it goes to. */
function judgeBranches({ task }: RecordFacts, { repo, ...git }: RepoFacts): Breach[] {
  const breach = breachIn(repo);
  const found: Breach[] = [];
  if (git.head === undefined)
    found.push(
      breach("branch_missing", `The branch ${repo.branch} is gone.`, `pawl start ${task.id} --claim`),
    );
  if (repo.base_was !== undefined)
    found.push(
      breach(
        "base_changed",
        `${task.id} now targets ${repo.base_branch}, but its branch was created for ${repo.base_was}.`,
        `pawl refresh ${task.id}`,
      ),
    );
  if (git.base === undefined)
    found.push(
      breach(
        "base_missing",
        `There is no branch ${repo.base_branch}.`,
        `git branch ${repo.base_branch} <commit>`,
      ),
    );
  return found;
}

function judgePlace(facts: RecordFacts, one: RepoFacts): Breach[] {
  const { task, run } = facts;
  const { repo, ...git } = one;
  const breach = breachIn(repo);
  const found = judgeBranches(facts, one);
  if (git.isProtected)
    found.push(
      breach(
        "on_protected_branch",
        `${repo.branch} is protected: work on another branch.`,
        `pawl start ${task.id}`,
      ),
    );
  for (const id of git.lostFixes)
    found.push({
      ...breach(
        "fix_not_in_branch",
        `What fixed it is not in ${repo.branch} any more.`,
        `pawl finding reopen ${id} --note "…"`,
      ),
      record: id,
    });
  if (git.unsignable !== undefined) found.push(breach("nobody_could_sign", git.unsignable, ENROL));
  if (git.surfacesMissing)
    found.push(
      breach(
        "surfaces_not_in_base",
        `${repo.base_branch} does not have the files that pawl installed.`,
        "pawl install --commit",
      ),
    );
  if (git.dirty === undefined && run?.ended === undefined)
    found.push(
      breach("worktree_missing", `The worktree ${repo.worktree} is gone.`, `pawl start ${task.id} --claim`),
    );
  if (git.dirty && git.dirty.length > 0)
    found.push(
      breach(
        "dirty_worktree",
        `Not committed: ${few(git.dirty)}.`,
        `git -C ${quoted(git.path)} add -A && git -C ${quoted(git.path)} commit`,
      ),
    );
  return [...found, ...git.targetDirty.map((one) => targetBreach(task.id, repo, one))];
}

function targetBreach(
  task: string,
  repo: RepoFacts["repo"],
  { worktree, files, strays }: RepoFacts["targetDirty"][number],
): Breach {
  const whose =
    strays.length > 0
      ? `changes that an agent's session made: ${few(strays)}`
      : `changes of yours: ${few(files)}`;
  return {
    code: "target_dirty",
    message: `${repo.base_branch} is checked out with ${whose}.`,
    record: worktree,
    repo: repo.name,
    command: strays.length > 0 ? `pawl rescue ${task}` : `git -C ${quoted(worktree)} status`,
  };
}

function judgeBase(task: string, { repo, ...git }: RepoFacts): Breach[] {
  if (git.contained) return [];
  const common = { record: repo.branch, repo: repo.name };
  const moved: Breach = {
    code: "base_moved",
    message: `${repo.base_branch} has commits that ${repo.branch} does not have.`,
    command: `pawl refresh ${task}`,
    ...common,
  };
  if (git.conflicts.length === 0) return [moved];
  const files = few(git.conflicts);
  const command = `git -C ${quoted(git.path)} merge ${repo.base_branch}`;
  return [{ code: "unmergeable", message: `Merging it conflicts in ${files}.`, command, ...common }, moved];
}

/** Only for projects that name no checks: the others have tests. */
const NO_TESTS = " A project without tests says `checks: none` in .pawl/config.yaml.";

function judgeChecks({ task, run, evidence }: RecordFacts, one: RepoFacts): Breach[] {
  const { repo, tree, checks } = one;
  if (checks === "none") return [];
  const mine = evidence.filter((each) => each.repo === undefined || each.repo === repo.name);
  const wanted: (Check | undefined)[] = checks.length > 0 ? checks : [undefined];
  return wanted.flatMap((check): Breach[] => {
    const runs = mine.filter((each) => each.kind !== "red" && isRunOf(each, check));
    const here = runs.filter((each) => each.tree === tree && !each.unstable);
    const last = here.at(-1) ?? runs.at(-1);
    if (here.length > 0 && last?.exit_code === 0) return [];
    const name = check ? `The check "${check.name}"` : "A check";
    const where = (run?.repos.length ?? 0) > 1 ? ` --repo ${quoted(repo.name)}` : "";
    const before = last?.argv.map(quoted).join(" ") ?? "";
    const what = before !== "" && before.length <= 200 ? before : "<test command>";
    const common = {
      record: last?.id ?? task.id,
      repo: repo.name,
      check: check?.name,
      command: `pawl verify ${task.id}${where} ${check ? `--check ${quoted(check.name)}` : `-- ${what}`}`,
    };
    if (!last)
      return [{ code: "check_missing", message: `${name} was not run.${check ? "" : NO_TESTS}`, ...common }];
    if (here.length > 0)
      return [
        { code: "check_failed", message: `${name} failed on this tree: exit ${last.exit_code}.`, ...common },
      ];
    const why =
      last.unstable && last.tree === tree
        ? "changed files while it ran"
        : "ran on a different tree from the branch's";
    return [{ code: "check_stale", message: `${name} ${why}.`, ...common }];
  });
}

/** A check has to be exactly the command in the policy; without a policy, any command that can fail counts. */
function isRunOf(evidence: Evidence, check: Check | undefined): boolean {
  if (!check) return !testsNothing(evidence.argv);
  return (
    evidence.check === check.name &&
    evidence.argv.length === check.argv.length &&
    evidence.argv.every((word, index) => word === check.argv[index])
  );
}

function judgeSnapshot(
  { task }: RecordFacts,
  run: Run,
  { repo, tree, head, snapshotKept }: RepoFacts,
): Breach[] {
  const saved = run.snapshots.find((one) => one.repo === repo.name);
  if (saved && saved.tree === tree && saved.head === head && saved.whole && snapshotKept) return [];
  return [
    {
      code: "snapshot_missing",
      message: !saved
        ? "The diff was not saved."
        : saved.head === head && !snapshotKept
          ? "The saved diff is gone."
          : "The saved diff is not the branch's latest.",
      record: run.id,
      repo: repo.name,
      command: `pawl snapshot ${task.id}`,
    },
  ];
}

/** One review has to cover everything: every repository at the commit that would be merged. */
function judgeReview(facts: RecordFacts, run: Run, changed: readonly RepoFacts[]): Breach[] {
  const { task } = facts;
  const latest = latestReview(facts, "branch");
  const command = `pawl review start ${task.id} --kind branch`;
  if (!latest || !isPassed(latest, facts.findings)) return [reviewMissing(task.id, latest)];
  return changed
    .filter(({ repo, head }) => {
      const seen = latest.heads.find((one) => one.repo === repo.name)?.head;
      if (repo.base_since !== undefined && latest.created < repo.base_since) return true;
      return seen === undefined || head === undefined || !stillHolds(run, repo.name, seen, head);
    })
    .map(({ repo }) => ({
      code: "review_stale",
      message: `${repo.branch}, or its target, changed after ${latest.id} reviewed it.`,
      record: latest.id,
      repo: repo.name,
      command,
    }));
}

/** The reason shown until somebody other than the author has passed the branch. */
export function reviewMissing(task: string, latest: Review | undefined): Breach {
  return {
    code: "review_missing",
    message: !latest
      ? "Nobody but its author has reviewed the branch."
      : latest.verdict === "fail"
        ? `The last review of the branch, ${latest.id}, says fail.`
        : `${latest.id} says ${latest.verdict}, but no review passes the branch while a high finding is open.`,
    record: latest?.id ?? task,
    command: `pawl review start ${task} --kind branch`,
  };
}

/** Refreshing from a base that touched none of the same paths does not invalidate a review. */
export function stillHolds(run: Pick<Run, "refreshed">, repo: string, seen: string, head: string): boolean {
  const steps = new Map(
    run.refreshed.filter((one) => one.repo === repo && !one.overlap).map((one) => [one.from, one.to]),
  );
  let at: string | undefined = seen;
  for (let left = steps.size; at !== undefined && at !== head && left > 0; left--) at = steps.get(at);
  return at === head;
}

const few = (files: readonly string[]) => firstFew(files, 3);
