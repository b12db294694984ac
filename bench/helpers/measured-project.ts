import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFolder, OTHER_NODES } from "../../test/helpers/node-versions.ts";
import { fillStore } from "./fill-store.ts";

const program = [process.execPath, join(process.cwd(), "dist", "pawl.cjs")];

/** How skills tell agents to call pawl, from the top of the repository or of a worktree. */
export const launcherOn = (node: string) => [node, join(".pawl", "pawl.cjs")];
export const LAUNCHER = launcherOn(process.execPath);

/** Every line of Node that pawl runs on, this process's own first. */
export const everyNode = () => [
  process.execPath,
  ...OTHER_NODES.map((version) => join(nodeFolder(process.cwd(), version, process.env), "node")),
];

export const versionOf = (node: string, env: NodeJS.ProcessEnv) =>
  run([node, "-p", "process.version"], process.cwd(), env).out.trim();

/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
export function cleanEnv(folder: string): NodeJS.ProcessEnv {
  writeFileSync(join(folder, ".gitconfig"), "[user]\n\tname = Bench\n\temail = bench@example.com\n");
  return { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
}

/** Runs a command to its end; one that ends otherwise than it should is no figure. */
export function run(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv, wanted = [0]) {
  const [file = "", ...args] = command;
  const started = process.hrtime.bigint();
  const done = spawnSync(file, args, { cwd, env, encoding: "utf8", maxBuffer: 2 ** 30 });
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (!wanted.includes(done.status ?? -1))
    throw new Error(`${command.join(" ")} ended with ${done.status}: ${done.stderr}`);
  return { ms, out: done.stdout };
}

export const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** A repository in which pawl is installed and committed, as every clone and worktree has it. */
export function makeProject(repo: string, env: NodeJS.ProcessEnv, fill: (repo: string) => void): void {
  mkdirSync(repo);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  fill(repo);
  git("add", "-A");
  git("commit", "-q", "-m", "Begin");
  run([...program, "install", "--commit", "--yes"], repo, env);
}

/** A task that could be approved, in its own small worktree, with many others around it. Returns where its work is. */
export function makeTaskAmong(repo: string, env: NodeJS.ProcessEnv, tasks: number): string {
  makeProject(repo, env, () => writeFileSync(join(repo, "README.md"), "# Bench\n"));
  process.stderr.write(`filling a store with ${tasks} tasks and ${tasks * 5} records …\n`);
  fillStore(repo, program, env, tasks);
  const made = run([...LAUNCHER, "task", "new", "Measured", "--profile", "light", "--json"], repo, env);
  const worktree = startTask(repo, env, JSON.parse(made.out).data.task.id);
  writeFileSync(join(worktree, "new.ts"), "export const x = 1;\n");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: worktree, env });
  git("add", "-A");
  git("commit", "-q", "-m", "Work");
  run([...LAUNCHER, "verify", "--", "test", "-d", "."], worktree, env);
  run([...LAUNCHER, "handoff", "--what", "done", "--changed", "new.ts", "--next", "approve"], worktree, env);
  run([...LAUNCHER, "snapshot"], worktree, env);
  return worktree;
}

export function startTask(repo: string, env: NodeJS.ProcessEnv, task: string): string {
  run([...LAUNCHER, "start", task], repo, env);
  return worktreeOf(repo, task);
}

export function worktreeOf(repo: string, task: string): string {
  const folder = join(repo, ".worktrees");
  const name = readdirSync(folder).find((one) => one.startsWith(task));
  if (name === undefined) throw new Error(`${task} has no worktree`);
  return join(folder, name);
}

export interface Row {
  what: string;
  ms: number;
  /** What was counted, where it is not milliseconds. */
  unit?: string | undefined;
  ratio: number;
  most?: number | undefined;
}

/** Prints the rows, and says whether all budgets were met. */
export function printRows(rows: readonly Row[]): boolean {
  const widest = Math.max(...rows.map(({ what }) => what.length));
  for (const { what, ms, unit = "ms", ratio, most } of rows) {
    const verdict = most === undefined ? "" : `≤ ${most} ×  ${ratio <= most ? "ok" : "MISSED"}`;
    const figures = `${ms.toFixed(0).padStart(6)} ${unit}  ${ratio.toFixed(2)} ×`;
    console.log(`${what.padEnd(widest)}  ${figures}  ${verdict}`.trimEnd());
  }
  return rows.every(({ ratio, most }) => most === undefined || ratio <= most);
}
