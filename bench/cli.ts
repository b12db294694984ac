import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStore } from "./helpers/fill-store.ts";

/** The budgets of the design, as ratios to an empty Node process measured in the same rounds. */
interface Budget {
  tasks: number;
  name: string;
  args: string[];
  /** Without one the figure is only told. */
  most?: number;
  /** As if nobody had looked for a minute, so that past tasks are looked at as well. */
  cold?: boolean;
}

const BUDGETS: Budget[] = [
  { tasks: 1_000, name: "status", args: ["status"], most: 1.7 },
  { tasks: 1_000, name: "status, first in a minute", args: ["status"], cold: true },
  { tasks: 1_000, name: "session", args: ["session"], most: 1.7 },
  { tasks: 1_000, name: "task show", args: ["task", "show", "T0500"], most: 1.7 },
  { tasks: 1_000, name: "task list", args: ["task", "list"], most: 2 },
  { tasks: 1_000, name: "search", args: ["search", "retry upload"], most: 3.5 },
  { tasks: 10_000, name: "task list", args: ["task", "list"], most: 5 },
  { tasks: 10_000, name: "search", args: ["search", "retry upload"], most: 7 },
];

const ROUNDS = Number(process.argv[2] ?? 21);
const pawl = [process.execPath, join(process.cwd(), "dist", "pawl.cjs")];
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));

/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };

function makeRepository(tasks: number): string {
  const repo = join(folder, `with ${tasks} tasks`);
  mkdirSync(repo);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-q", "--allow-empty", "-m", "Begin");
  process.stderr.write(`filling a store with ${tasks} tasks and ${tasks * 5} records …\n`);
  fillStore(repo, pawl, env, tasks);
  return repo;
}

function time(command: readonly string[], cwd: string): number {
  const [program = "", ...args] = command;
  const started = process.hrtime.bigint();
  const run = spawnSync(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 2 ** 30 });
  const took = Number(process.hrtime.bigint() - started) / 1e6;
  if (run.status !== 0) throw new Error(`${command.join(" ")} ended with ${run.status}: ${run.stderr}`);
  return took;
}

const twoMinutesAgo = () => Date.now() / 1000 - 120;
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

try {
  const rows: string[][] = [];
  let missed = 0;
  for (const tasks of [...new Set(BUDGETS.map((one) => one.tasks))]) {
    const repo = makeRepository(tasks);
    const mine = BUDGETS.filter((one) => one.tasks === tasks);
    // Twice before the clock starts: the generated files are made, and found settled.
    for (let i = 0; i < 2; i++) {
      for (const one of mine) time([...pawl, ...one.args], repo);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200);
    }
    const floor: number[] = [];
    const took = new Map<Budget, number[]>(mine.map((one) => [one, []]));
    for (let round = 0; round < ROUNDS; round++) {
      floor.push(time([process.execPath, "-e", "0"], repo));
      for (const one of mine) {
        if (one.cold) utimesSync(join(repo, ".git", "pawl", "tasks.cache"), twoMinutesAgo(), twoMinutesAgo());
        took.get(one)?.push(time([...pawl, ...one.args], repo));
      }
    }
    for (const one of mine) {
      const ratio = median(took.get(one) ?? []) / median(floor);
      const ok = one.most === undefined || ratio <= one.most;
      if (!ok) missed++;
      rows.push([
        String(tasks),
        one.name,
        `${median(took.get(one) ?? []).toFixed(0)} ms`,
        `${ratio.toFixed(2)} ×`,
        one.most === undefined ? "" : `≤ ${one.most} ×`,
        one.most === undefined ? "" : ok ? "ok" : "MISSED",
      ]);
    }
    rows.push([String(tasks), "node -e 0", `${median(floor).toFixed(0)} ms`, "1 ×", "", ""]);
  }
  const head = ["tasks", "command", "median", "ratio", "budget", ""];
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)));
  for (const row of [head, ...rows])
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log(`medians of ${ROUNDS} interleaved rounds, Node ${process.version}`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
