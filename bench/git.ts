import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStore } from "./helpers/fill-store.ts";

/** `pawl start` against `git worktree add`, and `pawl check` against an empty Node process, side by side. */
const ROUNDS = Number(process.argv[2] ?? 7);
const FILES = 20_000;
const START_BUDGET = 1.2;
const CHECK_BUDGET = 1.7;

const pawl = [process.execPath, join(process.cwd(), "dist", "pawl.cjs")];
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };

function run(command: readonly string[], cwd: string, ...wanted: number[]): { ms: number; out: string } {
  const [program = "", ...args] = command;
  const started = process.hrtime.bigint();
  const done = spawnSync(program, args, { cwd, env, encoding: "utf8", maxBuffer: 2 ** 30 });
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (![0, ...wanted].includes(done.status ?? -1))
    throw new Error(`${command.join(" ")} ended with ${done.status}: ${done.stderr}`);
  return { ms, out: done.stdout };
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function makeRepository(name: string): string {
  const repo = join(folder, name);
  mkdirSync(repo);
  writeFileSync(join(folder, ".gitconfig"), "[user]\n\tname = Bench\n\temail = bench@example.com\n");
  git(repo, "init", "-q", "-b", "main");
  return repo;
}

interface Row {
  what: string;
  ms: number;
  ratio: number;
  most?: number;
}

function benchStart(): Row[] {
  const repo = makeRepository("many files");
  process.stderr.write(`making a repository of ${FILES} files …\n`);
  for (let index = 0; index < FILES; index++) {
    const inside = join(repo, "src", `part${index % 100}`);
    if (index < 100) mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, `file${index}.ts`), `export const value${index} = ${index};\n`.repeat(20));
  }
  git(repo, "add", "-A");
  git(repo, "commit", "-q", "-m", "Begin");
  const floor: number[] = [];
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const title = `Round ${round}`;
    const task = JSON.parse(run([...pawl, "task", "new", title, "--json"], repo).out).data.task.id as string;
    // Taken in turns, so that neither always has the warmer disk.
    const plain = () => {
      floor.push(run(["git", "worktree", "add", "-q", "-b", `plain/${round}`, `../plain ${round}`], repo).ms);
    };
    if (round % 2 === 0) plain();
    took.push(run([...pawl, "start", task], repo).ms);
    if (round % 2 === 1) plain();
    git(repo, "worktree", "remove", "--force", `../plain ${round}`);
    git(
      repo,
      "worktree",
      "remove",
      "--force",
      "--force",
      join(".worktrees", newest(join(repo, ".worktrees"), task)),
    );
    process.stderr.write(`start: round ${round + 1} of ${ROUNDS}\n`);
  }
  return [
    { what: `git worktree add, ${FILES} files`, ms: median(floor), ratio: 1 },
    {
      what: `pawl start, ${FILES} files`,
      ms: median(took),
      ratio: median(took) / median(floor),
      most: START_BUDGET,
    },
  ];
}

const newest = (worktrees: string, task: string) =>
  readdirSync(worktrees).find((name) => name.startsWith(task)) ?? "";

/** A task in the middle of its life, with 1,000 others around it: the worktree is small, as the design's unit is. */
function benchCheck(): Row[] {
  const repo = makeRepository("many tasks");
  writeFileSync(join(repo, "README.md"), "# Bench\n");
  git(repo, "add", "-A");
  git(repo, "commit", "-q", "-m", "Begin");
  process.stderr.write("filling a store with 1000 tasks and 5000 records …\n");
  fillStore(repo, pawl, env, 1_000);
  const task = JSON.parse(run([...pawl, "task", "new", "Measured", "--profile", "light", "--json"], repo).out)
    .data.task.id as string;
  run([...pawl, "start", task], repo);
  const worktree = join(repo, ".worktrees", newest(join(repo, ".worktrees"), task));
  if (!existsSync(worktree)) throw new Error(`${worktree} is not there`);
  writeFileSync(join(worktree, "new.ts"), "export const x = 1;\n");
  git(worktree, "add", "-A");
  git(worktree, "commit", "-q", "-m", "Work");
  run([...pawl, "verify", "--", "true"], worktree);
  run([...pawl, "handoff", "--what", "done", "--changed", "new.ts", "--next", "approve"], worktree);
  run([...pawl, "snapshot"], worktree);
  const young = timeStages(worktree, "1000 tasks");
  // What time and git's own commands do by themselves: the index gets older than the files it knows.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  for (const checkout of [repo, worktree]) git(checkout, "update-index", "--force-write-index");
  return [...young, ...timeStages(worktree, "files older than the index")];
}

function timeStages(worktree: string, where: string): Row[] {
  const stages = ["plan", "review", "close"];
  const times = new Map<string, number[]>(["node", ...stages].map((name) => [name, []]));
  for (let round = 0; round < ROUNDS * 3 + 2; round++)
    for (const [name, taken] of times) {
      const { ms } = run(
        name === "node" ? [process.execPath, "-e", "0"] : [...pawl, "check", "--stage", name],
        worktree,
      );
      // The first two rounds make the generated files, and find them settled.
      if (round >= 2) taken.push(ms);
    }
  const floor = median(times.get("node") ?? []);
  return [
    { what: "node -e 0", ms: floor, ratio: 1 },
    ...stages.map((stage) => {
      const ms = median(times.get(stage) ?? []);
      return { what: `pawl check --stage ${stage}, ${where}`, ms, ratio: ms / floor, most: CHECK_BUDGET };
    }),
  ];
}

try {
  const rows = [...benchStart(), ...benchCheck()];
  const widest = Math.max(...rows.map((row) => row.what.length));
  for (const { what, ms, ratio, most } of rows) {
    const verdict = most === undefined ? "" : `≤ ${most} ×  ${ratio <= most ? "ok" : "MISSED"}`;
    console.log(
      `${what.padEnd(widest)}  ${ms.toFixed(0).padStart(6)} ms  ${ratio.toFixed(2)} ×  ${verdict}`.trimEnd(),
    );
  }
  console.log(
    `medians of ${ROUNDS} (start) and ${ROUNDS * 3} (check) interleaved rounds, Node ${process.version}`,
  );
  process.exitCode = rows.every((row) => row.most === undefined || row.ratio <= row.most) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
