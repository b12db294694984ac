import { basename } from "node:path";
import { type Actor, AGENT_SIGNS, agentCalled, agentsIn } from "../model/actor.ts";
import { procText, statOf } from "./proc.ts";

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
  const leaders = [from, ...(statOf(`${root}/self`)?.leaders ?? [])];
  for (const leader of leaders)
    for (let pid = leader; pid > 0 && !seen.has(pid) && seen.size < MOST_STEPS; ) {
      seen.add(pid);
      const { program = "", parent = 0, leaders: own = [] } = statOf(`${root}/${pid}`) ?? {};
      const env = environmentOf(procText(`${root}/${pid}/environ`) ?? "");
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

/** Some agents are scripts, and their processes are called after what runs them. */
function agentRunBy(program: string, commandLine: string): Actor | undefined {
  if (!/^(?:node|bun|MainThread)/.test(program)) return agentCalled(program);
  return agentCalled(basename((procText(commandLine) ?? "").split("\0")[1] ?? ""));
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
