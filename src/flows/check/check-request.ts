import type { GateResult, Reason } from "../../judge/gates/gate.ts";
import { isProtected } from "../../judge/gates/policy.ts";
import { Failure } from "../../model/failure.ts";
import { taskOf } from "../../model/ids.ts";
import { refOfBranch } from "../../model/naming.ts";
import { POLICY_FILE } from "../../model/paths.ts";
import type { Problem } from "../../model/record.ts";
import { type Run, type RunRepo, run } from "../../model/records/run.ts";
import type { Branches, BranchState } from "../../ports/branches.ts";
import type { Hands } from "../../ports/hands.ts";
import type { Reader } from "../../ports/ports.ts";
import type { Site } from "../../ports/sites.ts";
import { noState } from "../audit/subject.ts";
import { checkTask } from "./check-task.ts";

export interface Request {
  head: string;
  /** The branch that it is to go to, as the remote calls it. */
  base: string;
  /** What records call this repository, where the state belongs to another. */
  repo: string | undefined;
}

/** A request that goes to no guarded branch needs no task: nothing was judged. */
const NOT_ASKED: GateResult = {
  task: "",
  stage: "close",
  ready: true,
  reasons: [],
  repos: [],
  seal: undefined,
};

/**
 * Whether a host may merge this commit, by the close gate: from the published records alone and by the base's own policy,
 * in a clone that has neither the task's worktree nor a state. Nothing of the commit itself is run or believed.
 */
export async function checkRequest(hands: Hands, wanted: Request): Promise<GateResult> {
  const site = (await hands.git.sites()).here();
  const audits = await hands.git.audits();
  const head = await known(hands, site, wanted.head);
  const base = await known(hands, site, `refs/remotes/origin/${wanted.base}`, refOfBranch(wanted.base));
  const state = await audits.stateTexts(site, undefined, isRecordPath);
  if (!state) throw noState(site);
  const policy = await audits.fileAt(site, base, POLICY_FILE);
  return hands.overRecords(state.texts, async (there) => {
    const names = await there.look((reader) => namesIn(reader, wanted.repo));
    const asked = await there.look((reader) => isAsked(reader, names, wanted.base, policy));
    if (!asked) return NOT_ASKED;
    const found = await there.look((reader) => runOf(reader, names, head));
    const branches = await published(there, site, { names, head, base, saved: found });
    const git = { ...there.git, branches: async () => branches };
    const world = { ...there.world, targets: async () => [] };
    const task = taskOf(found.id);
    const gate = await checkTask({ ...there, git, world }, task, "close", { fresh: true });
    const strays = found.repos.filter((one) => names.has(one.name) && one.base_branch !== wanted.base);
    const reasons = [...gate.reasons, ...strays.map((one) => elsewhere(task, one, wanted.base))];
    return { ...gate, reasons, ready: reasons.length === 0 };
  });
}

/** Tasks, repositories and what was logged; no path that leads out of the folder that it is put into. */
const isRecordPath = (path: string) =>
  /^(?:tasks|repos|events)\//.test(path) && !/(?:^|[/\\])\.\.?(?:[/\\]|$)|[\0\\]/.test(path);

async function known(hands: Hands, site: Site, ...names: string[]): Promise<string> {
  const audits = await hands.git.audits();
  for (const name of names) {
    const commit = await audits.resolve(site, name);
    if (commit !== undefined) return commit;
  }
  throw new Failure("unavailable", "no_commit", `This clone does not have ${names[0]}.`, {
    hint: "Fetch it and the branch it targets first: git fetch origin",
    details: { commit: names[0] },
  });
}

function namesIn(reader: Reader, repo: string | undefined): ReadonlySet<string> {
  const { records, problems } = reader.repositories();
  // It might be the one that says that the remote is guarded.
  if (problems[0]) throw cannotTell(problems[0]);
  const homes = records.filter((one) => one.value.home);
  return new Set(repo === undefined ? homes.map((one) => one.value.id) : [repo]);
}

/** Only what goes to a protected branch of a remote that is guarded needs a record. */
function isAsked(
  reader: Reader,
  names: ReadonlySet<string>,
  base: string,
  text: string | undefined,
): boolean {
  const config = text === undefined ? undefined : reader.config(`${POLICY_FILE} on ${base}`, text);
  const records = reader.repositories().records.filter((one) => names.has(one.value.id));
  const guarded =
    config?.approvals === "signed" ||
    config?.remotes?.some((one) => one.guarded) === true ||
    records.some((one) => one.value.trusted.some((each) => each.guarded));
  return guarded && isProtected(base, config, [], base);
}

/** The run that saved exactly this commit; the latest, where several did. */
function runOf(reader: Reader, names: ReadonlySet<string>, head: string): Run {
  const tasks = reader.taskNames().filter((name) => /^T\d{4,}$/.test(name));
  const parts = tasks.map((task) => reader.parts(run, task));
  const runs = parts.flatMap((one) => one.records.map(({ value }) => value));
  const found = runs.filter((one) =>
    one.snapshots.some((saved) => names.has(saved.repo) && saved.head === head),
  );
  const last = found.sort((a, b) => (a.updated < b.updated ? -1 : 1)).at(-1);
  if (last) return last;
  const [problem] = parts.flatMap((one) => one.problems);
  if (problem) throw cannotTell(problem);
  throw new Failure("refused", "no_record", `No published task has a snapshot of ${head.slice(0, 12)}.`, {
    hint: "Its author has to run `pawl pr`, which publishes the records and pushes the branch.",
    details: { head },
  });
}

const cannotTell = ({ file, message, hint }: Problem) =>
  new Failure("unreadable", "cannot_tell", `Could not tell: ${message}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { file },
  });

interface Facts {
  names: ReadonlySet<string>;
  head: string;
  base: string;
  saved: Run;
}

/** What git says of two commits, with nobody's worktree around them. Other repositories have checks of their own. */
async function published(hands: Hands, site: Site, facts: Facts): Promise<Branches> {
  const { names, head, base, saved } = facts;
  const [own, audits] = [await hands.git.branches(), await hands.git.audits()];
  const between = await own.between(site, head, base);
  const nothing: BranchState = {
    ...between,
    head: base,
    changed: false,
    contained: true,
    conflicts: [],
  };
  return {
    ...own,
    look: async ({ name }) => (names.has(name) ? between : nothing),
    async contains({ name }, commits) {
      for (const one of names.has(name) ? commits : [])
        if (!(await audits.contains(site, head, one))) return false;
      return true;
    },
    undone: async (name, at, change, options) =>
      names.has(name) && own.undone(site.name, at, change, options),
    // The commit of a snapshot stays in its clone; the patch is published, and is looked for as ever.
    ref: (repo) => saved.snapshots.find((one) => one.repo === repo)?.commit,
  };
}

const elsewhere = (task: string, { name, base_branch }: RunRepo, base: string): Reason => ({
  code: "base_changed",
  message: `The request targets ${base}, but ${task} was created and checked for ${base_branch}.`,
  record: task,
  repo: name,
  owner: "author",
  command: `pawl task update ${task} --base ${base}`,
});
