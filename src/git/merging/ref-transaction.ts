import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { refOfBranch } from "../../model/naming.ts";
import { Git } from "../run-git.ts";

export interface RefUpdate {
  /** The repository's name, for messages. */
  name: string;
  /** Git runs here, so that this one's HEAD gets its reflog entry. */
  gitDir: string;
  branch: string;
  old: string;
  new: string;
  reflog: string;
}

/** A git that holds the lock of a branch between `prepare` and `commit`; it lets go when we die. */
export interface RefTransaction {
  pid: number | undefined;
  /** Compares, locks and asks the hooks; throws when anything says no. */
  prepare(): Promise<void>;
  commit(): Promise<void>;
  /** Ends it, whatever its state; a prepared update is dropped. */
  abort(): Promise<void>;
}

/** The user's own hooks run here, and only here: they decide about branches, and ours will too. */
export function openRefTransaction(env: Environment, update: RefUpdate): RefTransaction {
  const git = Git.of("user", env, update.gitDir);
  const child = git.start(["update-ref", "-m", update.reflog, "--stdin"]);
  let [out, err, over] = ["", "", false];
  let waiting: (() => void) | undefined;
  child.stdout.on("data", (chunk) => {
    out += chunk;
    waiting?.();
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<void>((done) => {
    const finish = () => {
      over = true;
      waiting?.();
      done();
    };
    child.on("error", finish);
    child.on("close", finish);
  });

  /** Resolves when git has said `<word>: ok`; git says nothing else on its standard output. */
  const say = async (text: string, word: string) => {
    child.stdin.write(text);
    while (!out.includes(`${word}: ok\n`) && !over)
      await new Promise<void>((resume) => {
        waiting = resume;
      });
    if (!out.includes(`${word}: ok\n`)) throw refusal(update, err);
  };

  return {
    pid: child.pid,
    async prepare() {
      const ref = refOfBranch(update.branch);
      await say("start\n", "start");
      await say(`update ${ref} ${update.new} ${update.old}\nprepare\n`, "prepare");
    },
    async commit() {
      await say("commit\n", "commit");
      child.stdin.end();
      await ended;
    },
    async abort() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Git's words for why a branch did not move, as a code that a program can test for. */
function refusal({ name, branch, old }: RefUpdate, said: string): Failure {
  const details = { repo: name, branch, git: said.trim().slice(0, 600) };
  if (/ but expected |unable to resolve reference|reference is missing/.test(said))
    return new Failure("refused", "base_moved", `${branch} of ${name} is no longer at ${old.slice(0, 12)}.`, {
      hint: "Somebody moved it just now; nothing was changed. Bring the change in with `pawl refresh`.",
      details,
    });
  if (/aborted by (?:the reference-transaction )?hook/.test(said))
    return new Failure(
      "refused",
      "hook_refused",
      `A hook of ${name} refused to move ${branch}: ${tail(said)}`,
      {
        hint: "Nothing was changed. Do what that hook (reference-transaction) asks for.",
        details,
      },
    );
  if (/File exists/.test(said))
    return new Failure("refused", "ref_busy", `Another git process holds ${branch} of ${name}.`, {
      hint: "Nothing was changed. Let it finish, then approve again.",
      details,
    });
  return new Failure("unavailable", "git_failed", `${branch} of ${name} could not be moved: ${tail(said)}`, {
    details,
  });
}

const tail = (said: string) =>
  said.trim().split("\n").slice(-3).join(" ").slice(0, 300) || "git ended silently.";
