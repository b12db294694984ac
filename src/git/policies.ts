import { NULL_DEVICE } from "../files/read.ts";
import type { Environment } from "../model/environment.ts";
import { aimsGit, overridesSettings } from "../model/git-variables.ts";

/** What a git of ours takes over from the user's settings and environment. */
interface Policy {
  /** Settings for this one command, before all others. */
  settings?: readonly string[];
  /** Settings that the environment has for single commands (`GIT_CONFIG_COUNT` …) do not count. */
  withoutOverrides?: true;
  /** Objects that a push has brought and a server's hook is to decide about are seen. */
  withQuarantine?: true;
  /** Whose name a commit bears; otherwise it is the configured one. */
  identity?: "environment" | "pawl";
  /** How long it may take. */
  patienceMs?: number;
}

/** More text than any answer has that we ask for. */
export const MOST_TEXT = 2 ** 28;

/** Size and the time of the last write alone tell nothing: both can be set. An agent may configure git to be content with them. */
const WHOLE_STAT = ["core.checkStat=default", "core.trustctime=true"];

/**
 * Every git that we start follows one of these. All of them act where we say, whatever a hook or an agent has put into
 * the environment to aim its own git elsewhere, never ask for anything, and see commits as they are, neither replaced
 * nor grafted.
 */
export const POLICIES = {
  /** The user's own git: their settings and hooks take part. */
  user: { settings: WHOLE_STAT },
  /** The same for whoever has no time to wait. */
  brief: { settings: WHOLE_STAT, patienceMs: 8_000 },
  /** The same by the name that the environment gives, as for the user's own commits. */
  author: { settings: ["core.quotePath=false", ...WHOLE_STAT], identity: "environment" },
  /** Our plumbing, which writes what it was told and nothing else: no hooks, no caches, no refusals to convert. */
  quiet: {
    settings: [
      ...WHOLE_STAT,
      "core.hooksPath=/dev/null",
      "core.fsmonitor=false",
      "core.splitIndex=false",
      "core.safecrlf=false",
      "core.quotePath=false",
      "submodule.recurse=false",
      "i18n.commitEncoding=UTF-8",
      "advice.addEmbeddedRepo=false",
    ],
  },
  /** The repository of the records, which is ours alone: nothing that the user has set for their own projects matters. */
  records: {
    settings: [
      "core.hooksPath=/dev/null",
      "core.fsmonitor=false",
      "core.autocrlf=false",
      "core.safecrlf=false",
      "core.excludesFile=",
      "core.attributesFile=",
    ],
    identity: "pawl",
  },
  /** What everybody else's git makes of the repository: an agent's shell may switch hooks off for every git it starts. */
  shared: { settings: WHOLE_STAT, withoutOverrides: true },
  /** The same for an audit, which also believes no cache of who descends from whom. */
  history: { settings: ["core.commitGraph=false"], withoutOverrides: true, withQuarantine: true },
} as const satisfies Record<string, Policy>;

export type PolicyName = keyof typeof POLICIES;

export const policyOf = (name: PolicyName): Policy => POLICIES[name];

const QUARANTINE = /^GIT_(?:OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|QUARANTINE_PATH)$/;
const IDENTITY = /^GIT_(?:AUTHOR|COMMITTER)_/;

/** Whom the commits of the records' repository, and the snapshots, name as their author. */
export const PAWL = {
  GIT_AUTHOR_NAME: "pawl",
  GIT_AUTHOR_EMAIL: "pawl@localhost",
  GIT_COMMITTER_NAME: "pawl",
  GIT_COMMITTER_EMAIL: "pawl@localhost",
};

/** Where there cannot be a file there are no grafts, and no advice about them either. */
const AS_WE_ARE = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  LC_ALL: "C",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: `${NULL_DEVICE}/none`,
};

/** The environment of a git that follows a policy; `extra` says where it acts. */
export function environmentFor(
  name: PolicyName,
  env: Environment,
  extra: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const { withoutOverrides, withQuarantine, identity } = policyOf(name);
  const isKept = (variable: string) => {
    if (IDENTITY.test(variable)) return identity === "environment";
    if (overridesSettings(variable)) return !withoutOverrides;
    return !aimsGit(variable) || (withQuarantine && QUARANTINE.test(variable));
  };
  const kept = Object.fromEntries(Object.entries(env).filter(([variable]) => isKept(variable)));
  return { ...kept, ...AS_WE_ARE, ...(identity === "pawl" ? PAWL : {}), ...extra };
}
