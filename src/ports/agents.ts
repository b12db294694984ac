import type { AgentConfig } from "../model/config.ts";
import type { Role, RunLimits, RunReason } from "../model/records/attempt.ts";

/** What an agent's stream has told so far. */
export interface AgentProgress {
  session: string | undefined;
  model: string | undefined;
  turns: number;
  /** The model's answer that is being told: it may come in several events. */
  answer: string | undefined;
  tokens: { input: number; cached: number; output: number };
  /** In US dollars, where the program itself says it. */
  cost: number | undefined;
  /** Files that it wrote, as it named them. */
  files: readonly string[];
  /** What it did last, and what it said last, in one line each. */
  last: string;
  said: string;
  /** How often a tool was denied to it. */
  denied: number;
  /** It used its vendor's own way to delegate, which leaves no record of ours. */
  delegated: boolean;
  /** It waits for the model, and why; silence means nothing then. */
  waiting: string | undefined;
  /** It would go on trying in vain. */
  hopeless: RunReason | undefined;
  /** The event by which it ends; `aborted` where it says that a signal cut it short. */
  verdict: { ok: boolean; reason: RunReason | undefined; words: string; aborted?: boolean } | undefined;
}

/** Asked for before the first signal is sent: what ends after it was stopped, whatever its exit code says. */
export interface StopRequest {
  reason: RunReason;
  by: string;
  at: string;
  graceMs: number;
}

/** How the agent's process ended, written once by whoever learned it first. */
export interface AttemptExit {
  /** Unknown where nobody was left who could have been told. */
  code: number | undefined;
  by: "guard" | "supervisor" | "settler";
  /** Why there is no code. */
  lost: RunReason | undefined;
  at: string;
}

export type AttemptState = "starting" | "running" | "orphaned" | "ended";

/** One attempt as its folder shows it; nothing was changed to learn this. */
export interface AttemptView {
  run: string;
  number: number;
  state: AttemptState;
  agent: string;
  begun: string;
  stop: StopRequest | undefined;
  exit: AttemptExit | undefined;
  progress: AgentProgress | undefined;
  /** Seconds since it began, and since its stream last grew. */
  elapsed: number;
  silent: number;
}

/** An agent that can be started here. */
export interface FoundAgent {
  name: string;
  /** How records call it. */
  actor: string;
  version: string | undefined;
  /** What it says while it runs; some tell what they used only when they end. */
  tells: { turns: boolean; cost: boolean };
  /** It can go on with a conversation of its own. */
  resumes: boolean;
}

/** Where agents are started, in place of here. */
export interface Runner {
  command: readonly string[];
  stop: readonly string[] | undefined;
}

export interface LaunchWish {
  run: string;
  /** Which attempt of the run it is; refused where that one already exists. */
  number: number;
  task: string;
  agent: string;
  settings: AgentConfig | undefined;
  runner: Runner | undefined;
  role: Role;
  model: string | undefined;
  limits: RunLimits;
  /** What it reads on standard input. */
  prompt: string;
  /** Where it works: the top of the first worktree; the project's own for who works in none. */
  cwd: string | undefined;
  /** The git directories of all its worktrees, whose index a killed git leaves locked. */
  gitDirs: readonly string[];
  /** Others were told that the task is taken: whoever watches the agent tells them again from time to time. */
  claimed: boolean;
  /** The conversation to go on with; undefined for a fresh one. */
  resume: string | undefined;
  /** What that conversation had used before: some programs count on. */
  before: AgentProgress["tokens"];
}

/** A supervisor that waits for an attempt to begin. */
export interface Prepared {
  begin(path: string, env: Readonly<Record<string, string>>): void;
  /** It is not needed, or has what it needs. */
  dismiss(): void;
}

export interface Launched {
  session: string | undefined;
}

/** An attempt that has ended, with everything that its stream says. */
export interface EndedAttempt extends AttemptView {
  exit: AttemptExit;
  progress: AgentProgress;
  cost: { dollars: number; from: "reported" | "computed" } | undefined;
  /** It ends by an event; without one, its exit code alone speaks for it. */
  endsByEvent: boolean;
  /** The last lines as people read them. */
  tail: string;
}

export interface LogOptions {
  number?: number | undefined;
  raw: boolean;
  follow: boolean;
  /** Only so many of the last lines. */
  lines?: number | undefined;
}

/** Starting agents, and what became of them. Every act may be repeated, by anybody, at any time. */
export interface Agents {
  /** The agents that need no settings, by name. */
  known: readonly string[];
  /** The program of this name can go on with a conversation of its own. */
  resumes(name: string): boolean;
  /** The program of a name, which the project's own settings may add to; throws where it is not there, and names `others` then. */
  find(
    name: string,
    settings: AgentConfig | undefined,
    runner: Runner | undefined,
    others?: readonly string[],
  ): FoundAgent;
  /** Runs whose latest attempt may not be written down in the records yet. */
  open(): string[];
  /** Said before the records are: from now on, everybody who writes looks after this run. */
  announce(run: string): void;
  /** The records say everything of this run's attempts. */
  forget(run: string): void;
  /** The run whose agent this process descends from, as the processes themselves show. */
  around(): string | undefined;
  /** The latest attempt of a run on this machine. */
  look(run: string): AttemptView | undefined;
  /** Completes what a crash left, and puts a supervisor in the place of one that was lost. */
  settle(run: string): Promise<AttemptView | undefined>;
  /** The latest attempt has ended, and nothing of it is written any more: its supervisor is gone and none can come. */
  isAtRest(run: string): boolean;
  /** Lets a supervisor come while everything else is made ready for a launch. */
  prepare(): Prepared;
  /** Refused while an attempt of the run is open. */
  launch(wish: LaunchWish, prepared?: Prepared): Promise<Launched>;
  /** Asks the supervisor to end everything that belongs to the run, and waits until it has. */
  stop(run: string, request: Omit<StopRequest, "at">): Promise<AttemptView | undefined>;
  /** An attempt that has ended: the latest one unless its number is said. */
  ended(run: string, number?: number): EndedAttempt | undefined;
  /** Keeps a text beside the attempt, as a file that can be attached to a record. */
  keep(run: string, text: string): string;
  /**
   * The stream as people read it, or as it is, some lines at a time. When following, it ends with the attempt, and comes
   * back without a line when there was none for a while.
   */
  log(run: string, options: LogOptions): AsyncIterable<string[]>;
  pause(ms: number): Promise<void>;
}
