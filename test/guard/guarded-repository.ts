import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { TestGit } from "../helpers/optional-program.ts";
import {
  makeTemporaryFolder,
  scrubbedEnvironment,
  stayTheSameClone,
} from "../helpers/temporary-repository.ts";

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** A repository with a remote, a task's bound worktree and the guard, that can be put back as it was. */
export interface GuardedRepository {
  root: string;
  repo: string;
  worktree: string;
  origin: string;
  env: Record<string, string>;
  /** How it was made. */
  making: Making;
  /** Runs a script of the matrix in the main worktree. */
  sh(script: string, env?: Record<string, string>): Ran;
  git(...args: string[]): string;
  pawl(...args: string[]): Ran;
  /** As it was made, with the guard or without. */
  reset(how?: "guarded" | "bare of it"): void;
  remove(): void;
}

/** What may be different from one such repository to another. */
export interface Making {
  /** The shell that runs the hooks; /bin/sh unless said. */
  shebang?: string;
  git?: TestGit;
  /** How git names objects and keeps refs; as it does by default unless said. */
  formats?: { objects: "sha256"; refs: "reftable" };
}

const sources = fileURLToPath(new URL("../../src", import.meta.url));

/** Glob letters and spaces in the path: whatever is not quoted somewhere falls over them. */
export async function makeGuardedRepository(making: Making = {}): Promise<GuardedRepository> {
  const top = makeTemporaryFolder("guard");
  const root = join(top, "a [b] * c");
  const template = join(top, "template");
  const bin = join(top, "bin");
  mkdirSync(root);
  mkdirSync(bin);
  const program = await bundleProgram(join(sources, "cli/program.ts"), join(top, "program"), "pawl");
  writeFileSync(join(bin, "pawl"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, "pawl"), 0o755);
  const [repo, worktree, origin] = [join(root, "repo"), join(root, "wt"), join(root, "origin.git")];
  const base = scrubbedEnvironment(root);
  const path = [bin, making.git?.folder, base.PATH].filter((one) => one !== undefined).join(":");
  const formats = making.formats
    ? { GIT_DEFAULT_HASH: making.formats.objects, GIT_DEFAULT_REF_FORMAT: making.formats.refs }
    : {};
  const env = { ...base, ...formats, PATH: path, R: repo, W: worktree, O: origin };
  writeFileSync(
    join(root, ".gitconfig"),
    "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n",
  );

  const run = (cwd: string, command: string, args: string[], extra: Record<string, string> = {}): Ran => {
    const done = spawnSync(command, args, { cwd, env: { ...env, ...extra }, encoding: "utf8" });
    return { code: done.status ?? 128, out: done.stdout, err: done.stderr };
  };
  const expectRun = (cwd: string, script: string) => {
    const done = run(cwd, "sh", ["-ec", script]);
    if (done.code !== 0) throw new Error(`${script}: ${done.err}`);
    return done.out.trim();
  };

  expectRun(
    root,
    `git init -q -b main repo && git init -q -b main --bare origin.git && cd repo
     for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "Add f$i"; done
     git remote add origin "$O" && git push -q -u origin main
     git branch feature && git checkout -q feature && echo f > feature && git add feature && git commit -qm feature
     git checkout -q main && git worktree add -q -b task/1 "$W" && cd "$W" && echo t > t && git add t && git commit -qm task`,
  );
  mkdirSync(template);
  const keep = (name: string) => expectRun(top, `cp -a '${root}' '${join(template, name)}'`);
  keep("bare of it");
  const installed = run(repo, "pawl", ["install", "--profile", "hooks"]);
  if (installed.code !== 0) throw new Error(installed.err);
  // What `pawl start` does for a task.
  mkdirSync(join(repo, ".git/pawl/grants/worktree/refs/heads/task"), { recursive: true });
  writeFileSync(join(repo, ".git/pawl/grants/worktree/refs/heads/task/1"), "worktrees/wt\n");
  writeFileSync(join(repo, ".git/worktrees/wt/pawl-task"), "T0001\n");
  if (making.shebang) useShell(join(repo, ".git"), making.shebang);
  keep("guarded");
  const main = expectRun(repo, "git rev-parse main");
  const task = expectRun(repo, "git rev-parse task/1");
  const prelude = `
    advance_remote() {
      git clone -q "$O" "$R/../other" && git -C "$R/../other" commit -q --allow-empty -m theirs && git -C "$R/../other" push -q
    }
    note_tip() { t=$(git rev-parse main); echo "$t refs/heads/main $t" > .git/pawl/tips/main; }
    `;

  return {
    root,
    repo,
    worktree,
    origin,
    env,
    making,
    sh: (script, extra = {}) => run(repo, "sh", ["-c", prelude + script], { M: main, T: task, ...extra }),
    git: (...args) => expectRun(repo, `git ${args.map((one) => `'${one}'`).join(" ")}`),
    pawl: (...args) => run(repo, "pawl", args),
    reset(how = "guarded") {
      expectRun(top, `rm -rf '${root}' && cp -a '${join(template, how)}' '${root}'`);
      stayTheSameClone(repo);
    },
    remove: () => rmSync(top, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Runs every hook with another shell than this machine's /bin/sh. */
export function useShell(gitDir: string, shebang: string): void {
  const hooks = join(gitDir, "pawl", "hooks");
  const all = [
    ...readdirSync(hooks).map((name) => join(hooks, name)),
    join(gitDir, "pawl/guard"),
    join(gitDir, "hooks/reference-transaction"),
  ];
  for (const path of all)
    if (existsSync(path))
      writeFileSync(path, readFileSync(path, "utf8").replace(/^#!.*\n/, `#!${shebang}\n`));
}
