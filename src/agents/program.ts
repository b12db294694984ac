import type { Role, RunLimits } from "../model/records/attempt.ts";
import type { AgentProgress } from "../ports/agents.ts";

/** What one start of a program is to be like. */
export interface Wish {
  role: Role;
  /** The conversation's id: ours to choose where the program lets us, else that of the one to go on with. */
  session: string;
  model: string | undefined;
  limits: RunLimits;
  /** Where files for this start may lie. */
  folder: string;
  /** How our own tools are served to it. */
  mcp: { command: string; args: readonly string[]; env: Readonly<Record<string, string>> };
  /** Words that the project adds to its command line. */
  more: readonly string[];
}

export interface Launch {
  args: string[];
  env?: Record<string, string>;
  /** Files that have to be there first, by name. */
  files?: Record<string, string>;
}

/** One event of a stream: another program's JSON. */
// biome-ignore lint/suspicious/noExplicitAny: every program has shapes of its own, and changes them
export type StreamEvent = any;

/** Everything we know of an agent's program. Data and pure functions: the same for tests, supervisors and readers. */
export interface AgentProgram {
  name: string;
  title: string;
  /** How its sessions are recognised and recorded. */
  actor: string;
  /** What it is called on the PATH. */
  bin: string;
  /**
   * Where the native program lies, seen from the folder of the script that npm puts on the PATH: such scripts lose
   * signals. `{os}` and `{cpu}` are filled in; the first one that exists is taken, else what is on the PATH.
   */
  natives: readonly string[];
  /** Folders that its own script would put on the PATH, seen from the native program. */
  paths: readonly string[];
  /** Where npm's `package.json` is, seen from that folder. */
  manifest: string;
  /** The session is chosen by us before the start, or told by the program's first event. */
  session: "chosen" | "told";
  resumes: boolean;
  /** What its stream says while it runs, and not only at its end. */
  tells: { turns: boolean; cost: boolean };
  /** A resumed conversation reports its usage from the beginning. */
  countsOn: boolean;
  start(wish: Wish): Launch;
  resume(wish: Wish): Launch;
  /** Adds one event of the stream to what is known. */
  read(event: StreamEvent, before: AgentProgress): AgentProgress;
  /** The event as a person reads it; undefined for what nobody has to see. */
  show(event: StreamEvent): string | undefined;
  /** Usage that it writes to a file of its own at its end. */
  usageFile?: { name: string; read(text: string, before: AgentProgress): AgentProgress };
  /** It ends by an event; without one, its exit code alone speaks for it. */
  endsByEvent: boolean;
}

export const NOTHING_YET: AgentProgress = {
  session: undefined,
  model: undefined,
  turns: 0,
  answer: undefined,
  tokens: { input: 0, cached: 0, output: 0 },
  cost: undefined,
  files: [],
  last: "",
  said: "",
  denied: 0,
  delegated: false,
  waiting: undefined,
  hopeless: undefined,
  verdict: undefined,
};
