import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { printRecord } from "../../src/model/record.ts";
import { BY_HAND, type Run, run } from "../../src/model/records/run.ts";
import type { Project } from "./command-line.ts";
import { stateOf } from "./temporary-repository.ts";

export interface HandMadeRun {
  /** Top of the worktree that the run works in. */
  worktree: string;
  base: string;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
}

/** A task with a run in a worktree of its own, made with git and a text editor, so to speak. */
export async function makeRun(
  project: Project,
  changes: Partial<Run> = {},
  /** What is there before the run begins. */
  prepare: (work: HandMadeRun) => void = () => {},
): Promise<HandMadeRun> {
  await project.pawl("task", "new", "Make it faster");
  const path = ".worktrees/T0001-make-it-faster";
  project.git("worktree", "add", "-q", "-b", "task/T0001", path);
  const work = workIn(project, join(project.path, path));
  prepare(work);
  const base = work.git("rev-parse", "HEAD");
  const time = "2026-11-16T09:30:00.000Z";
  writeRun(project, {
    id: "T0001/R1",
    status: "running",
    ended: undefined,
    reason: undefined,
    ...BY_HAND,
    command: [],
    pid: undefined,
    exit_code: undefined,
    log: undefined,
    clone: "0badc0de",
    holder: "human:Ada",
    repos: [
      {
        name: "my project",
        worktree: path,
        branch: "task/T0001",
        base_branch: "main",
        base_was: undefined,
        base_since: undefined,
        base_head: base,
        head: undefined,
        dirty: false,
        adopted: false,
      },
    ],
    snapshots: [],
    refreshed: [],
    landed: [],
    restored: undefined,
    ...{ rev: 1, actor: "human:Ada", created: time, updated: time },
    ...{ repo: "my project", branch: "main", commit: base, notes: "" },
    ...changes,
  });
  return { ...work, base };
}

function workIn(project: Project, worktree: string): HandMadeRun {
  return {
    worktree,
    base: "",
    git: (...args) =>
      execFileSync("git", args, { cwd: worktree, env: project.env, encoding: "utf8", stdio: "pipe" }).trim(),
    write(file, content) {
      mkdirSync(dirname(join(worktree, file)), { recursive: true });
      writeFileSync(join(worktree, file), content);
    },
  };
}

function writeRun(project: Project, value: Run): void {
  const file = join(stateOf(project), "tasks/T0001", `runs/${value.id.split("/")[1]}/run.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, printRecord(run, value));
}
