/** Which operations agents get as tools, under the same words. What is not listed here is not offered: approvals, unlocks and the like are a human's. */
export interface ToolSpec {
  /** `core` is what every session needs; the rest comes with `--tools all`. */
  tier: "core" | "all" | "manager";
  /** A manager, who starts others and does none of the work, has it as well. */
  manages?: true;
  /** Where the operation's own id would not say it. */
  name?: string;
  /** Shorter than the command's own summary: the list of tools is paid for in every session. */
  summary: string;
  /** The fields that are offered unless `all` are wanted; all of them where it is left out. */
  core?: readonly string[];
  /** Fields that are for humans or servers, and never offered. */
  without?: readonly string[];
  /** Words for fields whose name does not say it all. */
  words?: Readonly<Record<string, string>>;
  /**
   * Where the call stands. `here`: where the server was started. `task`: in the task's worktree, if it has one, so that
   * what is recorded names the task's branch and commit. `tree`: nowhere else, because its files decide the answer.
   */
  stands: "here" | "task" | "tree";
  /** Its text keeps a budget of its own, or is the whole answer: the same once more as data would cost the agent double. */
  textOnly?: boolean;
  /** Changes nothing, although the operation has to know who asks. */
  readOnly?: boolean;
  /** Changes or removes something that was there before. */
  destructive?: boolean;
  /** Repeating the call changes nothing more. */
  idempotent?: boolean;
}

const command = "argv; default: the configured checks";

export const TOOLS: Readonly<Record<string, ToolSpec>> = {
  session: {
    tier: "core",
    manages: true,
    stands: "task",
    textOnly: true,
    summary: "Call first and after compaction: your task, worktree, gates, open findings, last handoff, next",
    core: ["task"],
  },
  context: {
    tier: "core",
    stands: "task",
    textOnly: true,
    summary: "Everything needed to resume a task from nothing",
    core: ["task"],
  },
  "task.list": { tier: "core", manages: true, stands: "here", summary: "List tasks", core: ["status"] },
  "task.show": {
    tier: "core",
    manages: true,
    stands: "task",
    summary: "All records of one task: plan, acceptance, evidence",
  },
  "task.new": {
    tier: "core",
    manages: true,
    stands: "here",
    summary: "Create a task",
    core: ["title", "objective", "plan", "acceptance", "profile", "depends"],
    without: ["parent"],
  },
  "task.update": {
    tier: "core",
    manages: true,
    stands: "task",
    summary: "Change a task: objective, plan text, acceptance criteria, notes, status, blocker, next steps",
    core: ["task", "objective", "plan", "acceptance", "notes", "status", "blocker", "next"],
    without: ["parent"],
  },
  start: {
    tier: "core",
    stands: "here",
    idempotent: true,
    summary: "Start a task: create its branch and worktree, say where; claim takes over",
    core: ["task", "claim"],
    without: ["profile"],
  },
  "slice.open": { tier: "core", stands: "task", summary: "Begin a slice: one small step with its own test" },
  "slice.close": {
    tier: "core",
    stands: "task",
    summary: "End a slice with its decision",
    core: ["slice", "decision", "changed", "task"],
  },
  decide: {
    tier: "core",
    manages: true,
    stands: "task",
    summary: "Record a decision and why",
    core: ["what", "why", "slice", "task"],
    without: ["effort", "general", "supersedes"],
  },
  verify: {
    tier: "core",
    stands: "tree",
    summary: "Run tests or checks in the task's worktree and record the result as evidence",
    core: ["command", "slice", "red", "task", "repo"],
    words: { command, red: "must fail", repo: "if there are several" },
  },
  touch: {
    tier: "core",
    stands: "task",
    summary: "Announce the files you are about to change",
    idempotent: true,
  },
  "finding.add": { tier: "core", stands: "task", summary: "Record a review finding (bug, risk)" },
  "finding.batch": {
    tier: "core",
    stands: "task",
    summary: "Record many findings at once",
    words: { findings: "fields as in finding_add" },
  },
  "finding.list": {
    tier: "core",
    stands: "task",
    summary: "List findings, settled ones too",
    core: ["task", "status", "kind"],
    without: ["all"],
  },
  "finding.resolve": {
    tier: "core",
    stands: "tree",
    summary: "Author: a finding is fixed by a commit",
    core: ["finding", "note", "task"],
  },
  "finding.reopen": { tier: "core", stands: "task", summary: "Reviewer: a settled finding is not fixed" },
  "finding.wontfix": {
    tier: "core",
    stands: "task",
    summary: "Reviewer: a finding stays as it is, or repeats another",
  },
  "review.start": {
    tier: "core",
    stands: "task",
    readOnly: true,
    summary: "Before a review: commit, acceptance, earlier findings",
  },
  "review.record": {
    tier: "core",
    stands: "task",
    summary: "End a review with its verdict, pass or fail",
    core: ["kind", "verdict", "looked_at", "finding", "head", "summary", "task"],
    words: { looked_at: "files really read" },
  },
  check: {
    tier: "core",
    manages: true,
    stands: "task",
    summary: "Gate: is the task ready, else what is missing and who settles it",
    without: ["request", "base", "repo"],
  },
  handoff: {
    tier: "core",
    manages: true,
    stands: "task",
    summary: "Before stopping: what is done and what failed, blocker, next",
  },
  snapshot: { tier: "core", stands: "task", summary: "Save the work, uncommitted too", idempotent: true },
  diff: {
    tier: "core",
    stands: "task",
    summary: "The saved work as a patch",
    textOnly: true,
    core: ["task", "stat"],
    without: ["ignore_space", "since"],
  },
  refresh: { tier: "core", stands: "task", summary: "Merge a base that moved into the task's branch" },
  finish: {
    tier: "core",
    stands: "here",
    destructive: true,
    summary: "End a run: keep its worktree, or save the work and remove it",
  },
  search: {
    tier: "core",
    stands: "here",
    summary: "Full-text search of all records",
    core: ["words", "any"],
  },
  "note.add": {
    tier: "core",
    stands: "here",
    summary: "Keep knowledge beyond one task",
    core: ["title", "text", "about"],
    without: ["supersedes"],
  },

  inbox: { tier: "manager", stands: "here", summary: "What needs whom, what runs" },
  run: {
    tier: "manager",
    stands: "here",
    name: "run_start",
    summary: "Start an agent on tasks, within what a human allows",
    core: ["task", "agent", "role", "model", "message", "time", "cost"],
    without: ["follow", "mode", "agents", "in_all"],
  },
  "run.wait": { tier: "manager", stands: "here", summary: "Until runs end, 45s at most; call again" },
  "run.log": { tier: "manager", stands: "here", summary: "What a run said", without: ["follow"] },
  "run.list": { tier: "manager", stands: "here", summary: "Who works on what" },
  "run.stop": { tier: "manager", stands: "here", summary: "End a run" },
  "run.resume": {
    tier: "manager",
    stands: "here",
    summary: "Continue a run",
    core: ["run", "message", "agent", "time", "cost"],
    without: ["follow"],
  },
  "run.settle": { tier: "manager", stands: "here", summary: "Your judgement on a run that ended" },
  "lane.add": {
    tier: "manager",
    stands: "here",
    summary: "Paths that a task keeps to",
    core: ["task", "path", "after"],
  },
  "mail.send": {
    tier: "manager",
    stands: "here",
    summary: "Message to a task, a run (T1/R2) or the human",
  },
  "mail.list": { tier: "manager", stands: "here", summary: "Unread messages and reports", without: ["all"] },
  "mail.ack": { tier: "manager", stands: "here", summary: "Read a whole message and settle it" },
  status: { tier: "all", stands: "here", summary: "Where am I" },
  "task.ready": { tier: "all", stands: "here", summary: "Tasks ready to start" },
  "task.archive": {
    tier: "all",
    stands: "here",
    summary: "Hide a finished task from lists",
    idempotent: true,
  },
  "finding.defer": { tier: "all", stands: "task", summary: "Not now; for reviewers, not authors" },
  "note.list": { tier: "all", stands: "here", summary: "All notes" },
  log: { tier: "all", stands: "here", summary: "The latest events", without: ["follow"] },
  "repo.list": { tier: "all", stands: "here", summary: "Repositories that tasks may touch" },
  sync: {
    tier: "all",
    stands: "here",
    idempotent: true,
    summary: "Exchange the records with the remote",
    without: ["ours", "theirs", "yes", "sign_with"],
  },
  audit: {
    tier: "all",
    stands: "here",
    summary: "Is every commit of the protected branches explained?",
    without: ["ci", "updates", "root"],
  },
};

/** The one tool that is no operation: any other, without its effects. */
export const DRY_RUN = "dry_run";

export type Tier = ToolSpec["tier"];

export const toolName = (id: string) => TOOLS[id]?.name ?? id.replaceAll(".", "_");

/** The operation that a tool's name means, if it is offered. */
export function toolId(name: string, tier: Tier): string | undefined {
  return toolIds(tier).find((id) => toolName(id) === name);
}

export function toolIds(tier: Tier): string[] {
  return Object.keys(TOOLS).filter((id) => isOffered(TOOLS[id], tier));
}

/** Who manages starts others, and has nothing to work with; everybody else starts nobody. */
function isOffered(spec: ToolSpec | undefined, tier: Tier): boolean {
  if (tier === "manager") return spec?.tier === "manager" || spec?.manages === true;
  return spec?.tier === "core" || spec?.tier === tier;
}
