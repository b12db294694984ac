import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { writeTask } from "../../bench/helpers/fill-store.ts";
import { discover } from "../../src/git/discover.ts";
import { findHome } from "../../src/store/home.ts";
import { currentTasks, listTasks, liveTasks } from "../../src/store/task-list.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { stateOf } from "../helpers/temporary-repository.ts";

const MANY = 210;
const LATER = 61_000;

async function fill(project: Project, tasks: number) {
  await project.pawl("task", "new", "The first task");
  for (let number = 1; number <= tasks; number++) writeTask(stateOf(project), number);
  const place = discover(project.path);
  if (!place) throw new Error("the project is a repository");
  // The files are seen as settled: a cache leaves out what is younger than two seconds.
  let clock = Date.now() + 5_000;
  const home = () => findHome(place, project.path);
  return {
    cache: join(project.path, ".git", "pawl", "tasks.cache"),
    past: join(project.path, ".git", "pawl", "tasks-past.cache"),
    pass: (ms: number) => {
      clock += ms;
    },
    list: () => listTasks(home(), undefined, clock).tasks,
    problems: () => listTasks(home(), undefined, clock).problems.map((one) => one.file),
    status: (id: string) => listTasks(home(), undefined, clock).tasks.find((task) => task.id === id)?.status,
    current: () => currentTasks(home(), undefined, clock),
    live: () => liveTasks(home(), undefined, clock).map((task) => task.id),
  };
}

const taskFile = (project: Project, id: string) => join(stateOf(project), "tasks", id, "task.md");

function edit(project: Project, id: string, from: string, to: string) {
  const path = taskFile(project, id);
  const text = readFileSync(path, "utf8");
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

describe("with many tasks", () => {
  test("the cache changes nothing about the answer", async ({ project }) => {
    const tasks = await fill(project, MANY);
    const cold = tasks.list();
    expect(existsSync(tasks.cache)).toBe(true);
    expect(tasks.list()).toEqual(cold);
    expect(cold.map((task) => task.id)).toEqual([...cold.map((task) => task.id)].sort());
    const { tasks: current, past } = tasks.current();
    expect(current).toEqual(cold.filter((task) => task.status !== "done"));
    expect(past).toEqual({ done: cold.length - current.length });
  });

  test("our own writes are seen at once, also to tasks that were past", { tags: ["proof"] }, async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    await project.pawl("task", "update", "T2", "--status", "dropped");
    expect(tasks.status("T0002")).toBe("dropped");
    expect(tasks.current().past.dropped).toBe(1);
    await project.pawl("task", "update", "T2", "--status", "open");
    expect(tasks.current().tasks.map((task) => task.id)).toContain("T0002");
    const made = await project.pawl("task", "new", "Fresh", "--json");
    const { id } = made.json.data.task;
    expect(tasks.current().tasks.map((task) => task.id)).toContain(id);
    expect(tasks.list().map((task) => task.id)).toContain(id);
    tasks.pass(LATER);
    const before = tasks.list();
    tasks.pass(5_000);
    await project.pawl("task", "archive", "T3");
    // It is counted nowhere, though the cache has it among the past.
    const done = before.filter((task) => task.status === "done").length;
    expect(tasks.current().past).toEqual({ done: done - 1 });
    expect(
      tasks
        .list()
        .filter((task) => task.archived)
        .map((task) => task.id),
    ).toEqual(["T0003"]);
    await project.pawl("task", "archive", "T3", "--undo");
    expect(tasks.list().map((task) => [task.id, task.status])).toEqual(
      before.map((task) => [task.id, task.status]),
    );
  });

  test("an edit by hand of a task in play is seen at once", async ({ project }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    edit(project, "T0010", "status: open", "status: active");
    expect(tasks.status("T0010")).toBe("active");
    expect(tasks.current().tasks.find((task) => task.id === "T0010")?.status).toBe("active");
    edit(project, "T0018", "status: open", "status: dropped");
    expect(tasks.current().past.dropped).toBe(1);
  });

  test("an edit by hand of a past task is seen within a minute", async ({ project }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    edit(project, "T0003", "status: done", "status: active");
    tasks.pass(LATER);
    expect(tasks.current().tasks.map((task) => task.id)).toContain("T0003");
    expect(tasks.status("T0003")).toBe("active");
  });

  test("who works on what follows our own writes at once, and an edit by hand of a waiting task within a minute", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    expect(tasks.live()).toEqual(["T0001"]);
    edit(project, "T0010", "status: open", "status: active");
    await project.pawl("task", "update", "T18", "--status", "blocked", "--blocker", "the network");
    expect(tasks.live()).toEqual(["T0001", "T0018"]);
    tasks.pass(LATER);
    expect(tasks.live()).toEqual(["T0001", "T0010", "T0018"]);
    edit(project, "T0010", "status: active", "status: open");
    expect(tasks.live()).toEqual(["T0001", "T0018"]);
    writeFileSync(taskFile(project, "T0018"), "broken");
    expect(tasks.live()).toEqual(["T0001"]);
  });

  test("a task in play is parsed once after it changed", async ({ project }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    edit(project, "T0010", "status: open", "status: active");
    const before = readFileSync(tasks.past, "utf8");
    tasks.pass(10_000);
    expect(tasks.current().tasks.find((task) => task.id === "T0010")?.status).toBe("active");
    const [{ live }, waiting] = readFileSync(tasks.cache, "utf8")
      .split("\n")
      .map((one) => JSON.parse(one));
    const current = [...live, ...waiting];
    expect(current.find(([name]: string[]) => name === "T0010")).toContain("active");
    expect(readFileSync(tasks.past, "utf8")).toBe(before);
    expect(tasks.status("T0010")).toBe("active");
  });

  test("a file that may change once more within the same tick of the clock is parsed again", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    const before = readFileSync(tasks.cache, "utf8");
    tasks.pass(-5_000);
    edit(project, "T0010", "status: open", "status: active");
    expect(tasks.current().tasks.find((task) => task.id === "T0010")?.status).toBe("active");
    expect(readFileSync(tasks.cache, "utf8")).toBe(before);
  });

  test("a task that somebody brings or takes by hand is seen within a minute", async ({ project }) => {
    const tasks = await fill(project, MANY);
    const before = tasks.list().length;
    writeTask(stateOf(project), MANY + 5);
    rmSync(join(stateOf(project), "tasks", "T0003"), { recursive: true });
    rmSync(join(stateOf(project), "tasks", "T0004"), { recursive: true });
    tasks.pass(LATER);
    const ids = tasks.list().map((task) => task.id);
    expect(ids).toHaveLength(before - 1);
    expect(ids).toContain(`T0${MANY + 5}`);
    expect(ids).not.toContain("T0003");
  });

  test("a title in any script comes out of the cache as it went in", async ({ project }) => {
    const tasks = await fill(project, MANY);
    const title = "Größe, 大きさ, 📏 and \\u0041";
    edit(
      project,
      "T0003",
      /^title: .*$/m.exec(readFileSync(taskFile(project, "T0003"), "utf8"))?.[0] ?? "",
      `title: ${JSON.stringify(title)}`,
    );
    tasks.list();
    expect(JSON.parse(readFileSync(tasks.past, "utf8")).rows.length).toBeGreaterThan(0);
    expect(tasks.list().find((task) => task.id === "T0003")?.title).toBe(title);
  });

  test("a task that cannot be read is told of by every command, not by the first alone", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    // One that is past and one in play, both before there is a cache.
    for (const id of ["T0003", "T0010"]) writeFileSync(taskFile(project, id), "---\n");
    const broken = ["tasks/T0003/task.md", "tasks/T0010/task.md"];
    for (let look = 0; look < 3; look++) {
      expect(tasks.problems()).toEqual(broken);
      expect(
        tasks
          .current()
          .problems.map((one) => one.file)
          .sort(),
      ).toEqual(broken);
    }
    // One that comes later, and is found by the complete look that follows.
    writeTask(stateOf(project), MANY + 1);
    const late = `T0${MANY + 1}`;
    writeFileSync(taskFile(project, late), "---\n");
    tasks.pass(LATER);
    for (let look = 0; look < 3; look++)
      expect(tasks.problems()).toEqual([...broken, `tasks/${late}/task.md`]);
    for (const number of [3, 10, MANY + 1]) writeTask(stateOf(project), number);
    tasks.pass(5_000);
    expect(tasks.problems()).toEqual([]);
    expect(tasks.list()).toHaveLength(MANY + 1);
    expect(tasks.current().problems).toEqual([]);
  });

  test("a cache that is missing, damaged or half replaced is no loss", { tags: ["proof"] }, async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    const cold = tasks.list();
    const current = tasks.current();
    const damages = [
      () => rmSync(tasks.cache),
      () => rmSync(tasks.past),
      () => writeFileSync(tasks.cache, "{"),
      () => writeFileSync(tasks.cache, readFileSync(tasks.cache).subarray(0, -200)),
      () => writeFileSync(tasks.cache, readFileSync(tasks.cache, "utf8").replace(/\n.*/s, "\n")),
      () => writeFileSync(tasks.past, ""),
      () => writeFileSync(tasks.past, '{"twin'),
      () => writeFileSync(tasks.past, '{"twin":"of another","rows":[]}'),
      () => writeFileSync(tasks.cache, JSON.stringify({ schema: 0, rows: [] })),
    ];
    for (const damage of damages) {
      damage();
      expect(tasks.current()).toEqual(current);
      expect(tasks.list()).toEqual(cold);
    }
    for (const damage of damages) {
      tasks.list();
      damage();
      expect(tasks.live()).toEqual(cold.filter((one) => one.status === "active").map((one) => one.id));
    }
  });

  test("past tasks of an older cache, as two writers at once may leave them, are not believed", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    const older = readFileSync(tasks.past);
    edit(project, "T0003", "status: done", "status: dropped");
    tasks.pass(LATER);
    expect(tasks.status("T0003")).toBe("dropped");
    expect(readFileSync(tasks.past).equals(older)).toBe(false);
    writeFileSync(tasks.past, older);
    expect(tasks.status("T0003")).toBe("dropped");
  });

  test("an event log that became shorter, as in a state from a backup, has every task looked at", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    edit(project, "T0003", "status: done", "status: dropped");
    expect(tasks.status("T0003"), "within a minute").toBe("done");
    for (const name of readdirSync(join(stateOf(project), "events"), { recursive: true, encoding: "utf8" }))
      if (name.endsWith(".jsonl")) truncateSync(join(stateOf(project), "events", name), 1);
    expect(tasks.status("T0003")).toBe("dropped");
  });

  test("rows of waiting tasks that were cut off are not written down as none by whoever looks at live ones", async ({
    project,
  }) => {
    const tasks = await fill(project, MANY);
    tasks.list();
    const waiting = tasks.current().tasks.length;
    writeFileSync(tasks.cache, readFileSync(tasks.cache, "utf8").replace(/(?<=\n).*/s, "\0\0"));
    edit(project, "T0001", "status: active", "status: blocked\nblocker: the network");
    tasks.pass(10_000);
    expect(tasks.live()).toEqual(["T0001"]);
    expect(tasks.current().tasks).toHaveLength(waiting);
  });
});

test("with few tasks every edit by hand is seen at once", async ({ project }) => {
  const tasks = await fill(project, 40);
  tasks.list();
  edit(project, "T0003", "status: done", "status: active");
  expect(tasks.status("T0003")).toBe("active");
  expect(tasks.current().tasks.map((task) => task.id)).toContain("T0003");
});
