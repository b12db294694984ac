// @module-tag proof
// @module-tag again
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import type { Project } from "../helpers/command-line.ts";
import { IS_LONG } from "../helpers/long-runs.ts";
import type { Report } from "../helpers/operation-worker.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { type Clones, makeClones } from "../helpers/two-clones.ts";
import { runJob } from "../helpers/worker-process.ts";

/**
 * Claims when everybody wants the same task at the same moment, and when the one who takes or ends it is killed with -9.
 * `npm run long -- claim` races for 25 tasks with 8 clones, and kills at every single step.
 */
const [TASKS, CLONES] = IS_LONG ? [25, 8] : [2, 3];
/** Each kill has a task of its own. */
const KILLS = IS_LONG ? 200 : 6;

let root: string;
let worker: string;
let clones: Clones;
let all: Project[];
let used = TASKS;

beforeAll(async () => {
  root = makeTemporaryFolder("claims");
  worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  clones = makeClones(root);
  await ok(clones.ada.pawl("install", "--profile", "hooks", "--yes"));
  const others = Array.from({ length: CLONES - 2 }, (_, nth) => clones.clone(`clone ${nth + 3}`));
  all = [clones.ada, clones.ben, ...others];
  for (let nth = 1; nth <= TASKS + KILLS; nth++)
    await ok(clones.ada.pawl("task", "new", `The task ${taskOf(nth)}`));
  for (const one of all) await ok(one.pawl("sync", "--yes"));
}, 300_000);
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const taskOf = (nth: number) => `T${String(nth).padStart(4, "0")}`;
const startIt = (task: string) => ({ operation: "start", input: { task } });
const claimed = () =>
  clones
    .remoteGit("for-each-ref", "--format=%(refname:lstrip=3)", "refs/pawl/claims")
    .split("\n")
    .filter(Boolean);

/** The worktrees of a run that nobody has ended are in this clone. */
function isWorkedOn({ path }: Project, task: string): boolean {
  const folder = join(path, ".pawl/state/tasks", task, "runs");
  const texts = existsSync(folder)
    ? readdirSync(folder).map((name) => readFileSync(join(folder, name, "run.md"), "utf8"))
    : [];
  return texts.some((text) => !/^ended: /m.test(text));
}

test(
  `${TASKS} tasks × ${CLONES} clones: exactly one takes each, and the others are told who`,
  async () => {
    const winners: number[] = [];
    for (let nth = 1; nth <= TASKS; nth++) {
      const task = taskOf(nth);
      const said = (await Promise.all(all.map((one) => runJob(worker, one, startIt(task))))) as Report[];
      const lost = said.flatMap((one) => (one.ok ? [] : [one.code]));
      expect(lost, task).toEqual(Array.from({ length: CLONES - 1 }, () => "task_claimed"));
      const holders = all.flatMap((one, index) => (isWorkedOn(one, task) ? [index] : []));
      expect(holders, task).toEqual([said.findIndex((one) => one.ok)]);
      winners.push(holders[0] ?? -1);
    }
    expect(claimed().length).toBe(TASKS);
    if (IS_LONG) console.table({ tasks: TASKS, clones: CLONES, "winners by clone": winners.join(" ") });
  },
  IS_LONG ? 900_000 : 120_000,
);

describe("kill -9", () => {
  /** Kills a command between push and record, or at each of its steps, each time about a task of its own, and lets the next command settle it. */
  async function atEveryStep(
    job: (task: string) => { operation: string; input: unknown },
    between: string,
    prepare: (task: string) => Promise<unknown>,
  ): Promise<void> {
    const { ada, ben } = clones;
    const whole = async () => {
      const task = taskOf(++used);
      await prepare(task);
      const report = (await runJob(worker, ada, job(task))) as Report;
      expect(report).toMatchObject({ ok: true });
      return report;
    };
    // The first one in a clone has more to do than those that follow.
    await whole();
    const report = await whole();
    expect(report.steps).toContain(between);
    const moments = report.steps.flatMap((name, nth) => (IS_LONG || name === between ? [nth + 1] : []));
    for (const moment of moments) {
      const task = taskOf(++used);
      const what = `killed at step ${moment}, ${report.steps[moment - 1]}`;
      await prepare(task);
      expect(await runJob(worker, ada, { ...job(task), killAtStep: moment }), what).toBeUndefined();
      // Any command that writes.
      await ok(ada.pawl("note", "add", what));
      const isHere = isWorkedOn(ada, task);
      expect(claimed().includes(task), `${what}: claimed, and worked on`).toBe(isHere);
      expect(readdirSync(join(ada.path, ".git/pawl/claims/marked")), what).toEqual([]);
      const taken = await ben.pawl("start", task, "--json");
      expect(taken.json.ok ? "taken" : taken.json.error.code, what).toBe(isHere ? "task_claimed" : "taken");
      if (isHere) await ok(ada.pawl("start", task));
    }
  }

  test(
    "between push and record of a start: no claim without work, no work without a claim",
    async () => {
      await atEveryStep(startIt, "claim remember", async () => {});
    },
    IS_LONG ? 900_000 : 120_000,
  );

  test(
    "between record and push of an end: the task is free when its run has ended, and not before",
    async () => {
      const end = (task: string) => ({ operation: "finish", input: { task, remove: true, reason: "later" } });
      const begin = (task: string) => ok(clones.ada.pawl("start", task));
      await atEveryStep(end, "claim push", begin);
    },
    IS_LONG ? 900_000 : 120_000,
  );
});
