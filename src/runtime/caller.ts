import { type AgentAbove, findAgentsAbove } from "../files/agent-above.ts";
import { mayBegin, noteBeginning, sawBeginning } from "../files/sessions.ts";
import { discover } from "../git/discover.ts";
import { type Actor, AGENT_SIGNS, agentsIn, mindsFrom, printActor, UNSEEN } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { findHome } from "../store/home.ts";
import { type Home, homeCommonDir } from "../store/layout.ts";
import { isRunGuard } from "../store/run-guards.ts";
import type { Surroundings } from "./open.ts";

/** Who is calling, whatever it says of itself. */
export interface Caller {
  /** Undefined for a human. */
  agent: Actor | undefined;
  name: string | undefined;
  /** How that is known, for a human who is taken for an agent. */
  seen: string | undefined;
  /** Everybody whom it may be; nobody but itself for a human who sits there. */
  minds(): string[];
}

/** Looking at other processes takes its time, and most of what only reads does not ask who is reading. */
export function callerIn(around: Surroundings, home: () => Home, commonDir: string): () => Caller {
  let known: Caller | undefined;
  return () => {
    known ??= findCaller(around, home(), commonDir);
    return known;
  };
}

function findCaller(around: Surroundings, home: Home, commonDir: string): Caller {
  const { env, agent: connected } = around;
  const own = agentsIn(env);
  const above = around.above?.((run, pid) => isRunGuard(home, run, pid)) ?? [];
  const nearest = own.length === 0 && connected ? [connected] : own;
  const all = mindsFrom(
    nearest,
    above.map((one) => one.actor),
  );
  const isCertain = (one: Actor) =>
    (connected !== undefined && printActor(one) === printActor(connected)) ||
    above.some(({ actor, variable, guard }) => (guard || !variable) && printActor(actor) === printActor(one));
  const isGuarded = above.some((one) => one.guard);
  const agent = all.at(-1);
  return {
    agent,
    name: agent && printActor(agent),
    seen: signIn(env) ?? wordsAbout(above[0]),
    minds: () =>
      all.length === 0 && !around.attended?.()
        ? [UNSEEN]
        : all.flatMap((one) => [
            printActor(one),
            ...(isCertain(one) ? [] : doubtsAbout(one, isGuarded, [commonDir, homeCommonDir(home)])),
          ]),
  };
}

/**
 * Whom else it may be. A session that nobody saw begin is a word that anybody can write: it may be any session of its
 * agent, and where nobody saw that agent either, the author as well.
 */
function doubtsAbout(one: Actor, isGuarded: boolean, places: readonly string[]): string[] {
  const saw = (actor: Actor) => places.some((place) => sawBeginning(place, actor));
  if (saw(one)) return [];
  const anySession = { ...one, session: undefined };
  return isGuarded || saw(anySession) ? [printActor(anySession)] : [UNSEEN];
}

function signIn(env: Environment): string | undefined {
  const variable = AGENT_SIGNS.find((name) => env[name]);
  return variable && `${variable} is set in this environment`;
}

function wordsAbout(seen: AgentAbove | undefined): string | undefined {
  if (!seen) return undefined;
  const process = `process ${seen.pid} (${seen.program}), which started this one,`;
  return seen.variable === undefined
    ? `${process} is the program of ${seen.actor.name}`
    : `${process} has ${seen.variable} set`;
}

export const agentsAbove = (isGuard: (run: string, pid: number) => boolean) =>
  findAgentsAbove(process.ppid, isGuard);

/** An agent that starts our server begins a session by that, unless it was started by another one. */
export function noteConnection(env: Environment): void {
  const [agent] = agentsIn(env);
  if (agent?.session === undefined) return;
  try {
    const place = discover(process.cwd(), env);
    const home = place && findHome(place, place.commonDir);
    if (!home) return;
    const above = agentsAbove((run, pid) => isRunGuard(home, run, pid));
    if (
      mayBegin(
        agent,
        above.map((one) => one.actor),
      )
    )
      noteBeginning(place.commonDir, agent, Date.now());
  } catch {
    // Where the server stands may be no place at all; whoever calls is told.
  }
}
