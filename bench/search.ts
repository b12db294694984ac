import { mkdtempSync, rmSync } from "node:fs";
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
 * What looking something up costs a process of its own, on every line of Node: from 22.15 on Node brings SQLite, before
 * that it is WebAssembly.
 */
interface Measured {
  args: string[];
  native: number;
  wasm: number;
}

const SMALL: Measured[] = [
  { args: ["search", "retry upload"], native: 2.5, wasm: 8 },
  { args: ["context", "T0500"], native: 3, wasm: 3 },
];
const LARGE: Measured[] = [{ args: ["search", "retry upload"], native: 4, wasm: 12 }];

const ROUNDS = Number(process.argv[2] ?? 15);
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env = cleanEnv(folder);

function measure(node: string, worktree: string, where: string, commands: readonly Measured[]): Row[] {
  const version = versionOf(node, env);
  const hasSqlite = !version.startsWith("v20.");
  const time = ({ args }: Measured) => run([...launcherOn(node), ...args], worktree, env).ms;
  // Before the clock starts: the index is made, and its files are found settled.
  for (let i = 0; i < 2; i++) {
    for (const one of commands) time(one);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200);
  }
  const floor: number[] = [];
  const took = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(run([node, "-e", "0"], worktree, env).ms);
    for (const [index, one] of commands.entries()) took[index]?.push(time(one));
  }
  return commands.map(({ args, native, wasm }, index) => {
    const ms = median(took[index] ?? []);
    return {
      what: `${where}, Node ${version}: ${args[0]}`,
      ms,
      ratio: ms / median(floor),
      most: hasSqlite ? native : wasm,
    };
  });
}

try {
  const rows: Row[] = [];
  for (const [tasks, commands] of [
    [1_000, SMALL],
    [10_000, LARGE],
  ] as const) {
    const worktree = makeTaskAmong(join(folder, `with ${tasks} tasks`), env, tasks);
    for (const node of everyNode())
      rows.push(...measure(node, worktree, `${tasks.toLocaleString("en")} tasks`, commands));
  }
  process.exitCode = printRows(rows) ? 0 : 1;
  console.log(`medians of ${ROUNDS} interleaved rounds`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
