import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { planOf } from "./hammer-plan.ts";
import type { DiaryLine, HammerJob } from "./hammer-worker.ts";
import { type FoundRecord, inspectStore, type Violations } from "./store-verifier.ts";
import { stateOf, type TemporaryRepository } from "./temporary-repository.ts";

export interface HammerPlan {
  worker: string;
  repository: TemporaryRepository;
  diaries: string;
  processes: number;
  operations: number;
  kills: number;
  shared: string[];
  commitEvery: number;
  deadlineMs: number;
}

export interface HammerResult {
  operations: number;
  acknowledged: number;
  kills: number;
  conflicts: number;
  seconds: number;
  /** Acknowledged, but not in the store. */
  lost: string[];
  /** In the store twice, or never asked for. */
  duplicated: string[];
  /** Workers that did not get done. */
  stuck: string[];
  /** Calls that waited in vain and had to be repeated, as on a disk that stands still. */
  gaveUp: string[];
  store: Violations;
}

/** Lets processes loose on one store, kills them at random, starts them again, and counts what became of their work. */
export async function hammer(plan: HammerPlan): Promise<HammerResult> {
  mkdirSync(plan.diaries, { recursive: true });
  const started = performance.now();
  const lives = Array.from({ length: plan.processes }, (_, worker) => startLife(plan, worker));
  const everyone = Promise.all(lives.map((life) => life.finished));
  const kills = killAtRandom(plan, lives);
  await Promise.race([everyone, delay(plan.deadlineMs, undefined, { ref: false })]);
  const unfinished = lives.filter((life) => !life.ended);
  for (const life of unfinished) life.end();
  await everyone;
  const seconds = (performance.now() - started) / 1000;
  const stuck = unfinished.map((life) => `worker ${life.worker} after ${life.acknowledged} operations`);
  const gaveUp = readDiaries(plan, "busy").map((line) => JSON.stringify(line));
  return { ...judge(plan), kills: await kills, seconds, stuck, gaveUp };
}

/** One worker through all of its deaths. */
interface Life {
  worker: number;
  acknowledged: number;
  ended: boolean;
  finished: Promise<void>;
  kill(): boolean;
  end(): void;
}

function startLife(plan: HammerPlan, worker: number): Life {
  const { repository, operations, shared, commitEvery } = plan;
  const job: HammerJob = {
    ...{ cwd: repository.path, worker, operations, shared, commitEvery },
    diary: diaryOf(plan, worker),
  };
  let child: ChildProcess;
  let finish = () => {};
  const life: Life = {
    worker,
    acknowledged: 0,
    ended: false,
    finished: new Promise((resolve) => {
      finish = resolve;
    }),
    kill: () => !life.ended && child.kill("SIGKILL"),
    end() {
      life.ended = true;
      child.kill("SIGKILL");
    },
  };
  const spawnAgain = () => {
    child = spawn(process.execPath, [plan.worker, JSON.stringify(job)], {
      cwd: repository.path,
      env: repository.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout?.on("data", (dots: Buffer) => {
      life.acknowledged += dots.length;
    });
    child.on("exit", (code, signal) => {
      if (signal === "SIGKILL" && !life.ended) return spawnAgain();
      // A worker that failed by itself leaves its remaining operations undone, which the deadline would report as
      // slow and the count of acknowledged operations reports as what it is.
      life.ended = code === 0;
      finish();
    });
  };
  spawnAgain();
  return life;
}

/** Spread over the whole run by what has been acknowledged, each at a moment of its own. */
async function killAtRandom(plan: HammerPlan, lives: readonly Life[]): Promise<number> {
  const total = plan.processes * plan.operations;
  let kills = 0;
  while (kills < plan.kills && lives.some((life) => !life.ended)) {
    const acknowledged = lives.reduce((sum, life) => sum + life.acknowledged, 0);
    if (acknowledged < (total * kills) / (plan.kills + 2)) await delay(5);
    else {
      await delay(Math.random() * 20);
      const victims = lives.filter((life) => !life.ended);
      if (victims[Math.floor(Math.random() * victims.length)]?.kill()) kills++;
    }
  }
  return kills;
}

function judge(plan: HammerPlan) {
  const { records, violations } = inspectStore(stateOf(plan.repository));
  const found = countMarks(records);
  const lost: string[] = [];
  const duplicated: string[] = [];
  const done = new Set(
    readDiaries(plan, "done").map((line) => planOf(line.worker, line.index, plan.shared).mark),
  );
  for (const mark of done) if (!found.has(mark)) lost.push(mark);
  for (const [mark, count] of found)
    if (count > 1 || !done.has(mark)) duplicated.push(`${mark} ${count} times`);
  return {
    operations: plan.processes * plan.operations,
    acknowledged: done.size,
    conflicts: readDiaries(plan, "conflict").length,
    lost,
    duplicated,
    store: violations,
  };
}

/** How often each operation's mark is in the store, wherever operations of its kind leave theirs. */
function countMarks(records: readonly FoundRecord[]): Map<string, number> {
  const found = new Map<string, number>();
  const count = (text: unknown) => {
    const mark = /^(?:- )?(w\d+-\d+)$/.exec(String(text))?.[1];
    if (mark) found.set(mark, (found.get(mark) ?? 0) + 1);
  };
  for (const { kind, value } of records) {
    count(value[{ decision: "what", finding: "text", handoff: "what" }[kind] ?? "title"]);
    if (kind !== "task") continue;
    for (const slice of value.slices as { title: string }[]) count(slice.title);
    for (const line of String(value.notes).split("\n")) count(line);
  }
  return found;
}

type Kind = DiaryLine["do"];

function readDiaries(plan: HammerPlan, wanted: Kind): (DiaryLine & { worker: number })[] {
  return Array.from({ length: plan.processes }, (_, worker) => worker).flatMap((worker) => {
    const path = diaryOf(plan, worker);
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    const parsed = lines.map((line) => ({ ...(JSON.parse(line) as DiaryLine), worker }));
    return parsed.filter((line) => line.do === wanted);
  });
}

const diaryOf = (plan: HammerPlan, worker: number) => join(plan.diaries, `${worker}.jsonl`);
