import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { onTerminal, type Typed } from "../helpers/pseudo-terminal.ts";
import { DISK, makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** A repository into which pawl was really installed, with the program built from the sources as they are now. */
export interface InstalledProject {
  path: string;
  /** Where tasks have their worktrees. */
  worktree(name: string): string;
  git(...args: string[]): string;
  /** What a person at the keyboard would run; no agent is recognised in its environment. */
  pawl(...args: string[]): string;
  /** The same on a terminal of its own, typing this when it is asked. */
  onTerminal(argv: readonly string[], typed: string): Promise<Typed>;
  /** An empty home for one run of an agent. */
  newHome(): string;
  /** The names of a task's records of one kind. */
  records(task: string, kind: string): string[];
  remove(): void;
}

export function makeProject(name: string, ...options: string[]): InstalledProject {
  const program = buildProgram();
  const root = makeTemporaryFolder(name, DISK);
  const { path, env } = makeRepository(root);
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, {
      cwd: path,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  run(process.execPath, [program.pawl, "install", "--commit", "--yes", ...options]);
  const launcher = join(path, ".pawl", "pawl.cjs");
  let homes = 0;
  return {
    path,
    worktree: (branch) => join(path, ".worktrees", branch),
    git: (...args) => run("git", args),
    pawl: (...args) => run(process.execPath, [launcher, ...args]),
    onTerminal: (argv, typed) => onTerminal(launcher, { path, env }, argv, typed),
    newHome() {
      const home = join(root, `home ${++homes}`);
      mkdirSync(home);
      // Git's own name for whoever commits; nothing else of a user is there.
      execFileSync("cp", [join(root, ".gitconfig"), home]);
      return home;
    },
    records: (task, kind) => namesIn(join(path, ".pawl", "state", "tasks", task, kind)),
    remove: () => removeAll(program, root),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function removeAll(program: BuiltProgram, root: string): void {
  program.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}
