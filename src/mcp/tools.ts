/** Which operations agents get as tools. What is not listed here is not offered: approvals, unlocks and the like are a human's. */
export interface ToolSpec {
  /** `core` is what every session needs; the rest comes with `--tools all`. */
  tier: "core" | "all";
  /** Shorter than the command's own summary: the list of tools is paid for in every session. */
  summary: string;
  /** The fields that `core` offers; all of them where it is left out. */
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
    stands: "task",
    textOnly: true,
    summary: "Call first: task, gates, findings, handoff, next",
  },
  context: {
    tier: "core",
    stands: "task",
    textOnly: true,
    summary: "Packet to resume a task",
  },
  "task.list": { tier: "core", stands: "here", summary: "List tasks", core: ["status", "limit"] },
  "task.show": { tier: "all", stands: "task", summary: "Everything recorded of a task" },
  "task.new": {
    tier: "core",
    stands: "here",
    summary: "Write down a task",
    core: ["title", "objective", "plan", "acceptance", "profile"],
  },
  "task.update": {
    tier: "core",
    stands: "task",
    summary: "Change a task",
    core: ["task", "objective", "plan", "status", "blocker", "next"],
  },
  start: {
    tier: "core",
    stands: "here",
    idempotent: true,
    summary: "Make branch and worktree; claim: take over",
    core: ["task", "claim"],
  },
  "slice.open": { tier: "core", stands: "task", summary: "Begin one testable step" },
  "slice.close": { tier: "core", stands: "task", summary: "End a step", core: ["slice", "decision", "task"] },
  decide: { tier: "core", stands: "task", summary: "Record a decision", core: ["what", "why", "task"] },
  verify: {
    tier: "core",
    stands: "tree",
    summary: "Run a check in the task's worktree as evidence",
    core: ["command", "slice", "red", "task", "repo"],
    words: { command, red: "must fail" },
  },
  "finding.add": { tier: "core", stands: "task", summary: "Record a review finding" },
  "finding.list": { tier: "core", stands: "task", summary: "All findings of a task", core: ["task"] },
  "finding.resolve": {
    tier: "core",
    stands: "tree",
    summary: "It is fixed and committed",
    core: ["finding", "note", "task"],
  },
  "review.start": {
    tier: "core",
    stands: "task",
    readOnly: true,
    summary: "What a reviewer must know first",
  },
  "review.record": {
    tier: "core",
    stands: "task",
    summary: "Record a verdict",
    core: ["kind", "verdict", "looked_at", "head", "summary", "task"],
  },
  check: { tier: "core", stands: "task", summary: "Ready? Else what is missing" },
  handoff: { tier: "core", stands: "task", summary: "Leave it so that anybody can go on" },
  snapshot: { tier: "core", stands: "task", summary: "Save the task's work", idempotent: true },
  diff: { tier: "all", stands: "task", summary: "The saved work as a patch", textOnly: true },
  search: { tier: "core", stands: "here", summary: "Search all records", core: ["words"] },

  status: { tier: "all", stands: "here", summary: "Where am I" },
  "task.ready": { tier: "all", stands: "here", summary: "Tasks that can be begun" },
  "task.archive": {
    tier: "all",
    stands: "here",
    summary: "Put a finished task out of sight",
    idempotent: true,
  },
  touch: { tier: "all", stands: "task", summary: "Note which files are worked on", idempotent: true },
  "finding.reopen": { tier: "all", stands: "task", summary: "It is not fixed" },
  "finding.defer": { tier: "all", stands: "task", summary: "Not now; for reviewers, not authors" },
  "finding.wontfix": { tier: "all", stands: "task", summary: "Never; for reviewers, not authors" },
  "note.add": { tier: "all", stands: "here", summary: "Keep knowledge beyond one task" },
  "note.list": { tier: "all", stands: "here", summary: "All notes" },
  log: { tier: "all", stands: "here", summary: "The latest events" },
  refresh: { tier: "all", stands: "task", summary: "Bring a moved base into the task's branch" },
  finish: {
    tier: "all",
    stands: "here",
    destructive: true,
    summary: "End a run: keep its worktrees, or save the work and remove them",
  },
  "repo.list": { tier: "all", stands: "here", summary: "Repositories that tasks may touch" },
  sync: {
    tier: "all",
    stands: "here",
    idempotent: true,
    summary: "Exchange the records with the remote",
    without: ["ours", "theirs"],
  },
  audit: {
    tier: "all",
    stands: "here",
    summary: "Is every commit of the protected branches explained?",
    without: ["ci", "updates"],
  },
};

export type Tier = ToolSpec["tier"];

export const toolName = (id: string) => id.replaceAll(".", "_");

/** The operation that a tool's name means, if it is offered. */
export function toolId(name: string, tier: Tier): string | undefined {
  return toolIds(tier).find((id) => toolName(id) === name);
}

export function toolIds(tier: Tier): string[] {
  return Object.keys(TOOLS).filter((id) => tier === "all" || TOOLS[id]?.tier === "core");
}
