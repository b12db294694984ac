import { execFileSync, spawn } from "node:child_process";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";
import { askStateGit, stateGitDirOf, stateOf } from "../helpers/temporary-repository.ts";
import { test as twoClones } from "../helpers/two-clones.ts";

const tipFile = (project: Project) => join(stateGitDirOf(project), "refs/heads/pawl/state");
const problems = async (project: Project) => {
  const { json } = await project.pawl("doctor", "--json");
  return json.data.doctor.diagnoses.flatMap((one: { level: string; code: string }) =>
    one.level === "problem" ? [one.code] : [],
  );
};

describe("a tip that a power cut emptied (H7)", () => {
  test("is told by doctor, and comes back with the next write", async ({ project }) => {
    for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
    const before = askStateGit(project, "rev-parse", "pawl/state");
    writeFileSync(tipFile(project), "");
    expect(await problems(project)).toContain("state_damaged");
    const { err } = await ok(project.pawl("task", "new", "Three"));
    expect(err).not.toMatch(/busy/);
    expect(askStateGit(project, "rev-list", "pawl/state").split("\n")).toContain(before);
    expect(await problems(project)).not.toContain("state_damaged");
  });

  test("does not make a deleted folder a new, empty memory", async ({ project }) => {
    for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
    writeFileSync(tipFile(project), `${"1".repeat(40)}\n`);
    rmSync(stateOf(project), { recursive: true });
    const { out, err } = await project.pawl("task", "list");
    expect(`${out}${err}`).toMatch(/One[\s\S]*Two/);
  });
});

test("a damaged object is told by doctor, and --fix commits the records again", async ({ project }) => {
  for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
  const tree = askStateGit(project, "rev-parse", "pawl/state^{tree}");
  const object = join(stateGitDirOf(project), "objects", tree.slice(0, 2), tree.slice(2));
  rmSync(object);
  expect(await problems(project)).toContain("state_damaged");
  await project.pawl("doctor", "--fix");
  expect(await problems(project)).toEqual([]);
  expect(askStateGit(project, "ls-tree", "-r", "--name-only", "pawl/state")).toContain("tasks/T0002/task.md");
});

test("a deleted record is told by the next write", async ({ project }) => {
  for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
  rmSync(join(stateOf(project), "tasks/T0001"), { recursive: true });
  const { err } = await ok(project.pawl("task", "new", "Three"));
  expect(err).toMatch(/Records were deleted .*tasks\/T0001\/task\.md.*pawl doctor --fix/);
});

test("neither gc nor prune takes anything that a commit is about to need", async ({ project }) => {
  await ok(project.pawl("task", "new", "One"));
  const lone = execFileSync("git", ["hash-object", "-w", "--stdin"], {
    cwd: stateOf(project),
    env: project.env,
    input: "written, and not named by any commit yet",
    encoding: "utf8",
  }).trim();
  const git = (...args: string[]) => {
    try {
      execFileSync("git", args, { cwd: stateOf(project), env: project.env, stdio: "pipe" });
    } catch {
      // It may refuse; it must not delete.
    }
  };
  git("gc", "--prune=now");
  git("prune", "--expire=now");
  expect(statSync(join(stateGitDirOf(project), "objects", lone.slice(0, 2), lone.slice(2))).isFile()).toBe(
    true,
  );
});

/** PAWL_SOAK=200 makes it the whole thing: 4 writers with 200 records each, in each of two clones. */
const [WRITERS, RECORDS] = process.env.PAWL_SOAK ? [4, Number(process.env.PAWL_SOAK)] : [2, 6];

twoClones(
  "two clones write to one task while git gc runs in their states: nothing is lost or doubled, and sync ends",
  { timeout: process.env.PAWL_SOAK ? 3_600_000 : 240_000 },
  async ({ clones }) => {
    const { ada, ben } = clones;
    await ok(ada.pawl("task", "new", "Shared"));
    await ok(ada.pawl("sync"));
    await ok(ben.pawl("sync"));
    const collectors = [ada, ben].map((project) =>
      spawn("sh", ["-c", "while :; do git gc -q --prune=now; sleep 0.2; done"], {
        cwd: stateOf(project),
        env: project.env,
        stdio: "ignore",
        detached: true,
      }),
    );
    try {
      const write = async (project: Project, name: string) => {
        for (let nth = 0; nth < RECORDS; nth++) {
          await ok(project.pawl("decide", `${name} ${nth}`, "--why", "so", "--task", "T1"));
          if (nth % 3 === 2) await project.pawl("sync");
        }
      };
      await Promise.all(
        [ada, ben].flatMap((project, clone) =>
          Array.from({ length: WRITERS }, (_, writer) =>
            write(project, `clone ${clone} writer ${writer} record`),
          ),
        ),
      );
    } finally {
      for (const one of collectors) if (one.pid !== undefined) process.kill(-one.pid, "SIGKILL");
      await Promise.all(
        collectors.map((one) => one.exitCode ?? one.signalCode ?? new Promise((end) => one.on("exit", end))),
      );
    }
    for (const project of [ada, ben, ada]) await ok(project.pawl("sync"));
    const written = (project: Project) => {
      const folder = "tasks/T0001/decisions";
      return readdirSync(join(stateOf(project), folder)).map(
        (name) => /clone \d writer \d record \d+/.exec(project.read(`${folder}/${name}`))?.[0] ?? name,
      );
    };
    for (const project of [ada, ben]) {
      expect(written(project)).toHaveLength(2 * WRITERS * RECORDS);
      expect(new Set(written(project)).size).toBe(2 * WRITERS * RECORDS);
      expect((await project.pawl("sync")).out).toMatch(/^Nothing to do/);
    }
  },
);
