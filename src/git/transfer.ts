import { type SimpleGitOptions, simpleGit } from "simple-git";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { waitingLine } from "../model/waiting.ts";
import { environmentFor } from "./policies.ts";
import { Git } from "./run-git.ts";

export interface Transfer {
  /** Where relative addresses of remotes are meant from. */
  cwd: string;
  env: Environment;
  extra?: Record<string, string>;
  config?: string[];
  options?: string[];
  /** As everybody's git would reach the remote, whatever this environment says. */
  shared?: true;
  /** Give up on a host that says nothing for so long. */
  patienceSeconds?: number;
  progress: (line: string) => void;
}

export type TransferResult = { ok: true; out: string } | { ok: false; said: string };

/**
 * The package refuses settings that could run other programs, because it cannot know who wrote them. Ours come from
 * the user's own environment and configuration, where exactly those settings make their remotes reachable.
 */
const TRUSTED = {
  allowUnsafeAlias: true,
  allowUnsafeAskPass: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeEditor: true,
  allowUnsafeExec: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeUrlRewrite: true,
  // Otherwise a test setting of git's would reach the user's hooks and credential helpers.
  allowAbbreviatedOptions: true,
} satisfies SimpleGitOptions["unsafe"];

const TELL_EVERY_MS = 1_000;

/** Everything that talks to a remote: it never asks for anything, and tells at least once a second how far it is. */
export async function transfer(
  verb: "fetch" | "push" | "ls-remote",
  remote: string,
  refspecs: readonly string[],
  call: Transfer,
): Promise<TransferResult> {
  // The package puts options of its own behind ours, so that git cannot be told where the options end.
  const names = [remote, ...refspecs];
  if (names.some((name) => name.startsWith("-")))
    return { ok: false, said: `fatal: "${remote}" is not a valid name for a remote.` };
  const env = environmentFor(call.shared ? "shared" : "user", call.env, {
    ...(await neverAsk(call)),
    ...call.extra,
  });
  const started = Date.now();
  let stage = "";
  const tell = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    call.progress(waitingLine(`git ${verb} ${remote}`, seconds, stage));
  };
  const telling = setInterval(tell, TELL_EVERY_MS);
  try {
    const options = optionsFor(call, env, (said) => {
      stage = said;
    });
    const git = simpleGit(options).env(env as Record<string, string>);
    const args = [...(call.options ?? []), ...names];
    if (verb === "ls-remote") return { ok: true, out: await git.listRemote(args) };
    if (verb === "fetch") await git.fetch(args);
    else await git.push(args);
    return { ok: true, out: "" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new Failure("unavailable", "git_missing", "git could not be started.", { cause: error });
    return { ok: false, said: (error instanceof Error ? error.message : String(error)).trim() };
  } finally {
    clearInterval(telling);
  }
}

function optionsFor(call: Transfer, env: NodeJS.ProcessEnv, onStage: (said: string) => void) {
  const options: Partial<SimpleGitOptions> & { allowEnvironment: string[] } = {
    baseDir: call.cwd,
    config: [...patience(call.patienceSeconds), ...(call.config ?? [])],
    // Waiting for the process's end and not a little longer; the default adds a timer of 50 ms.
    completion: { onClose: true, onExit: false },
    unsafe: TRUSTED,
    allowEnvironment: Object.keys(env),
    progress: (event) => onStage(`, ${event.stage} ${event.progress}%`),
  };
  return options;
}

/** A person's own ssh settings stay as they are; without any, ssh is told not to ask. */
async function neverAsk(call: Transfer): Promise<Record<string, string>> {
  if (call.env.GIT_SSH_COMMAND || call.env.GIT_SSH) return {};
  const config = (call.config ?? []).flatMap((one) => ["-c", one]);
  const git = Git.in(call.shared ? "shared" : "user", call.env, call.cwd).with(call.extra ?? {});
  const own = await git.line([...config, "config", "core.sshCommand"]);
  const wait = call.patienceSeconds === undefined ? "" : ` -oConnectTimeout=${call.patienceSeconds}`;
  return own !== undefined ? {} : { GIT_SSH_COMMAND: `ssh -oBatchMode=yes${wait}` };
}

const patience = (seconds: number | undefined) =>
  seconds === undefined ? [] : ["http.lowSpeedLimit=1", `http.lowSpeedTime=${seconds}`];

export function unreachable(remote: string, said: string): Failure {
  return new Failure(
    "unavailable",
    "remote_unreachable",
    `The remote ${remote} cannot be reached: ${lastWords(said)}`,
    {
      hint: "Nothing was changed there. Check the connection and your access, then run the command again.",
      details: { remote, said: said.slice(-2000) },
    },
  );
}

/** What git says in the end is why; before that it may have said how far it came. */
export function lastWords(said: string): string {
  const lines = said.split(/[\r\n]+/).filter((line) => /^(?:fatal|error|remote|ssh|!)/i.test(line.trim()));
  return (lines.length > 0 ? lines : said.split("\n")).slice(0, 3).join(" ").trim().slice(0, 300);
}

/** Why a push did not succeed, from what git says about it in its plain language. */
export function whyNotPushed(said: string): "rejected" | "unreachable" | "refused" {
  if (/\[rejected\]|fetch first|non-fast-forward|stale info/.test(said)) return "rejected";
  // Two pushes at the same moment: the slower one finds the branch locked or moved.
  if (/cannot lock ref|failed to update ref|incorrect old value|reference already exists/.test(said))
    return "rejected";
  if (/\[remote rejected\]|hook declined|pre-push|protected branch/i.test(said)) return "refused";
  return /^(?:fatal|ssh):|could not read from remote|unable to access/im.test(said)
    ? "unreachable"
    : "refused";
}
