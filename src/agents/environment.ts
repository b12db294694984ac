import { AGENT_SIGNS } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { aimsGit, overridesSettings } from "../model/git-variables.ts";

/**
 * What the session of whoever starts a run has put into its environment: with it, the new agent would be taken for that
 * one, find its git somewhere else, or have its hooks switched off. What the user has set up, such as keys and homes of
 * programs, is passed on.
 */
const OF_A_SESSION = [
  /^PAWL_(?:ACTOR|RUN|ATTEMPT|TASK|AGENT|SESSION)$/,
  /^CLAUDE_(?:PROJECT_DIR|CODE_SSE_PORT|CODE_CHILD_SESSION|EFFORT)$/,
  /^CODEX_(?:VERSION|PERMISSION_PROFILE|SANDBOX.*|INTERNAL_.*)$/,
  /^AGENT$/,
];

const isOfASession = (name: string) =>
  AGENT_SIGNS.includes(name) ||
  aimsGit(name) ||
  overridesSettings(name) ||
  OF_A_SESSION.some((one) => one.test(name));

export function withoutSession(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !isOfASession(name)) kept[name] = value;
  return kept;
}

/** By these an agent, its tools and our own tools in it know which run they belong to. */
export function namesOf(run: { run: string; task: string; actor: string; session: string | undefined }) {
  return {
    PAWL_RUN: run.run,
    PAWL_TASK: run.task,
    PAWL_AGENT: run.actor,
    ...(run.session === undefined ? {} : { PAWL_SESSION: run.session }),
  };
}
