import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cleanEnv,
  everyNode,
  launcherOn,
  makeTaskAmong,
  median,
  printRows,
  type Row,
  run,
  versionOf,
} from "./helpers/measured-project.ts";

/**
 * What a command costs an agent: through the launcher, from its task's worktree, against an empty process of the same
 * Node, on every line of Node.
 */
interface Measured {
  args: string[];
  /** Without one the figure is only told. */
  most?: number;
  /** As if nobody had looked for a minute, so that past tasks are looked at as well. */
  cold?: boolean;
}

const READS: Measured[] = [
  { args: ["status"], most: 1.7 },
  { args: ["status"], cold: true },
  { args: ["session"], most: 1.7 },
  { args: ["task", "show"], most: 1.7 },
  { args: ["task", "show", "T0500"], most: 1.7 },
  { args: ["task", "list"], most: 2 },
];

const CHECKS: Measured[] = ["plan", "review", "close"].map((stage) => ({
  args: ["check", "--stage", stage],
  most: 1.7,
}));

const LARGE: Measured[] = [{ args: ["task", "list"], most: 5 }];

const ROUNDS = Number(process.argv[2] ?? 41);
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

interface Where {
  repo: string;
  worktree: string;
  /** What is special about it, for the table. */
  called: string;
}

function measure(
  { repo, worktree, called }: Where,
  commands: readonly Measured[],
  node = process.execPath,
): Row[] {
  const where = node === process.execPath ? called : `${called}, Node ${versionOf(node, env)}`;
  const time = ({ args, cold }: Measured) => {
    const past = Date.now() / 1000 - 120;
    if (cold) utimesSync(join(repo, ".git", "pawl", "tasks.cache"), past, past);
    return run([...launcherOn(node), ...args], worktree, env).ms;
  };
  // Twice before the clock starts: the generated files are made, and found settled.
  for (let i = 0; i < 2; i++) {
    for (const one of commands) time(one);
    pause(2_200);
  }
  const floor: number[] = [];
  const took = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(run([node, "-e", "0"], worktree, env).ms);
    for (const [index, one] of commands.entries()) took[index]?.push(time(one));
  }
  const rows = commands.map(({ args, cold, most }, index) => {
    const ms = median(took[index] ?? []);
    const what = `${where}: ${args.join(" ")}${cold ? ", first in a minute" : ""}`;
    return { what, ms, ratio: ms / median(floor), most };
  });
  return [...rows, { what: `${where}: node -e 0`, ms: median(floor), ratio: 1 }];
}

try {
  const repo = join(folder, "with 1000 tasks");
  const worktree = makeTaskAmong(repo, env, 1_000);
  const small = { repo, worktree, called: "1,000 tasks" };
  const rows = everyNode().flatMap((node) => measure(small, [...READS, ...CHECKS], node));
  // What time and git's own commands do by themselves: the index gets older than the files it knows.
  pause(50);
  for (const cwd of [repo, worktree])
    execFileSync("git", ["update-index", "--force-write-index"], { cwd, env });
  rows.push(...measure({ ...small, called: "files older than the index" }, CHECKS));
  const large = join(folder, "with 10000 tasks");
  const among = { repo: large, worktree: makeTaskAmong(large, env, 10_000), called: "10,000 tasks" };
  rows.push(...measure(among, LARGE));
  process.exitCode = printRows(rows) ? 0 : 1;
  console.log(`medians of ${ROUNDS} interleaved rounds, Node ${process.version}`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
