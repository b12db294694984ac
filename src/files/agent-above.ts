import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { type Actor, AGENT_SIGNS, agentCalled, agentsIn } from "../model/actor.ts";

/** A process that this one descends from, and that bears an agent's sign or is its program. */
export interface AgentAbove {
  actor: Actor;
  pid: number;
  /** What the process is called. */
  program: string;
  /** The variable by which the agent was recognised; undefined where its program was. */
  variable: string | undefined;
  /** It guards a run that pawl itself started. */
  guard: boolean;
}

/** More than a terminal in a shell in an editor; a loop would be the system's own fault. */
const MOST_STEPS = 64;

/**
 * Every agent that a process descends from, nearest first: whoever clears or changes its own environment still has
 * parents. One that let its parent end still is in its group or on its terminal, whose leaders are asked after that.
 * Nothing is found where the system does not tell (another than Linux, processes of other users), nor above a
 * process that began a session of its own. What pawl started by a run is nobody's helper: the search ends at the run's guard.
 */
export function findAgentsAbove(
  from: number,
  isGuard: (run: string, pid: number) => boolean = () => false,
  root = "/proc",
): AgentAbove[] {
  const found: AgentAbove[] = [];
  const seen = new Set<number>();
  const leaders = [from, ...statOf(`${root}/self`).leaders];
  for (const leader of leaders)
    for (let pid = leader; pid > 0 && !seen.has(pid) && seen.size < MOST_STEPS; ) {
      seen.add(pid);
      const { program, parent, leaders: own } = statOf(`${root}/${pid}`);
      const env = environmentOf(textOf(`${root}/${pid}/environ`) ?? "");
      const variable = AGENT_SIGNS.find((name) => env[name]);
      const bySign = variable === undefined ? [] : agentsIn(env);
      const byName = bySign.length > 0 ? undefined : agentRunBy(program, `${root}/${pid}/cmdline`);
      const guard = env.PAWL_RUN !== undefined && isGuard(env.PAWL_RUN, pid);
      for (const actor of bySign) found.push({ actor, pid, program, variable, guard });
      if (byName) found.push({ actor: byName, pid, program, variable: undefined, guard });
      if (guard) return found;
      leaders.push(...own);
      pid = parent;
    }
  return found;
}

interface Stat {
  program: string;
  parent: number;
  /** Of its group and of its session; each is the first process of it, and may have ended. */
  leaders: number[];
}

function statOf(folder: string): Stat {
  const stat = textOf(`${folder}/stat`) ?? "";
  // A program may be called whatever it likes, brackets included.
  const end = stat.lastIndexOf(")");
  const [, parent = 0, ...leaders] = (/^\) \S (\d+) (\d+) (\d+)/.exec(stat.slice(end)) ?? []).map(Number);
  return { program: stat.slice(stat.indexOf("(") + 1, end), parent, leaders };
}

/** Some agents are scripts, and their processes are called after what runs them. */
function agentRunBy(program: string, commandLine: string): Actor | undefined {
  if (!/^(?:node|bun|MainThread)/.test(program)) return agentCalled(program);
  return agentCalled(basename((textOf(commandLine) ?? "").split("\0")[1] ?? ""));
}

function environmentOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of text.split("\0")) {
    const at = entry.indexOf("=");
    if (AGENT_SIGNS.includes(entry.slice(0, at)) || entry.startsWith("PAWL_AGENT="))
      found[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return found;
}

/** The system does not say how long these files are, and whoever asks `readFileSync` for such a one waits twice as long. */
function textOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    part ??= Buffer.alloc(16_384);
    let text = "";
    for (let size = readSync(file, part); size > 0; size = readSync(file, part))
      text += part.toString("latin1", 0, size);
    return text;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

let part: Buffer | undefined;
