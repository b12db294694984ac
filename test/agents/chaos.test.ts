// @module-tag long
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { owners, readExit, readGuard, readSpec } from "../../src/agents/attempt/folder.ts";
import { isMarked, markedProcesses } from "../../src/agents/processes.ts";
import { parseIdentity, seeProcesses } from "../../src/files/process-identity.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { SECONDS } from "../helpers/long-runs.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { agentsAt, type ChaosPlace } from "./chaos-worker.ts";

/**
 * Launchers, supervisors, guards and both at once are killed at random while agents run, end by themselves, leave
 * processes behind and are stopped. What the agents wrote into a ledger of their own is compared with what the attempts'
 * folders say. What each of these kills leaves is tried one by one in test/crash/run-crash.test.ts.
 */
const RUNS = 12;
const USERS = 3;

let root: string;
let worker: string;
let place: ChaosPlace;
let ledger: string;
let script: string;

beforeAll(async () => {
  root = makeTemporaryFolder("chaos");
  worker = await bundleProgram(join(import.meta.dirname, "chaos-worker.ts"), root, "worker");
  const supervisor = await bundleProgram(
    join(import.meta.dirname, "../../src/agents/bin.ts"),
    root,
    "supervise",
  );
  const program = join(root, "nothing.cjs");
  writeFileSync(program, "");
  place = { runs: join(root, "runs"), project: root, supervisor, program };
  ledger = join(root, "ledger");
  writeFileSync(ledger, "");
  script = join(root, "agent.sh");
  // Says when it begins, leaves a tool and sometimes one in a session of its own, and says its status before it ends.
  writeFileSync(
    script,
    `run=$1 seconds=$2 code=$3 escapes=$4
printf 'B %s %s\\n' "$PAWL_ATTEMPT" "$(date +%s%N)" >>'${ledger}'
sleep 7777 &
[ "$escapes" = 1 ] && setsid sleep 8888 &
sleep "$seconds"
printf 'E %s %s %s\\n' "$PAWL_ATTEMPT" "$(date +%s%N)" "$code" >>'${ledger}'
exit "$code"
`,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const any = (below: number) => Math.floor(Math.random() * below);
const runs = Array.from({ length: RUNS }, (_, nth) => `T0001/R${nth + 1}`);
const done = { launches: 0, refused: 0, stops: 0, launcher: 0, supervisor: 0, guard: 0, both: 0 };

function attemptsOf(run: string): string[] {
  const folder = join(place.runs, run.replace("/", "."));
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^a\d+$/.test(name))
    .sort((one, other) => Number(one.slice(1)) - Number(other.slice(1)))
    .map((name) => join(folder, name));
}

function launch(run: string): Promise<void> {
  const seconds = (Math.random() * 0.9).toFixed(2);
  const command = ["sh", script, run, seconds, String(any(5)), String(any(3) === 0 ? 1 : 0)];
  const child = spawn(process.execPath, [worker, JSON.stringify({ ...place, run, command })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  done.launches++;
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  if (any(4) === 0)
    setTimeout(() => {
      if (child.kill("SIGKILL")) done.launcher++;
    }, any(180));
  return new Promise((ended) => {
    child.on("close", () => {
      if (said === "refused") done.refused++;
      ended();
    });
  });
}

/** On a slow machine it takes longer until each kind of process was killed once. */
function isLongEnough(end: number): boolean {
  const kills = Math.min(done.launcher, done.supervisor, done.guard, done.both);
  return Date.now() > end && (kills > 0 || Date.now() > end + 60_000);
}

async function user(end: number): Promise<void> {
  const agents = agentsAt(place);
  while (!isLongEnough(end)) {
    const run = runs[any(RUNS)] ?? "";
    const act = any(12);
    if (act === 0) {
      done.stops++;
      await agents.stop(run, { reason: "stopped", by: "test", graceMs: 100 });
    } else if (act < 4) await agents.settle(run);
    else await launch(run);
    await sleep(any(30));
  }
}

const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
};

async function killer(end: number): Promise<void> {
  for (; !isLongEnough(end); await sleep(10 + any(40))) {
    const path = attemptsOf(runs[any(RUNS)] ?? "").at(-1);
    const spec = path === undefined ? undefined : readSpec(path);
    if (path === undefined || !spec || readExit(path)) continue;
    const owner = parseIdentity(owners(path).at(-1) ?? "");
    const supervisor = owner && seeProcesses().livenessOf(owner) === "alive" ? owner.pid : 0;
    const guard = isMarked(readGuard(path), spec.mark) ? readGuard(path) : 0;
    const what = any(4);
    if (what <= 1 && supervisor && kill(supervisor)) done.supervisor++;
    else if (what === 2 && guard && kill(guard)) done.guard++;
    else if (what === 3 && supervisor && guard) {
      kill(supervisor);
      kill(guard);
      done.both++;
    }
  }
}

interface Entry {
  at: bigint;
  code: number | undefined;
}

function readLedger(): { began: Map<string, Entry[]>; ended: Map<string, Entry[]> } {
  const [began, ended] = [new Map<string, Entry[]>(), new Map<string, Entry[]>()];
  for (const line of readFileSync(ledger, "utf8").split("\n")) {
    const [what, mark = "", at = "0", code] = line.split(" ");
    const all = what === "B" ? began : ended;
    if (line !== "")
      all.set(mark, [
        ...(all.get(mark) ?? []),
        { at: BigInt(at), code: code === undefined ? undefined : +code },
      ]);
  }
  return { began, ended };
}

function audit() {
  const { began, ended } = readLedger();
  const found = {
    ...{ attempts: 0, agents: 0, endedByThemselves: 0, trueCode: 0, codeUnknown: 0, neverStarted: 0 },
    ...{ withoutExit: 0, wrongCode: 0, startedTwice: 0, atTheSameTime: 0, ranButNeverStarted: 0, orphans: 0 },
  };
  for (const run of runs) {
    let before = 0n;
    for (const path of attemptsOf(run)) {
      found.attempts++;
      const spec = readSpec(path);
      const exit = readExit(path);
      if (!exit || !spec) {
        found.withoutExit++;
        continue;
      }
      const [start, ...again] = began.get(spec.mark) ?? [];
      const [end] = ended.get(spec.mark) ?? [];
      if (start) found.agents++;
      if (again.length > 0) found.startedTwice++;
      if (exit.lost === "never_started") found.neverStarted++;
      if (start && exit.lost === "never_started") found.ranButNeverStarted++;
      if (start && start.at < before) found.atTheSameTime++;
      before = statSync(join(path, "exit.json"), { bigint: true }).mtimeNs;
      if (end) {
        found.endedByThemselves++;
        if (exit.code === end.code) found.trueCode++;
        else if (exit.code === null) found.codeUnknown++;
        else found.wrongCode++;
      }
      found.orphans += markedProcesses(spec.mark).length;
    }
  }
  return found;
}

test(
  `nothing is lost while agents, supervisors and guards are killed for ${SECONDS} s`,
  async () => {
    const end = Date.now() + SECONDS * 1_000;
    await Promise.all([...Array.from({ length: USERS }, () => user(end)), killer(end)]);
    const agents = agentsAt(place);
    const isOver = async () => {
      const views = await Promise.all(runs.map((run) => agents.settle(run)));
      return views.every((view) => view === undefined || view.state === "ended");
    };
    for (const deadline = Date.now() + 60_000; Date.now() < deadline && !(await isOver()); ) await sleep(250);
    await sleep(1_000);
    const found = audit();
    console.log(JSON.stringify({ seconds: SECONDS, ...done, ...found }));
    expect(found).toMatchObject({
      ...{
        withoutExit: 0,
        wrongCode: 0,
        startedTwice: 0,
        atTheSameTime: 0,
        ranButNeverStarted: 0,
        orphans: 0,
      },
    });
    expect(found.attempts).toBeGreaterThan(SECONDS / 2);
    expect(Math.min(done.launcher, done.supervisor, done.guard, done.both)).toBeGreaterThan(0);
  },
  (SECONDS + 240) * 1_000,
);
