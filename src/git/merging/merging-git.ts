import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import type { Environment } from "../../model/environment.ts";
import { askGit, expectGit, type GitAnswer, scrubbed } from "../run-git.ts";

/** A worktree, and the git directory that is its own. */
export interface Checkout {
  root: string;
  gitDir: string;
}

/**
 * The user's settings for hooks, caches and submodules are not for our plumbing: it writes what it was told and nothing
 * else. Replaced objects are not followed, so that what was shown is what is merged.
 */
const QUIET = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.splitIndex=false",
  "-c",
  "core.safecrlf=false",
  "-c",
  "submodule.recurse=false",
  "-c",
  "i18n.commitEncoding=UTF-8",
  "-c",
  "core.quotePath=false",
];
const REAL_OBJECTS = { GIT_NO_REPLACE_OBJECTS: "1" };

/** Plain git in one repository or one worktree of it, whatever the current folder is. */
export class MergingGit {
  readonly env: Environment;
  readonly cwd: string;
  readonly extra: Record<string, string>;

  private constructor(env: Environment, cwd: string, extra: Record<string, string>) {
    this.env = env;
    this.cwd = cwd;
    this.extra = { ...REAL_OBJECTS, ...extra };
  }

  static inRepository(env: Environment, commonDir: string): MergingGit {
    return new MergingGit(env, commonDir, { GIT_DIR: commonDir });
  }

  static inCheckout(env: Environment, { root, gitDir }: Checkout): MergingGit {
    return new MergingGit(env, root, { GIT_DIR: gitDir, GIT_WORK_TREE: root });
  }

  withIndex(path: string): MergingGit {
    return new MergingGit(this.env, this.cwd, { ...this.extra, GIT_INDEX_FILE: path });
  }

  ask(args: readonly string[], stdin?: string): Promise<GitAnswer> {
    return askGit([...QUIET, ...args], {
      cwd: this.cwd,
      env: this.env,
      extra: this.extra,
      ...(stdin === undefined ? {} : { stdin }),
    });
  }

  async expect(what: string, args: readonly string[], stdin?: string): Promise<string> {
    return expectGit(await this.ask(args, stdin), what);
  }

  /** One line, or undefined where git says no. */
  async line(args: readonly string[]): Promise<string | undefined> {
    const { code, out } = await this.ask(args);
    return code === 0 ? out.trim() || undefined : undefined;
  }

  /** Names that end with a zero byte. */
  async names(what: string, args: readonly string[]): Promise<string[]> {
    return (await this.expect(what, args)).split("\0").filter((name) => name !== "");
  }

  /** Content is bytes, not text; undefined when git cannot give it. */
  bytes(args: readonly string[]): Promise<Buffer | undefined> {
    const options = {
      cwd: this.cwd,
      env: this.environment(),
      maxBuffer: 2 ** 30,
      encoding: "buffer",
    } as const;
    return new Promise((done) => {
      execFile("git", [...QUIET, ...args], options, (error, out) => done(error ? undefined : out));
    });
  }

  /** sha256 of what git prints, however long it is. */
  digest(args: readonly string[]): Promise<string> {
    const hash = createHash("sha256");
    const child = spawn("git", [...QUIET, ...args], {
      cwd: this.cwd,
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Promise((done, fail) => {
      let err = "";
      child.stdout.on("data", (chunk) => hash.update(chunk));
      child.stderr.on("data", (chunk) => {
        err += chunk;
      });
      child.on("error", fail);
      child.on("close", (code) => {
        if (code === 0) return done(hash.digest("hex"));
        try {
          expectGit({ code: code ?? 128, out: "", err }, "The difference could not be read");
        } catch (error) {
          fail(error as Error);
        }
      });
    });
  }

  /**
   * Git behind a gate: the process exists, and has a pid to write down, before it may do anything. Should we die in
   * between, the gate stays shut.
   */
  gated(args: readonly string[]) {
    const child = spawn("sh", ["-c", 'read -r go && exec git "$@"', "git", ...QUIET, ...args], {
      cwd: this.cwd,
      env: this.environment(),
      stdio: ["pipe", "ignore", "pipe"],
    });
    child.stdin.on("error", () => {});
    let err = "";
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise<GitAnswer>((done) => {
      child.on("error", (error) => done({ code: 127, out: "", err: error.message }));
      child.on("close", (code) => done({ code: code ?? 128, out: "", err }));
    });
    return {
      pid: child.pid,
      run: () => {
        child.stdin.end("go\n");
        return ended;
      },
    };
  }

  environment(): NodeJS.ProcessEnv {
    return scrubbed(this.env, this.extra);
  }
}
