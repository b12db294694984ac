/** One of many processes that work on the same store; killed at any moment, it is started again and goes on. */
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import { Failure } from "../../src/model/failure.ts";
import { parseInput } from "../../src/model/input.ts";
import { operations } from "../../src/ops/index.ts";
import { openRuntime, type Runtime } from "../../src/runtime/open.ts";
import { run } from "../../src/runtime/run.ts";
import { type Planned, planOf } from "./hammer-plan.ts";

export interface HammerJob {
  cwd: string;
  worker: number;
  operations: number;
  shared: string[];
  /** What this worker tried and what was acknowledged, one JSON per line; its only memory after a kill. */
  diary: string;
  /** Every how many lifecycle operations the state is really committed. */
  commitEvery: number;
}

export type DiaryLine =
  | { do: "try"; index: number; attempt: number; input: Record<string, unknown> }
  | { do: "done"; index: number }
  | { do: "conflict" | "busy"; index: number; code: string };

const job = JSON.parse(process.argv[2] ?? "") as HammerJob;
const write = (line: DiaryLine) => appendFileSync(job.diary, `${JSON.stringify(line)}\n`);
let milestones = job.worker;

function open(): Runtime {
  const actor = `agent:hammer:${job.worker}`;
  const runtime = openRuntime({
    cwd: job.cwd,
    env: process.env,
    actor,
    operations: [],
    oneShot: true,
    progress: () => {},
  });
  const commit = runtime.commitState;
  runtime.commitState = async (message) => {
    return ++milestones % job.commitEvery === 0 ? commit(message) : [];
  };
  return runtime;
}

/** What to do now; an update that names its rev has to read first, and every new reading is a new call. */
function inputOf(planned: Planned): Record<string, unknown> {
  if (planned.appendTo === undefined) return planned.input;
  const { rev, notes } = open().reader().task(planned.appendTo).value;
  return { ...planned.input, notes: `${notes}\n- ${planned.mark}`.trim(), rev };
}

async function perform(
  index: number,
  interrupted: { attempt: number; input: Record<string, unknown> } | undefined,
) {
  const planned = planOf(job.worker, index, job.shared);
  const operation = await operations[planned.operation]?.();
  if (!operation) throw new Error(`There is no operation ${planned.operation}`);
  let { attempt, input } = interrupted ?? { attempt: 0, input: undefined };
  for (;;) {
    if (input === undefined) {
      input = inputOf(planned);
      write({ do: "try", index, attempt, input });
    }
    try {
      await run(operation, parseInput(operation.input, input), open(), { key: `${planned.mark}-${attempt}` });
      write({ do: "done", index });
      return;
    } catch (error) {
      // A disk that stands still for seconds makes a wait end in vain; that is told, and tried again.
      const isWait =
        error instanceof Failure && ["lock_busy", "record_busy", "state_unavailable"].includes(error.code);
      if (!(error instanceof Failure) || !(isWait || error.code === "stale_rev")) throw error;
      const lostTheRace = error.code === "stale_rev";
      write({ do: lostTheRace ? "conflict" : "busy", index, code: error.code });
      if (lostTheRace) {
        input = undefined;
        attempt++;
      }
    }
  }
}

async function work(): Promise<void> {
  const text = existsSync(job.diary) ? readFileSync(job.diary, "utf8") : "";
  const lines = text.split("\n").filter(Boolean);
  const diary = lines.map((line) => JSON.parse(line) as DiaryLine);
  const done = diary.filter((line) => line.do === "done").length;
  const last = diary.findLast((line) => line.do === "try");
  for (let index = done; index < job.operations; index++) {
    await perform(index, last?.index === index ? last : undefined);
    writeSync(1, ".");
  }
}

work();
