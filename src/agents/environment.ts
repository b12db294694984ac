import { AGENT_SIGNS } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";

/**
 * What the session of whoever starts a run has put into its environment: with it, the new agent would be taken for that
 * one, find its git somewhere else, or have its hooks switched off. What the user has set up, such as keys and homes of
 * programs, is passed on.
 */
const OF_A_SESSION = [
  ...[
    /^PAWL_(?:ACTOR|RUN|ATTEMPT|TASK|AGENT|SESSION)$/,
    /^CLAUDE_(?:PROJECT_DIR|CODE_SSE_PORT|CODE_CHILD_SESSION|EFFORT)$/,
  ],
  ...[/^CODEX_(?:VERSION|PERMISSION_PROFILE|SANDBOX.*|INTERNAL_.*)$/, /^AGENT$/],
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX)$/,
  /^GIT_(?:INTERNAL_.*|QUARANTINE_PATH|EDITOR|SEQUENCE_EDITOR|REFLOG_ACTION|CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+))$/,
];

export function withoutSession(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !AGENT_SIGNS.includes(name) && !OF_A_SESSION.some((one) => one.test(name)))
      kept[name] = value;
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
