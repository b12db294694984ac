import { readFileSync } from "node:fs";
import { type Actor, AGENT_SIGNS, recogniseAgent } from "../model/actor.ts";

/** A process that this one descends from, and that bears an agent's sign. */
export interface AgentAbove {
  actor: Actor;
  pid: number;
  /** What the process is called. */
  program: string;
  /** The variable by which the agent was recognised. */
  variable: string;
}

/** More than a terminal in a shell in an editor; a loop would be the system's own fault. */
const MOST_STEPS = 64;

/**
 * Whoever clears its own environment still has parents. Nothing is found where the system does not tell (another than
 * Linux, processes of other users), nor above a process that has left its family.
 */
export function findAgentAbove(from: number, root = "/proc"): AgentAbove | undefined {
  for (let pid = from, steps = 0; pid > 0 && steps < MOST_STEPS; steps++) {
    const stat = textOf(`${root}/${pid}/stat`) ?? "";
    const env = environmentOf(textOf(`${root}/${pid}/environ`) ?? "");
    const actor = recogniseAgent(env);
    const variable = AGENT_SIGNS.find((name) => env[name]);
    // A program may be called whatever it likes, brackets included.
    const end = stat.lastIndexOf(")");
    if (actor && variable) return { actor, pid, program: stat.slice(stat.indexOf("(") + 1, end), variable };
    pid = Number(/^\) \S (\d+)/.exec(stat.slice(end))?.[1] ?? 0);
  }
  return undefined;
}

function environmentOf(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of text.split("\0")) {
    const at = entry.indexOf("=");
    if (AGENT_SIGNS.includes(entry.slice(0, at))) found[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return found;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
