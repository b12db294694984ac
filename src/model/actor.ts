import type { Environment } from "./environment.ts";
import { Failure } from "./failure.ts";

/** Who acted: `human:Ada Lovelace` or `agent:claude-code:<session>`. Kept as one string in records and events. */
export interface Actor {
  kind: "human" | "agent";
  name: string;
  session: string | undefined;
}

interface KnownAgent {
  name: string;
  /** Any of these variables set means that this agent's process tree is running us. */
  signs: readonly string[];
  session: readonly string[];
  /** The variable that says its name, where the signs are those of several. */
  named?: string;
  /** What its programs call themselves, such as an MCP client; ours for one agent must be one name. */
  called: RegExp;
  /** What its process is called; an editor is none, because humans have terminals in it. */
  process?: string;
}

/** Variables seen in each agent's own shell tool and MCP server; the order decides when agents are nested. */
const KNOWN_AGENTS: readonly KnownAgent[] = [
  {
    name: "codex",
    signs: ["CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_SANDBOX", "CODEX_CI"],
    session: ["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
    called: /codex/i,
    process: "codex",
  },
  {
    name: "copilot",
    signs: ["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI_BINARY_VERSION"],
    session: ["COPILOT_AGENT_SESSION_ID"],
    called: /copilot|^visual studio code/i,
    process: "copilot",
  },
  { name: "gemini", signs: ["GEMINI_CLI"], session: [], called: /^gemini/i, process: "gemini" },
  {
    name: "opencode",
    signs: ["OPENCODE", "OPENCODE_PID"],
    session: ["OPENCODE_SESSION_ID"],
    called: /^opencode/i,
    process: "opencode",
  },
  {
    name: "cursor",
    signs: ["CURSOR_AGENT"],
    session: ["CURSOR_TRACE_ID"],
    called: /^cursor/i,
    process: "cursor-agent",
  },
  {
    name: "claude-code",
    signs: ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT"],
    session: ["CLAUDE_CODE_SESSION_ID"],
    called: /^claude/i,
    process: "claude",
  },
  // What `pawl run` starts, for programs that have no signs of their own.
  { name: "agent", signs: ["PAWL_RUN"], session: ["PAWL_SESSION"], named: "PAWL_AGENT", called: /(?!)/ },
  { name: "agent", signs: ["AI_AGENT"], session: [], called: /^agent$/i },
];

/** Every variable by which an agent is recognised. */
export const AGENT_SIGNS: readonly string[] = KNOWN_AGENTS.flatMap(({ signs, session }) => [
  ...signs,
  ...session,
]);

/** The variable in which an agent tells its session, where it tells one. */
export const sessionVariable = (agent: string): string | undefined =>
  KNOWN_AGENTS.find((one) => one.name === agent)?.session[0];

export function recogniseAgent(env: Environment): Actor | undefined {
  return agentsIn(env)[0];
}

/**
 * The agents that one process may be. A sign without a session may have been put on by the one around it, so that
 * sessions count before it.
 */
export function agentsIn(env: Environment): Actor[] {
  const all = recogniseAgents(env);
  const sessions = all.filter((one) => one.session !== undefined);
  return sessions.length > 0 ? sessions : all;
}

/** The agent whose own program is called this; its process need not bear the signs that it gives to what it starts. */
export function agentCalled(process: string): Actor | undefined {
  const known = KNOWN_AGENTS.find((agent) => agent.process === process);
  return known && { kind: "agent", name: known.name, session: undefined };
}

/**
 * Everybody whom a process may be, from its own signs and those of the processes above it, nearest first. What it is
 * taken for is the last one: what an agent starts is that agent, and a variable can only be changed further down.
 */
export function mindsFrom(nearest: readonly Actor[], above: readonly Actor[]): Actor[] {
  const all = [...nearest, ...above];
  const hasSession = (name: string) => all.some((one) => one.name === name && one.session !== undefined);
  const kept = all.filter((one) => one.session !== undefined || !hasSession(one.name));
  return kept.filter((one, at) => !kept.slice(at + 1).some((other) => printActor(one) === printActor(other)));
}

function recogniseAgents(env: Environment): Actor[] {
  return KNOWN_AGENTS.filter((agent) => agent.signs.some((sign) => env[sign])).map((agent) => ({
    kind: "agent",
    name: (agent.named && env[agent.named]) || agent.name,
    session: agent.session.map((name) => env[name]).find(Boolean),
  }));
}

/**
 * The agent that somebody says is calling, where its environment does not tell: whoever registered us, or the program
 * at the other end. Whatever the words are, it is an agent, and which of its sessions it is nobody knows.
 */
export function nameAgent(words: string): Actor {
  const tidy = words
    .replace(/[^\P{C}]+/gu, " ")
    .trim()
    .slice(0, LONGEST_NAME)
    .trim();
  const known = KNOWN_AGENTS.find((agent) => agent.called.test(tidy));
  return { kind: "agent", name: known?.name ?? (tidy || "unknown"), session: undefined };
}

const LONGEST_NAME = 60;

/**
 * A bare name claims nothing: it is taken for an agent, because what agents may do is less than what humans may.
 */
export function parseActor(text: string): Actor {
  const trimmed = text.trim();
  const match = /^(?:(human|agent):)?([^:\n]+)(?::([^\n]+))?$/.exec(trimmed);
  const name = match?.[2]?.trim();
  if (!match || !name || (match[1] === "human" && match[3] !== undefined))
    throw new Failure("usage", "bad_actor", `"${trimmed.slice(0, 60)}" does not name an actor.`, {
      hint: "Write agent:NAME, agent:NAME:SESSION or human:NAME.",
      details: { field: "actor" },
    });
  return { kind: match[1] === "human" ? "human" : "agent", name, session: match[3]?.trim() };
}

export function printActor(actor: Actor): string {
  const name = actor.name.replace(/[:\r\n]+/g, " ").trim() || "unknown";
  return actor.session === undefined
    ? `${actor.kind}:${name}`
    : `${actor.kind}:${name}:${actor.session.replace(/[\r\n]+/g, " ")}`;
}

/** Stands beside a caller whom nobody saw: it may be anybody, the author included. */
export const UNSEEN = "agent:?";

export function isHuman(actor: string): boolean {
  return actor.startsWith("human:");
}

/** What is known of whoever acts: who it says it is, and everybody whom it may be. */
export interface Acting {
  actor: string;
  minds: readonly string[];
}

/**
 * A human who can be told from a process that only left its family: no agent is around, and there is a terminal. What opens
 * a gate because a human says it needs one of these.
 */
export const isShownHuman = ({ actor, minds }: Acting) => isHuman(actor) && minds.length === 0;

/** Why a human is not believed to be one, in words that go on with what follows from it. */
export const NO_TERMINAL = "There is no terminal here, so pawl cannot tell whether a human says it";
export const TO_A_TERMINAL = "Do it in a terminal or on the page (`pawl ui`); a script cannot.";

/** `what`: only a human may do it. */
export function humanOnly(what: string, { actor }: Acting, details: Record<string, unknown> = {}): Failure {
  return isHuman(actor)
    ? new Failure("refused", "no_terminal", `Only a human may ${what}. ${NO_TERMINAL}.`, {
        hint: TO_A_TERMINAL,
        details,
      })
    : new Failure("refused", "human_only", `Only a human may ${what}.`, {
        hint: "Ask the person you work for.",
        details,
      });
}

/**
 * The same author or reviewer: one human, or one agent in one session. An agent whose session nobody knows is
 * taken to be the same one, because a fresh session must be seen to count as a second pair of eyes.
 */
export function isSameMind(left: string, right: string): boolean {
  if (left === right) return true;
  const [leftKind, leftName, leftSession] = splitActor(left);
  const [rightKind, rightName, rightSession] = splitActor(right);
  if (leftKind !== rightKind || leftName !== rightName) return false;
  return leftSession === "" || rightSession === "" || leftSession === rightSession;
}

/** What one would call them: `agent:codex:author-session` is codex, `human:Ada` is Ada. */
export const nameOf = (actor: string) => actor.split(":")[1] ?? actor;

/** The session of an agent, where it names one. */
export const sessionOf = (actor: string) => /^agent:[^:]*:(.+)$/.exec(actor)?.[1];

function splitActor(actor: string): [string, string, string] {
  const [kind = "", name = "", ...session] = actor.split(":");
  return [kind, name, session.join(":")];
}

export function decideActor(choice: {
  env: Environment;
  /** The agent that calls, whatever it claims. */
  agent: Actor | undefined;
  claimed: string | undefined;
  gitUser: string | undefined;
}): { actor: Actor; warning?: string } {
  const { agent } = choice;
  const claim = choice.claimed ?? choice.env.PAWL_ACTOR;
  if (agent) {
    if (!claim || printActor(parseActor(claim)) === printActor(agent)) return { actor: agent };
    return {
      actor: agent,
      warning: `This is ${printActor(agent)}; the claim to be "${claim.slice(0, 60)}" is ignored.`,
    };
  }
  if (claim) return { actor: parseActor(claim) };
  return { actor: { kind: "human", name: choice.gitUser?.trim() || "unknown", session: undefined } };
}
