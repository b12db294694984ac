import type { Approvers } from "../model/approvers.ts";
import type { Config } from "../model/config.ts";
import type { Kind, Problem, Stored } from "../model/record.ts";
import type { note } from "../model/records/parts.ts";
import type { Run, RunRepo, receipt, repository } from "../model/records/run.ts";
import type { Task, TaskStatus, task } from "../model/records/task.ts";
import type { unlock } from "../model/records/unlock.ts";
import type { AttemptView } from "./agents.ts";
import type { SeenClaim } from "./claims.ts";
import type { MergeAhead } from "./guard.ts";
import type { Phase } from "./hands.ts";
import type { Purpose } from "./merges.ts";
import type { Situation } from "./operation.ts";

/** What a list of tasks needs to know of each one, without its body. */
export interface TaskSummary {
  id: string;
  title: string;
  status: TaskStatus;
  profile: Task["profile"];
  branch: string | undefined;
  base_branch: string | undefined;
  labels: string[];
  depends_on: string[];
  blocker: string | undefined;
  next: string[];
  archived: boolean;
  slices_open: number;
  rev: number;
  actor: string;
  created: string;
  updated: string;
}

/** The tasks that somebody may be working on, and how many are past. */
export interface CurrentTasks {
  tasks: TaskSummary[];
  past: Record<string, number>;
  problems: Problem[];
}

/** One line of the log: which record came to which rev, by whom, where, in which operation. */
export interface LoggedEvent {
  time: string;
  event: string;
  phase?: Phase;
  /** The record and its rev: `T0001/F1@2`. */
  record: string;
  task?: string;
  about: string;
  actor: string;
  /** `web` for what was done on the page. */
  how?: string;
  repo?: string;
  branch?: string;
  commit?: string;
  path?: string;
  /** The beginning of the sha256 of what was written, and of what that replaced. */
  text?: string;
  before?: string;
  /** For a record that two clones had given the id of: where it was before, and the digests of what it said there. */
  was?: string;
  voided?: string[];
}

export interface EventsWanted {
  task?: string | undefined;
  /** Only those about files with such a path. */
  about?: ((path: string) => boolean) | undefined;
  limit: number;
}

/** Somebody who moved a task's branch, by what their environment said. */
export interface Mover {
  actor: string;
  /** The same agent, whichever session it was. */
  anySession: string;
  /** The session was seen to begin; otherwise its name is only a word. */
  seen: boolean;
}

/** A session of an agent at work on a task. */
export interface Held {
  task: string;
  holder: string;
}

/** Reads of the store: synchronous and never locked. One reader serves one gathering of facts. */
export interface Reader {
  /** False before the first write of this repository. */
  exists: boolean;
  /** There is no state here, but the remote has one that was never brought here. */
  waits(): boolean;
  tasks(): { tasks: TaskSummary[]; problems: Problem[] };
  /** Much cheaper than all tasks where most of them are past. */
  current(): CurrentTasks;
  /** Those that somebody works on: cheaper still. One that is waiting, and made one of them by hand, may be missing for a minute. */
  live(): TaskSummary[];
  /** Throws when there is no such task, or when its file is broken. */
  task(id: string): Stored<typeof task>;
  /** The text of a task's file as it is, readable or not. */
  taskText(id: string): string;
  hasTask(id: string): boolean;
  /** Understands a text as a record of this kind, or says what is wrong with it. */
  parse<K extends Kind>(kind: K, path: string, text: string, shown: string): Stored<K>;
  /** One part of a task: throws when absent or broken. */
  part<K extends Kind>(kind: K, task: string, part: string): Stored<K>;
  parts<K extends Kind>(kind: K, task: string): { records: Stored<K>[]; problems: Problem[] };
  /** The runs of these tasks, partly from what is remembered: to be shown, not to be decided on. */
  runs(tasks: readonly string[]): { runs: Run[]; problems: Problem[] };
  /** Names in use, broken files included, so that no id is given twice. */
  partNames(kind: Kind, task: string): string[];
  taskNames(): string[];
  notes(): { records: Stored<typeof note>[]; problems: Problem[] };
  noteNames(): string[];
  /** Every time that a human opened a protected branch. */
  unlocks(): { records: Stored<typeof unlock>[]; problems: Problem[] };
  unlockNames(): string[];
  /** The touched files of a task, by every clone, latest first. */
  touched(task: string): string[];
  touchedBy(task: string, clone: string): Stored<Kind> | undefined;
  /** The agents that the guard saw moving the task's branch, on this machine. */
  movers(task: string): Mover[];
  /** The tasks that sessions of agents hold on this machine. */
  holders(): Held[];
  /** Whether a file of the state, such as a patch, is there. */
  hasFile(path: string): boolean;
  /** The text of such a file; undefined where there is none. */
  fileText(path: string): string | undefined;
  /** The latest events, oldest first. */
  events(wanted: EventsWanted): LoggedEvent[];
  receipt(task: string): Stored<typeof receipt> | undefined;
  /** A text as the project's policy, or what is wrong with it. */
  config(where: string, text: string): Config;
  /** A text as the list of those who may decide, or what is wrong with it. */
  approvers(where: string, text: string): Approvers;
  /** Who claimed which task, as the remote last said. */
  claims(): SeenClaim[];
  /** The repositories that tasks may touch. */
  repositories(): { records: Stored<typeof repository>[]; problems: Problem[] };
}

export interface CheckRun {
  argv: string[];
  /** The check was killed, so it did not come to a result. */
  signal: string | undefined;
  exitCode: number;
  durationMs: number;
  outputSha256: string;
  outputBytes: number;
  tail: string;
  /** The files that ran. */
  programs: { path: string; sha256: string }[];
  /** Whose variables those were: kept at install by a human, or the caller's. */
  environment: "kept" | "caller";
  /** Programs that the caller's own PATH would have found somewhere else. */
  elsewhere: { name: string; used: string; here: string }[];
}

export interface SearchHit {
  id: string;
  kind: string;
  task: string | null;
  status: string | null;
  title: string;
  snippet: string;
  score: number;
  updated: string;
}

/** How well a record matches, without a look at its text. */
export type Likeness = Pick<SearchHit, "id" | "task" | "score">;

export interface SearchQuery {
  words: string;
  kinds?: string[];
  statuses?: string[];
  task?: string;
  limit?: number;
  match?: "all" | "any";
}

/** What a bug report has to say about the machine. */
export interface Machine {
  pawl: string;
  node: string;
  git: string;
  system: string;
}

/** Where a task's work is to go, in one of its repositories. */
export interface Target {
  repo: string;
  branch: string;
  exists: boolean;
  /** The branches there are, asked for only where this one is not: none in a repository without commits. */
  others: string[];
  /** The remote has such a branch. */
  published: boolean;
  /** The guard watches it, or there is no guard at all, which is told elsewhere. */
  guarded: boolean;
}

/** A worktree that is bound to a task, and the world as it is seen from there. */
interface TaskPlace {
  repo: string;
  path: string;
  world: World;
  at: Situation;
}

/** The files that were changed in a worktree: in commits since its branch left its base, and not committed yet. */
export interface Work {
  committed: string[];
  uncommitted: string[];
}

/** Looks outside the store: git, running programs, the search index, the project's own settings. */
export interface World {
  config(): Promise<Config>;
  isDirty(): Promise<boolean>;
  /** These branches of repositories that this machine knows; others are left out. */
  targets(wanted: readonly { repo: string; branch: string }[]): Promise<Target[]>;
  isAncestor(ancestor: string, descendant: string): Promise<boolean>;
  resolveCommit(name: string): Promise<string | undefined>;
  /** Whether two commits differ in any file; an empty commit changes nothing. */
  differ(one: string, other: string): Promise<boolean>;
  /** One line of a file as a commit has it, here or in another repository of the project. */
  lineAt(commit: string, file: string, line: number, repo?: string): Promise<string | undefined>;
  /** The tree of everything git would not ignore, uncommitted changes included; the user's index stays as it is. */
  workingTree(): Promise<{ tree: string; whole: boolean } | undefined>;
  /**
   * The files that were committed here since the branch left its base, and those that are not committed yet. Partly from
   * what is remembered, so to be shown and not to be decided on; with `certain`, git itself says what is not committed.
   */
  work(base: string | undefined, options?: { certain: boolean }): Promise<Work>;
  /** Files that differ from where the branch left its base, uncommitted ones included. */
  changedFiles(base: string): Promise<string[]>;
  /** Runs where we stand, or at the top of the worktree, with what the policy adds to the environment. */
  runCheck(
    argv: string[],
    where: "here" | "top",
    policy: Readonly<Record<string, string>>,
  ): Promise<CheckRun>;
  /** Where a task is worked on, on this machine. */
  workplaces(task: string): Promise<TaskPlace[]>;
  /** `.pawl/config.yaml` as it is committed on a base branch. */
  committedPolicy(repo: Pick<RunRepo, "name" | "base_branch">): Promise<string | undefined>;
  /** The tips of a run's branches, in every repository that this machine knows. */
  branchTips(repos: readonly { name: string; branch: string }[]): Promise<{ repo: string; head: string }[]>;
  /** The files that a run's branches changed since they left their base. */
  branchChanges(repos: readonly RunRepo[]): Promise<{ repo: string; files: string[] }[]>;
  /** Whether a commit is part of a run's branch, in its own repository. */
  isInBranch(repo: RunRepo, commit: string): Promise<boolean>;
  /** The worktrees of a task on this machine, and the files that differ there from where its run began. */
  changedPlaces(
    task: string,
    repos: readonly RunRepo[],
  ): Promise<{ repo: string; path: string; files: string[] }[]>;
  /**
   * Which of these runs' bases have their work by now, such as by a pull request, and by which commit. Only for telling:
   * what was found once is remembered.
   */
  landed(runs: readonly Run[]): Promise<Map<string, string>>;
  /** Uncommitted files of the main checkout that an agent's session was seen to change. */
  strays(): Promise<string[]>;
  /** Whether anybody has installed pawl in this repository. */
  isInstalled(): boolean;
  /** Pawl's files are in the folder we stand in, and this commit of it does not have them. */
  isUncommitted(commit: string | undefined): Promise<boolean>;
  /** Whether it was in this very clone, by somebody who was shown which commands the policy names. */
  isInstalledHere(): boolean;
  /** The protected branches, where none of them has the installed files any more and this clone is still installed. */
  dropped(): Promise<string[]>;
  /** What keeps the guard of this repository from holding, as far as a few looks at files can tell. */
  guardWarnings(): Promise<string[]>;
  /** Approved merges that a remote lacks, as far as it was fetched. */
  mergesAhead(): Promise<MergeAhead[]>;
  /** What the merges were for that a kill has cut off; the next command that writes completes or undoes them. */
  cutOffMerges(): Promise<Purpose[]>;
  search(query: SearchQuery): Promise<{ hits: SearchHit[]; total: number }>;
  /** What a search would find, best first; cheaper, because no texts are shown. */
  findAlike(query: SearchQuery): Promise<Likeness[]>;
  machine(): Promise<Machine>;
  /** What the processes of these runs show, on this machine; undefined for a run that none was started for here. */
  attempts(runs: readonly string[]): Promise<(AttemptView | undefined)[]>;
  /** Lets the user edit a text in their editor; `kept` is where the result can still be found. */
  edit(name: string, text: string): Promise<{ text: string; kept: string }>;
}
