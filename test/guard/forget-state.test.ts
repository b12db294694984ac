// @module-tag proof
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test as plain } from "vitest";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { runHere } from "../helpers/perform-job.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

const INSTALL = ["install", "--profile", "hooks"];

/** Everything but git's objects: names, modes and bytes. */
function everything(dir: string): Record<string, string> {
  const entries = readdirSync(dir, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    entries
      .filter((path) => !/^\.git\/(?:objects|index$)/.test(path))
      .map((path) => {
        const stat = statSync(join(dir, path));
        return [path, `${stat.mode} ${stat.isFile() ? readFileSync(join(dir, path), "latin1") : ""}`];
      }),
  );
}

describe("install in a repository without a state, and uninstall", () => {
  test.for([
    ["no info folder", undefined],
    ["an exclude file", "*.log\n"],
    ["one whose last line has no end", "*.log"],
    ["an empty one", ""],
  ] as const)("leave nothing behind: %s", async ([, exclude], { project }) => {
    rmSync(join(project.path, ".git/info"), { recursive: true, force: true });
    if (exclude !== undefined) {
      mkdirSync(join(project.path, ".git/info"));
      writeFileSync(join(project.path, ".git/info/exclude"), exclude);
    }
    const before = everything(project.path);
    expect((await project.pawl(...INSTALL)).code).toBe(0);
    expect(existsSync(join(project.path, ".pawl/state/repos"))).toBe(true);
    expect((await project.pawl("doctor", "--fix")).code).toBe(0);
    const planned = await project.pawl("uninstall", "--dry-run", "--json");
    expect(planned.json.planned.map((one: { path: string }) => one.path)).toContain("the state");
    expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
    expect(everything(project.path)).toEqual(before);
    expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
    expect(everything(project.path)).toEqual(before);
  });

  test("keep what somebody else wrote into the exclude file meanwhile", async ({ project }) => {
    await project.pawl(...INSTALL);
    const exclude = join(project.path, ".git/info/exclude");
    writeFileSync(exclude, `${readFileSync(exclude, "utf8")}mine\n`);
    await project.pawl("uninstall", "--yes");
    expect(readFileSync(exclude, "utf8")).toMatch(/^(?!.*pawl)[\s\S]*mine\n$/);
  });

  const WRITTEN: Record<string, (project: Project) => Promise<unknown>> = {
    "a note": (project) => project.pawl("note", "add", "x"),
    "a task": (project) => project.pawl("task", "new", "x"),
    "a task whose folder was deleted by hand": async (project) => {
      await project.pawl("task", "new", "x");
      rmSync(join(project.path, ".pawl/state/tasks/T0001"), { recursive: true });
    },
    "a file of somebody's": async (project) =>
      writeFileSync(join(project.path, ".pawl/state/mine.txt"), "mine"),
    "a record that cannot be read": async (project) =>
      writeFileSync(join(project.path, ".pawl/state/repos/x.md"), "broken"),
    "a state that the remote has": async (project) => {
      project.git("update-ref", "refs/remotes/origin/pawl/state", "HEAD");
    },
  };
  test.for(Object.entries(WRITTEN))("keep a state with %s", async ([, write], { project }) => {
    await project.pawl(...INSTALL);
    await write(project);
    expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
    expect(existsSync(join(project.path, ".pawl/state/repos"))).toBe(true);
    expect(existsSync(join(project.path, ".git/pawl/state.git"))).toBe(true);
  });
});

describe("killed at every step, between the hooks and the records too", () => {
  let root: string;
  let worker: string;
  beforeAll(async () => {
    root = makeTemporaryFolder("forget crash");
    worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  });
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  let count = 0;
  const fresh = () => makeRepository(join(root, `r${++count}`));
  const job = (operation: string, input = {}) => ({ operation, input });
  const install = job("install", { profile: "hooks" });
  const uninstall = job("uninstall", { yes: true });
  const codesOf = async (repository: TemporaryRepository) => {
    const report = await runHere(repository, job("doctor"));
    const data = report.ok ? (report.data as unknown as Doctor) : undefined;
    return data?.doctor.diagnoses.filter((one) => one.level === "problem").map((one) => one.code);
  };
  interface Doctor {
    doctor: { diagnoses: { code: string; level: string }[] };
  }

  plain("install: the next one completes it, records and all", { timeout: 600_000 }, async () => {
    const steps = (await runJob(worker, fresh(), install))?.steps ?? [];
    expect(steps.some((one) => one.startsWith("guard "))).toBe(true);
    expect(steps.findLastIndex((one) => one.startsWith("guard "))).toBeLessThan(steps.length - 3);
    for (let at = 1; at <= steps.length; at++) {
      const repository = fresh();
      expect(await runJob(worker, repository, { ...install, killAtStep: at })).toBeUndefined();
      expect((await runHere(repository, install)).ok, steps[at - 1]).toBe(true);
      expect(await codesOf(repository), steps[at - 1]).toEqual([]);
      const record = readdirSync(join(repository.path, ".pawl/state/repos"));
      const text = readFileSync(join(repository.path, ".pawl/state/repos", record[0] ?? ""), "utf8");
      expect(text, steps[at - 1]).toMatch(/ref: refs\/heads\/main[\s\S]*guarded:\n {2}- /);
    }
  });

  plain("install: uninstall takes all of it back", { timeout: 600_000 }, async () => {
    const steps = (await runJob(worker, fresh(), install))?.steps ?? [];
    for (let at = 1; at <= steps.length; at++) {
      const repository = fresh();
      const before = everything(repository.path);
      expect(await runJob(worker, repository, { ...install, killAtStep: at })).toBeUndefined();
      expect((await runHere(repository, uninstall)).ok, steps[at - 1]).toBe(true);
      expect(everything(repository.path), steps[at - 1]).toEqual(before);
    }
  });

  plain("uninstall: the next one completes it", { timeout: 600_000 }, async () => {
    const prepare = async () => {
      const repository = fresh();
      const before = everything(repository.path);
      await runHere(repository, install);
      return { repository, before };
    };
    const steps = (await runJob(worker, (await prepare()).repository, uninstall))?.steps ?? [];
    expect(steps.filter((one) => one.startsWith("forget "))).toHaveLength(4);
    for (let at = 1; at <= steps.length; at++) {
      const { repository, before } = await prepare();
      expect(await runJob(worker, repository, { ...uninstall, killAtStep: at })).toBeUndefined();
      expect((await runHere(repository, uninstall)).ok, steps[at - 1]).toBe(true);
      expect(everything(repository.path), steps[at - 1]).toEqual(before);
    }
  });
});
