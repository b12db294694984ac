import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { jsonIfReadable, textIfReadable } from "../files/read.ts";
import { HOOK_RAN, sessionsFolder } from "../files/sessions.ts";
import { recogniseAgent } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { sessionFile } from "../model/naming.ts";
import type { Diagnosis } from "../ports/doctor.ts";

interface Asked {
  root: string;
  agents: readonly string[];
  env: Environment;
}

/**
 * What agents still have to be told by a person before they run what is in a repository, as far as their own files say
 * it. Where an agent has no files on this machine, nothing is said.
 */
export function examineTrust({ root, agents, env }: Asked): Diagnosis[] {
  const home = env.HOME ?? homedir();
  const found = [
    agents.includes("claude") ? claude(root, env.CLAUDE_CONFIG_DIR ?? home) : undefined,
    agents.includes("codex") ? codex(root, env.CODEX_HOME ?? join(home, ".codex")) : undefined,
    agents.includes("copilot") ? copilot(root, env.COPILOT_HOME ?? join(home, ".copilot")) : undefined,
  ];
  return found.flat().filter((one) => one !== undefined);
}

interface Started extends Asked {
  /** Where this was asked. */
  cwd: string;
  commonDir: string;
}

/** Agents that read a project's settings only in the folder they are started in, and what is left of us elsewhere. */
const READS_ONLY_THERE: readonly { agent: string; title: string; left: string }[] = [
  {
    agent: "claude",
    title: "Claude Code",
    left: "Started here it has the skills, the MCP server and git's guard, but not the session text or the early refusals",
  },
  {
    agent: "gemini",
    title: "Gemini CLI",
    left: "Started here it has no MCP server, session text or refusals, and its shell runs git without the guard: only `pawl audit` shows what it did",
  },
];

/** Where an agent that was started here does without our hooks. */
export function examineStart({ root, cwd, agents, env, commonDir }: Started): Diagnosis[] {
  const isElsewhere = realpathSync(cwd) !== realpathSync(root);
  const found = READS_ONLY_THERE.filter(({ agent }) => isElsewhere && agents.includes(agent)).map(
    ({ agent, title, left }) =>
      note(
        `${agent}_start_folder`,
        cwd,
        `${title} reads its settings, and with them pawl's hooks, only in the folder it is started in. ${left}: start it in ${root}.`,
      ),
  );
  const session = recogniseAgent(env)?.session;
  if (session && !hookRanIn(commonDir, session))
    found.push(
      note(
        "hooks_not_run",
        session,
        `pawl's hook was not started when this agent's session began: the session began below ${root}, or before this folder and its hooks were trusted. Git's guard works all the same. Start the agent again in ${root}.`,
      ),
    );
  return found;
}

function hookRanIn(commonDir: string, session: string): boolean {
  const marks = textIfReadable(join(sessionsFolder(commonDir), sessionFile(session))) ?? "";
  return marks.split("\n").includes(HOOK_RAN);
}

const note = (code: string, where: string, message: string): Diagnosis => ({
  code,
  level: "note",
  where,
  message,
});

function claude(root: string, folder: string): Diagnosis | undefined {
  const settings = jsonIfReadable<{ projects?: Record<string, Trusted> }>(join(folder, ".claude.json"));
  if (!settings || settings.projects?.[root]?.hasTrustDialogAccepted) return undefined;
  const message =
    "Claude Code does not trust this folder yet. Type `claude` there and accept it; the MCP server pawl connects then.";
  return note("claude_not_trusted", root, message);
}

interface Trusted {
  hasTrustDialogAccepted?: boolean;
}

function copilot(root: string, folder: string): Diagnosis | undefined {
  const settings = jsonIfReadable<{ trustedFolders?: string[] }>(join(folder, "config.json"));
  if (!settings || settings.trustedFolders?.some((one) => root === one || root.startsWith(`${one}/`)))
    return undefined;
  return note(
    "copilot_not_trusted",
    root,
    "Copilot does not trust this folder yet. Type `copilot` there and trust it.",
  );
}

/** Codex trusts a project, and then each hook by its text. Read by its lines: whatever is unusual counts as trusted. */
function codex(root: string, folder: string): Diagnosis[] {
  const text = textIfReadable(join(folder, "config.toml"));
  if (text === undefined) return [];
  const table = text.split(/^(?=\[)/m).find((one) => one.startsWith(`[projects.${JSON.stringify(root)}]`));
  if (!table || !/^trust_level\s*=\s*"trusted"/m.test(table))
    return [
      note(
        "codex_not_trusted",
        root,
        "Codex does not trust this project yet. Type `codex` there and trust it.",
      ),
    ];
  const hooks = join(root, ".codex", "hooks.json");
  if (!existsSync(hooks) || text.includes(JSON.stringify(`${hooks}:`).slice(1, -1))) return [];
  const message =
    "Codex does not trust the hooks of this project yet. Type `/hooks` in `codex` and trust them.";
  return [note("codex_hooks_not_trusted", hooks, message)];
}
