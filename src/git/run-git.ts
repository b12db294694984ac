import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { environmentFor, MOST_TEXT, type PolicyName, policyOf } from "./policies.ts";

export interface GitAnswer {
  code: number;
  out: string;
  err: string;
}

/** A worktree, and the git directory that is its own. */
export interface Checkout {
  root: string;
  gitDir: string;
}

interface Whole {
  commonDir: string;
  mainRoot: string | undefined;
}

type Variables = Readonly<Record<string, string>>;

const MOST_BYTES = 2 ** 30;

/** Git at one place, by one policy. Whatever starts a git goes through here, but for remotes (transfer.ts) and refs in tables. */
export class Git {
  readonly env: Environment;
  readonly #policy: PolicyName;
  readonly #cwd: string;
  readonly #extra: Variables;

  constructor(policy: PolicyName, env: Environment, cwd: string, extra: Variables = {}) {
    this.#policy = policy;
    this.env = env;
    this.#cwd = cwd;
    this.#extra = extra;
  }

  /** In whichever worktree or repository a folder belongs to. */
  static in(policy: PolicyName, env: Environment, folder: string): Git {
    return new Git(policy, env, folder);
  }

  /** In a repository as a whole: in its main worktree, or in a bare one, named outright as git may be told to overlook it. */
  static at(policy: PolicyName, env: Environment, site: Whole): Git {
    return new Git(policy, env, ...Git.whole(site));
  }

  protected static whole({ commonDir, mainRoot }: Whole): [cwd: string, extra: Variables] {
    return mainRoot === undefined ? [commonDir, { GIT_DIR: commonDir }] : [mainRoot, {}];
  }

  /** For the objects and refs of a repository, in none of its worktrees. */
  static of(policy: PolicyName, env: Environment, gitDir: string): Git {
    return new Git(policy, env, gitDir, { GIT_DIR: gitDir });
  }

  /** For the files of one worktree, whatever its own link to git says. */
  static on(policy: PolicyName, env: Environment, { root, gitDir }: Checkout): Git {
    return new Git(policy, env, root, { GIT_DIR: gitDir, GIT_WORK_TREE: root });
  }

  /** The same with further variables. */
  with(extra: Variables): Git {
    return new Git(this.#policy, this.env, this.#cwd, { ...this.#extra, ...extra });
  }

  withIndex(path: string): Git {
    return this.with({ GIT_INDEX_FILE: path });
  }

  /** Answers with git's exit code; only a git that could not be started is an error. */
  async ask(args: readonly string[], stdin = ""): Promise<GitAnswer> {
    const { code, out, err } = await this.#run(args, stdin, MOST_TEXT);
    return { code, out: out.toString("utf8"), err };
  }

  /** For the few places that hold a lock, and may not wait for anything else. With `into` git writes to that open file. */
  askSync(args: readonly string[], stdin = "", into?: number): GitAnswer {
    const run = spawnSync("git", this.#words(args), {
      ...this.#options(),
      input: stdin,
      encoding: "utf8",
      maxBuffer: MOST_TEXT,
      stdio: ["pipe", into ?? "pipe", "pipe"],
    });
    // Out of time is an answer; so is the end of a git that did not read what it was given.
    const inTime = (run.error as NodeJS.ErrnoException | undefined)?.code !== "ETIMEDOUT";
    if (run.error && run.status === null && inTime) throw this.#notStarted(run.error);
    return { code: run.status ?? 128, out: run.stdout ?? "", err: run.stderr ?? "" };
  }

  /** Starts a git to speak with, if wished by way of another program. */
  start(args: readonly string[], through: readonly string[] = []): ChildProcessWithoutNullStreams {
    const [program = "git", ...words] = [...through, "git", ...this.#words(args)];
    const child = spawn(program, words, this.#options());
    child.stdin.on("error", () => {});
    return child;
  }

  /** The answer of a git that has to succeed. */
  async expect(what: string, args: readonly string[], stdin?: string): Promise<string> {
    return expectGit(await this.ask(args, stdin), what);
  }

  expectSync(what: string, args: readonly string[], stdin?: string): string {
    return expectGit(this.askSync(args, stdin), what);
  }

  /** One line, or undefined where git says no. */
  async line(args: readonly string[]): Promise<string | undefined> {
    return lineOf(await this.ask(args));
  }

  lineSync(args: readonly string[]): string | undefined {
    return lineOf(this.askSync(args));
  }

  /** Names that end with a zero byte. */
  async names(what: string, args: readonly string[], stdin?: string): Promise<string[]> {
    return (await this.expect(what, args, stdin)).split("\0").filter((name) => name !== "");
  }

  /** Content is bytes, not text. */
  askBytes(args: readonly string[], stdin = "") {
    return this.#run(args, stdin, MOST_BYTES);
  }

  /** The commit that a name stands for. */
  commitOf(name: string): Promise<string | undefined> {
    return this.line(["rev-parse", "-q", "--verify", "--end-of-options", `${name}^{commit}`]);
  }

  /** False also where git does not have one of the two. */
  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    return (await this.ask(["merge-base", "--is-ancestor", ancestor, descendant])).code === 0;
  }

  #run(args: readonly string[], stdin: string, most: number) {
    // Most are told nothing, and a pipe that carries nothing takes as long to make as any other.
    const stdio = [stdin === "" ? "ignore" : "pipe", "pipe", "pipe"] as const;
    return new Promise<{ code: number; out: Buffer; err: string }>((done, fail) => {
      const child = spawn("git", this.#words(args), { ...this.#options(), stdio: [...stdio] });
      // Half an answer is none, even where git itself had ended well by then.
      const stop = () => {
        fail(tooMuch(args, most));
        child.kill();
      };
      const [out, err] = [child.stdout, child.stderr].map((from) => collect(from, most, stop));
      child.on("error", (error) => fail(this.#notStarted(error)));
      child.on("close", (code) =>
        done({
          code: code ?? 128,
          out: Buffer.concat(out ?? []),
          err: Buffer.concat(err ?? []).toString("utf8"),
        }),
      );
      child.stdin?.on("error", () => {});
      child.stdin?.end(stdin);
    });
  }

  /** The system says the same of a program that is missing and of a folder that is. */
  #notStarted(cause: Error): Failure {
    if (!existsSync(this.#cwd))
      return new Failure("not_found", "no_folder", `${this.#cwd} is gone, so git cannot run there.`, {
        details: { file: this.#cwd },
        cause,
      });
    return new Failure("unavailable", "git_missing", `git could not be started: ${cause.message}`, {
      hint: "Install git 2.38 or newer and make sure that it is on the PATH.",
      cause,
    });
  }

  #words(args: readonly string[]): string[] {
    return [...(policyOf(this.#policy).settings ?? []).flatMap((one) => ["-c", one]), ...args];
  }

  #options() {
    const timeout = policyOf(this.#policy).patienceMs;
    return { cwd: this.#cwd, env: environmentFor(this.#policy, this.env, this.#extra), timeout };
  }
}

/** What comes, as it comes; where it is more than anybody could hold, its source is told to stop. */
function collect(from: Readable | null, most: number, stop: () => void): Buffer[] {
  const pieces: Buffer[] = [];
  let size = 0;
  from?.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > most) stop();
    else pieces.push(piece);
  });
  return pieces;
}

const tooMuch = ([command = ""]: readonly string[], most: number) =>
  new Failure("unavailable", "git_failed", `git ${command} answered with more than ${most >> 20} MB.`);

const lineOf = ({ code, out }: GitAnswer) => (code === 0 ? out.trim() || undefined : undefined);

/** What git printed, if it succeeded. */
export function expectGit(answer: GitAnswer, what: string): string {
  if (answer.code === 0) return answer.out.trimEnd();
  if (/No space left on device|Disk quota exceeded/.test(answer.err))
    throw new Failure("unavailable", "disk_full", `${what}: the disk is full.`, {
      hint: "Nothing was lost. Free some space and run the command again.",
    });
  throw new Failure("unavailable", "git_failed", `${what}: git said "${answer.err.trim().slice(0, 400)}".`);
}
