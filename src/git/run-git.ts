import { execFile, spawnSync } from "node:child_process";
import { devNull } from "node:os";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";

/** Variables that aim git at another repository, index or identity than the one we name. */
const AIMING =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|INTERNAL_.*|QUARANTINE_PATH|EDITOR|SEQUENCE_EDITOR|TRACE.*|REFLOG_ACTION|AUTHOR_.*|COMMITTER_.*)$/;

/**
 * Commits as they are: neither replaced nor grafted ones may speak for the ones that a branch really has. Where there
 * cannot be a file there are no grafts, and no advice about them either.
 */
const AS_IT_IS = { GIT_NO_REPLACE_OBJECTS: "1", GIT_GRAFT_FILE: `${devNull}/none` };

/**
 * Our own git calls say where they act. What a hook or an agent put into the environment to aim its git elsewhere
 * is dropped; `GIT_CONFIG_*` stays, because agents use it for settings that git needs there.
 */
export function scrubbed(env: Environment, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(env)) if (!AIMING.test(name)) kept[name] = value;
  return { ...kept, GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C", ...AS_IT_IS, ...extra };
}

export interface GitAnswer {
  code: number;
  out: string;
  err: string;
}

export interface GitCall {
  cwd: string;
  env: Environment;
  extra?: Record<string, string>;
  stdin?: string;
}

const LIMIT = 256 * 1024 * 1024;

/** Runs git and answers with its exit code; only a git that cannot be started is an error. */
export function askGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
  return new Promise((done, fail) => {
    const child = execFile(
      "git",
      [...args],
      { cwd: call.cwd, env: scrubbed(call.env, call.extra), maxBuffer: LIMIT },
      (error, out, err) => {
        if (error && typeof error.code !== "number" && !error.signal) fail(noGit(error));
        else done({ code: error ? (typeof error.code === "number" ? error.code : 128) : 0, out, err });
      },
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(call.stdin ?? "");
  });
}

/** As `askGit`, for the few places that hold a lock and therefore may not wait for anything else. */
export function askGitSync(args: readonly string[], call: GitCall): GitAnswer {
  const run = spawnSync("git", [...args], {
    cwd: call.cwd,
    env: scrubbed(call.env, call.extra),
    input: call.stdin ?? "",
    encoding: "utf8",
    maxBuffer: LIMIT,
  });
  if (run.error) throw noGit(run.error);
  return { code: run.status ?? 128, out: run.stdout, err: run.stderr };
}

/** The answer of a git call that has to succeed. */
export function expectGit(answer: GitAnswer, what: string): string {
  if (answer.code === 0) return answer.out.trimEnd();
  if (/No space left on device|Disk quota exceeded/.test(answer.err))
    throw new Failure("unavailable", "disk_full", `${what}: the disk is full.`, {
      hint: "Nothing was lost. Make room and run the command again.",
    });
  throw new Failure("unavailable", "git_failed", `${what}: git said "${answer.err.trim().slice(0, 400)}".`);
}

function noGit(cause: Error): Failure {
  return new Failure("unavailable", "git_missing", `git could not be started: ${cause.message}`, {
    hint: "Install git 2.38 or newer and make sure that it is on the PATH.",
    cause,
  });
}
