// @module-tag proof
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { IS_LONG } from "../helpers/long-runs.ts";
import { ok, typing } from "../helpers/ready-task.ts";
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

  test("takes nothing for committed whose objects went with it", async ({ project }) => {
    for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
    // Git reads a file again that is not a second older than its index.
    await new Promise((done) => setTimeout(done, 1_100));
    await ok(project.pawl("task", "update", "T1", "--title", "First"));
    const blob = askStateGit(project, "rev-parse", "pawl/state:tasks/T0002/task.md");
    rmSync(join(stateGitDirOf(project), "objects", blob.slice(0, 2), blob.slice(2)));
    writeFileSync(tipFile(project), "");
    await ok(project.pawl("task", "new", "Three"));
    expect(await problems(project)).not.toContain("state_damaged");
    expect(askStateGit(project, "show", "pawl/state:tasks/T0002/task.md")).toContain("title: Two");
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

test("a change that finds no room for any of its records is refused, and not made later", async ({
  project,
}) => {
  await ok(project.pawl("task", "new", "One"));
  const notes = join(stateOf(project), "notes");
  writeFileSync(notes, "somebody's file\n");
  expect((await project.pawl("note", "add", "First")).code).toBe(2);
  rmSync(notes);
  await ok(project.pawl("note", "add", "Second"));
  const { json } = await project.pawl("note", "list", "--json");
  expect(json.data.notes.map((one: { title: string }) => one.title)).toEqual(["Second"]);
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

describe("a branch of the records that somebody took back with git", () => {
  const takeBack = (project: Project) => askStateGit(project, "reset", "-q", "--hard", "HEAD~1");
  const titles = async (project: Project) =>
    (await project.pawl("task", "list", "--json")).json.data.tasks.map((one: { title: string }) => one.title);

  test("is told by doctor, check and audit, and comes back beside what was written since", async ({
    project,
  }) => {
    for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
    takeBack(project);
    expect(await titles(project)).toEqual(["One"]);
    // The same id once more, and a commit on top: what was lost is still known.
    await ok(project.pawl("task", "new", "Instead"));
    expect(await problems(project)).toEqual(["records_taken_back"]);
    const { json } = await project.pawl("check", "T1", "--stage", "plan", "--json");
    expect(json.data.check.reasons[0]).toMatchObject({ code: "records_taken_back" });
    const audit = await project.pawl("audit", "--json");
    expect(audit.json.data.audit.findings).toMatchObject([{ code: "records_taken_back" }]);
    expect((await project.pawl("doctor", "--fix")).out).toContain(
      "The records that were taken back are here again",
    );
    expect((await titles(project)).sort()).toEqual(["Instead", "One", "Two"]);
    expect(await problems(project)).toEqual([]);
    expect((await project.pawl("check", "T1", "--stage", "plan")).code).toBe(0);
  });

  test("is told as well if the note of the newest one went with it, before the next write and after it", async ({
    project,
  }) => {
    for (const title of ["One", "Two"]) await ok(project.pawl("task", "new", title));
    takeBack(project);
    askStateGit(project, "update-ref", "-d", "refs/pawl/newest");
    expect(await problems(project)).toEqual(["records_taken_back"]);
    await ok(project.pawl("task", "new", "Instead"));
    expect(await problems(project)).toEqual(["records_taken_back"]);
    expect((await project.pawl("audit", "--json")).json.data.audit.findings).toMatchObject([
      { code: "records_taken_back" },
    ]);
    await ok(project.pawl("doctor", "--fix"));
    expect((await titles(project)).sort()).toEqual(["Instead", "One", "Two"]);
    expect(await problems(project)).toEqual([]);
  });

  test("and written differently since is settled by a human, also where there is no remote", async ({
    project,
  }) => {
    await ok(project.pawl("task", "new", "One"));
    await ok(project.pawl("task", "update", "T1", "--title", "As it was"));
    takeBack(project);
    await ok(project.pawl("task", "update", "T1", "--title", "As it is"));
    const { code, json } = await project.pawl("doctor", "--fix", "--json");
    expect([code, json.error.code]).toEqual([5, "sync_conflict"]);
    // What the hint shows is there, and what it says to do settles it.
    const [shown] = /git -C .*task\.md'?/.exec(json.error.hint) ?? [];
    expect(execFileSync("sh", ["-c", shown ?? ""], { cwd: project.path, encoding: "utf8" })).toContain(
      "title: As it was",
    );
    expect(json.error.hint).toContain("pawl sync --theirs T0001");
    const asked: string[] = [];
    const typed = (question: string) => {
      asked.push(question);
      return "T0001";
    };
    const ground = { root: "", env: project.env, repos: [project] };
    const settled = await typing(ground, { typed }, "sync", "--theirs", "T0001");
    expect(settled.json.data.sync).toMatchObject({ settled: ["T0001"], sent: false });
    expect(asked).toEqual(["Type T0001 to settle it like this: "]);
    expect(await titles(project)).toEqual(["As it was"]);
    expect(await problems(project)).toEqual([]);
    expect((await project.pawl("sync", "--json")).json.error.code).toBe("no_remote");
  });

  twoClones("comes back with a sync, and no sync of two clones looks like it", async ({ clones }) => {
    const { ada, ben } = clones;
    // Each begins a history of its own, then both write at once.
    for (const project of [ada, ben]) await ok(project.pawl("task", "new", `By ${project.path.slice(-3)}`));
    for (const project of [ada, ben, ada]) await ok(project.pawl("sync", "--yes"));
    for (const project of [ada, ben]) await ok(project.pawl("task", "update", "T1", "--title", "Renamed"));
    for (const project of [ada, ben, ada]) await ok(project.pawl("sync", "--yes"));
    for (const project of [ada, ben]) {
      expect(await problems(project)).toEqual([]);
      askStateGit(project, "update-ref", "-d", "refs/pawl/newest");
      expect(await problems(project), "without the note").toEqual([]);
      await ok(project.pawl("note", "add", "It is noted again"));
    }
    await ok(ben.pawl("task", "new", "Mine"));
    takeBack(ben);
    expect(await problems(ben)).toEqual(["records_taken_back"]);
    await ok(ben.pawl("sync", "--yes"));
    expect(await titles(ben)).toContain("Mine");
    expect(await problems(ben)).toEqual([]);
  });
});

/** How many write in each of the two clones, and how many records each of them. */
const [WRITERS, RECORDS] = IS_LONG ? [4, 200] : [2, 6];

twoClones(
  "two clones write to one task while git gc runs in their states: nothing is lost or doubled, and sync ends",
  { tags: ["again"], timeout: IS_LONG ? 3_600_000 : 240_000 },
  async ({ clones }) => {
    const { ada, ben } = clones;
    await ok(ada.pawl("task", "new", "Shared"));
    await ok(ada.pawl("sync", "--yes"));
    await ok(ben.pawl("sync", "--yes"));
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
          if (nth % 3 === 2) await project.pawl("sync", "--yes");
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
    for (const project of [ada, ben, ada]) await ok(project.pawl("sync", "--yes"));
    const written = (project: Project) => {
      const folder = "tasks/T0001/decisions";
      return readdirSync(join(stateOf(project), folder)).map(
        (name) => /clone \d writer \d record \d+/.exec(project.read(`${folder}/${name}`))?.[0] ?? name,
      );
    };
    for (const project of [ada, ben]) {
      expect(written(project)).toHaveLength(2 * WRITERS * RECORDS);
      expect(new Set(written(project)).size).toBe(2 * WRITERS * RECORDS);
      expect((await project.pawl("sync", "--yes")).out).toMatch(/^Nothing to do/);
      expect(await problems(project)).toEqual([]);
    }
  },
);
