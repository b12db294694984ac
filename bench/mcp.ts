import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { tokensOf } from "../src/model/budget.ts";
import { fillStore } from "./helpers/fill-store.ts";
import { median } from "./helpers/measured-project.ts";

/** What a session pays for the server: time until it answers, time per call, memory, and tokens. */
const TASKS = 1_000;
const ROUNDS = Number(process.argv[2] ?? 15);
const CALLS = 41;
const MIXED_CALLS = 400;
const MOST = { initialize: 4, call: 5, search: 10, megabytes: 110, tools: 2_200, session: 400 };

/** Reads are held to the budget; a write waits for the disk three times, whoever asks for it, and is only told. */
const READS: [string, object][] = [
  ["status", {}],
  ["session", { task: "T0500" }],
  ["task_show", { task: "T0500" }],
  ["task_list", { limit: 20 }],
  ["finding_list", { task: "T0500" }],
  ["search", { words: ["retry", "upload"] }],
  ["context", { task: "T0500" }],
];
const WRITES: [string, (n: number) => object][] = [
  ["finding_add", (n) => ({ text: `Finding number ${n} of this run`, severity: "low", task: "T0500" })],
  ["decide", (n) => ({ what: `Decision ${n}`, why: "It was measured", task: "T0500" })],
];

const pawl = [process.execPath, join(process.cwd(), "dist", "pawl.cjs")];
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
const since = (started: bigint) => Number(process.hrtime.bigint() - started) / 1e6;

interface Connection {
  child: ChildProcess;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ask(method: string, params?: object): Promise<any>;
  end(): Promise<void>;
}

function connect(cwd: string, args: string[]): Connection {
  const [program = "", entry = ""] = pawl;
  const child = spawn(program, [entry, "mcp", ...args], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (result: unknown) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    if (error) throw new Error(line);
    waiting.get(id)?.(result);
  });
  let last = 0;
  return {
    child,
    ask: (method, params = {}) =>
      new Promise((done) => {
        waiting.set(++last, done);
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
      }),
    end: () =>
      new Promise((done) => {
        child.on("close", () => done());
        child.stdin.end();
      }),
  };
}

const HELLO = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

const rows: string[][] = [];
let missed = 0;

function tell(what: string, figure: string, budget: string, ok: boolean | undefined): void {
  if (ok === false) missed++;
  rows.push([what, figure, budget, ok === undefined ? "" : ok ? "ok" : "MISSED"]);
}

async function timeInitialize(repo: string): Promise<void> {
  const [floor, took]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    const empty = process.hrtime.bigint();
    spawnSync(process.execPath, ["-e", "0"], { cwd: repo, env, stdio: "ignore" });
    const bare = since(empty);
    const started = process.hrtime.bigint();
    const server = connect(repo, []);
    await server.ask("initialize", HELLO);
    const whole = since(started);
    await server.end();
    // The first round fills the caches that every later start finds.
    if (round < 0) continue;
    floor.push(bare);
    took.push(whole);
  }
  const ratio = median(took) / median(floor);
  const figure = `${median(took).toFixed(0)} ms, ${ratio.toFixed(2)} × node -e 0 (${median(floor).toFixed(0)} ms)`;
  tell("initialize", figure, `≤ ${MOST.initialize} ×`, ratio <= MOST.initialize);
}

async function timeCalls(server: Connection): Promise<void> {
  const time = async (name: string, args: object) => {
    const started = process.hrtime.bigint();
    const result = await server.ask("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return since(started);
  };
  const took = new Map<string, number[]>();
  const note = (name: string, ms: number) => took.set(name, [...(took.get(name) ?? []), ms]);
  for (let n = -2; n < CALLS; n++) {
    for (const [name, args] of READS) {
      const ms = await time(name, args);
      if (n >= 0) note(name, ms);
    }
  }
  for (let n = 0; n < CALLS; n++)
    for (const [name, args] of WRITES) note(`${name} (writes)`, await time(name, args(n)));
  const reads = READS.flatMap(([name]) => took.get(name) ?? []);
  tell(
    "median of all reading calls",
    `${median(reads).toFixed(1)} ms`,
    `≤ ${MOST.call} ms`,
    median(reads) <= MOST.call,
  );
  const search = median(took.get("search") ?? []);
  tell("search, one call", `${search.toFixed(1)} ms`, `≤ ${MOST.search} ms`, search <= MOST.search);
  for (const [name, all] of took) tell(`  ${name}`, `${median(all).toFixed(1)} ms`, "", undefined);
}

/** A server of its own, which also makes the index, as after a fresh clone. */
async function tellMemory(repo: string): Promise<void> {
  rmSync(join(repo, ".git", "pawl", "index.sqlite"), { force: true });
  const server = connect(repo, ["--tools", "all"]);
  await server.ask("initialize", HELLO);
  tell("memory after initialize", told(memoryOf(server)), "", undefined);
  for (let n = 0; n < MIXED_CALLS; n++) {
    const [name, args] = [...READS, ...WRITES][n % (READS.length + WRITES.length)] ?? ["status", {}];
    const given = typeof args === "function" ? args(CALLS + n) : args;
    const { isError, content } = await server.ask("tools/call", { name, arguments: given });
    if (isError) throw new Error(`${name}: ${content[0].text}`);
  }
  const memory = memoryOf(server);
  const budget = `≤ ${MOST.megabytes} MB`;
  tell(`memory after ${MIXED_CALLS} mixed calls`, told(memory), budget, memory.whole <= MOST.megabytes);
  await server.end();
}

function memoryOf({ child }: Connection): { whole: number; own: number } {
  const read = (file: string, name: string) =>
    Number(
      new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${child.pid}/${file}`, "utf8"))?.[1],
    ) / 1024;
  const own = read("smaps_rollup", "Private_Clean") + read("smaps_rollup", "Private_Dirty");
  return { whole: read("status", "VmRSS"), own };
}

const told = ({ whole, own }: ReturnType<typeof memoryOf>) =>
  `${whole.toFixed(0)} MB, of which ${own.toFixed(0)} MB its own`;

async function tellTokens(repo: string): Promise<void> {
  for (const tier of ["core", "all"]) {
    const server = connect(repo, ["--tools", tier]);
    const hello = await server.ask("initialize", HELLO);
    const list = await server.ask("tools/list");
    const tokens = tokensOf(JSON.stringify(list));
    const held = tier === "core";
    const figure = `${tokens} tokens, ${list.tools.length} tools`;
    tell(
      `tools/list, ${tier}`,
      figure,
      held ? `≤ ${MOST.tools}` : "",
      held ? tokens <= MOST.tools : undefined,
    );
    if (held) {
      tell("instructions", `${tokensOf(hello.instructions)} tokens`, "", undefined);
      const { content } = await server.ask("tools/call", { name: "session", arguments: { task: "T0500" } });
      const session = tokensOf(content[0].text);
      tell("session", `${session} tokens`, `≤ ${MOST.session}`, session <= MOST.session);
    }
    await server.end();
  }
}

try {
  const repo = join(folder, `with ${TASKS} tasks`);
  mkdirSync(repo);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-q", "--allow-empty", "-m", "Begin");
  process.stderr.write(`filling a store with ${TASKS} tasks and ${TASKS * 5} records …\n`);
  fillStore(repo, pawl, env, TASKS);
  await timeInitialize(repo);
  const server = connect(repo, ["--tools", "all"]);
  await server.ask("initialize", HELLO);
  await timeCalls(server);
  await server.end();
  if (process.platform === "linux") await tellMemory(repo);
  await tellTokens(repo);
  const head = ["what", "figure", "budget", ""];
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)));
  for (const row of [head, ...rows])
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log(`medians of ${ROUNDS} starts and ${CALLS} calls each, Node ${process.version}`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
