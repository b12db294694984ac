import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { owners } from "../../src/agents/attempt/folder.ts";
import { isSupervised } from "../../src/agents/attempt/state.ts";
import { type BuiltProgram, buildProgram } from "./built-program.ts";
import { bundleProgram } from "./bundle-program.ts";
import { git } from "./crash-workspace.ts";
import { each, type Moment, momentsOf, testKills } from "./kills.ts";
import type { Job, Report } from "./operation-worker.ts";
import { makeRepository, makeTemporaryFolder, type TemporaryRepository } from "./temporary-repository.ts";
import { runJob } from "./worker-process.ts";

export type RunJob = Omit<Job, "cwd">;
/** What a job said; undefined where it was killed. */
export type Doing = (project: TemporaryRepository, job: RunJob) => Promise<Report | undefined>;

/** A project with agents of its own, copied for each kill. */
export interface CrashedRuns {
  worker: string;
  /** The environment of every copy. */
  env: TemporaryRepository["env"];
  act: Doing;
  /**
   * A project of its own. `alone`: what supervisors start at their end does nothing, so that the command under test is the
   * one that writes the end down.
   */
  copy(alone: boolean): TemporaryRepository;
  remove(): void;
}

export async function prepareRuns(
  name: string,
  files: Readonly<Record<string, string>>,
  jobs: readonly RunJob[],
): Promise<CrashedRuns> {
  const root = makeTemporaryFolder(name);
  const built: BuiltProgram = buildProgram();
  const worker = await bundleProgram(join(import.meta.dirname, "operation-worker.ts"), root, "worker");
  const prepared = makeRepository(join(root, "prepared"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(prepared.path, path)), { recursive: true });
    writeFileSync(join(prepared.path, path), text);
  }
  git(prepared, "add", "-A");
  git(prepared, "commit", "-q", "-m", "Agents");
  const act: Doing = (project, job) => runJob(worker, project, job);
  for (const job of jobs) expect(await act(prepared, job)).toMatchObject({ ok: true });
  let copies = 0;
  return {
    worker,
    env: prepared.env,
    act,
    copy(alone) {
      const folder = join(root, `copy ${++copies}`);
      const from = join(root, "prepared");
      cpSync(from, folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      const path = folder + prepared.path.slice(from.length);
      giveRuntime(path, built, alone);
      return { path, env: prepared.env };
    },
    remove() {
      built.remove();
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** What starts and supervises agents in a clone in which nobody has run install. */
export function giveRuntime(path: string, built: BuiltProgram, alone = false): void {
  const runtime = join(path, ".git/pawl/runtime");
  mkdirSync(runtime, { recursive: true });
  cpSync(join(built.folder, "supervise.cjs"), join(runtime, "supervise.cjs"));
  // The clone's copy, whose one package is found from where the build lies.
  const program = alone ? "" : `require(${JSON.stringify(built.pawl)});\n`;
  writeFileSync(join(runtime, "pawl.cjs"), program);
}

export const runsIn = ({ path }: TemporaryRepository) => join(path, ".git/pawl/runs");

/** Every attempt that has a folder, of any run. */
export function attemptsIn(project: TemporaryRepository): string[] {
  const folder = runsIn(project);
  const runs = existsSync(folder) ? readdirSync(folder).filter((name) => /^T\d+\.R\d+$/.test(name)) : [];
  return runs.flatMap((run) =>
    readdirSync(join(folder, run)).flatMap((name) => (/^a\d+$/.test(name) ? [join(folder, run, name)] : [])),
  );
}

export async function waitFor(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !isSo(); await sleep(25))
    if (Date.now() > end) throw new Error(`Not within a minute: ${what}`);
}

export async function expectDone(
  act: Doing,
  project: TemporaryRepository,
  job: RunJob,
  what: string,
): Promise<Report> {
  const report = await act(project, job);
  expect(report?.ok, `${what}: ${report && "message" in report ? report.message : "it was killed"}`).toBe(
    true,
  );
  return report as Report;
}

/** Not before its supervisors are gone, who would write about it; what nobody has written down, nobody waits for. */
async function removeProject(project: TemporaryRepository): Promise<void> {
  rmSync(join(runsIn(project), "open"), { recursive: true, force: true });
  for (const path of attemptsIn(project))
    await waitFor("the supervisor is gone", () => !owners(path).some((one) => isSupervised(path, one)));
  rmSync(project.path, { recursive: true, force: true, maxRetries: 3 });
}

/** Of each change of the store only the end, because its own steps are all tried elsewhere. */
const isUsual = ({ name }: Moment) => /^(?:attempt|supervisor|run|stop|index|snapshot)\b|^done$/.test(name);

/** A job, what it finds, and what has to be true after it was killed. */
export interface Killed {
  job: RunJob;
  prepare(): Promise<TemporaryRepository>;
  /** Looks at what is left, goes on, and leaves nobody at work. */
  next(project: TemporaryRepository, what: string): Promise<void>;
  /** Who does the job, unless it is a person. */
  act: Doing;
  /** The steps before the last one of this name are tried elsewhere. */
  from?: string;
  /** As in `testKills`. */
  decided?: string;
}

/** Kills `job` at its steps, each time in a project of its own, and lets `next` look at what is left. */
export function testRunKills(what: string, { job, prepare, next, act, from, decided }: Killed): void {
  testKills(what, {
    ...(decided === undefined ? {} : { decided }),
    hasMore: true,
    async kill(choose) {
      const whole = await prepare();
      const { steps } = await expectDone(act, whole, job, "not killed at all");
      await next(whole, "not killed at all");
      await removeProject(whole);
      const first = from === undefined ? 0 : steps.findLastIndex((name) => name.startsWith(from));
      const moments = momentsOf(steps).filter(({ n }) => n > first);
      await each(choose(moments, isUsual), async ({ n, name }) => {
        const when = `killed at step ${n}, ${name}`;
        const project = await prepare();
        const report = await act(project, { ...job, killAtStep: n });
        // Others write at the same time, and may have left it less to do.
        if (report !== undefined) expect(report, when).toMatchObject({ ok: true });
        await next(project, when);
        await removeProject(project);
      });
    },
  });
}
