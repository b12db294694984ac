import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { makeRun } from "../helpers/hand-made-run.ts";

async function newTasks(project: Project, count: number): Promise<void> {
  for (let nth = 1; nth <= count; nth++) await project.pawl("task", "new", `Task ${nth}`);
}

const asAgent = (project: Project, ...argv: string[]) =>
  project.pawlIn(project.path, { ...project.env, CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" }, ...argv);

test("of a part in a task that does not exist, it is the task that is missing", async ({ project }) => {
  await newTasks(project, 1);
  for (const words of [
    ["lane", "close", "T9/L1"],
    ["mail", "ack", "T9/M1"],
    ["finding", "defer", "T9/F1", "--note", "Later."],
  ])
    expect(await project.pawl(...words, "--json")).toMatchObject({
      code: 4,
      json: { error: { code: "no_task", details: { id: "T0009" } } },
    });
  expect((await project.pawl("mail", "ack", "T1/M1", "--json")).json.error.code).toBe("no_message");
});

describe("two tasks", () => {
  test("never own the same paths", async ({ project }) => {
    await newTasks(project, 3);
    expect(
      (await project.pawl("lane", "add", "T1", "--path", "src/api", "--owner", "agent:codex")).code,
    ).toBe(0);
    const refused = await project.pawl(
      "lane",
      "add",
      "T2",
      "--path",
      "docs",
      "--path",
      "src/**/*.ts",
      "--json",
    );
    expect(refused).toMatchObject({
      code: 5,
      json: { error: { code: "lane_overlap", details: { lane: "T0001/L1", owner: "agent:codex" } } },
    });
    expect((await project.pawl("lane", "add", "T2", "--path", "src/web")).code).toBe(0);
    const { json } = await project.pawl("lane", "list", "--json");
    expect(json.data.lanes.map((one: { id: string }) => one.id)).toEqual(["T0001/L1", "T0002/L1"]);
  });

  test("share them one after the other: the second is not started before the first has given them back", async ({
    project,
  }) => {
    await newTasks(project, 2);
    await project.pawl("lane", "add", "T1", "--path", "src");
    expect((await project.pawl("lane", "add", "T2", "--path", "src/api", "--after", "T1")).code).toBe(0);
    expect((await project.pawl("lane", "list")).out).toContain("waits for T0001");
    // Whoever is waited for may still say more of its own paths.
    expect((await project.pawl("lane", "update", "T1/L1", "--path", "src", "--path", "docs")).code).toBe(0);
    const refused = await project.pawl("start", "T2", "--json");
    expect(refused).toMatchObject({
      code: 1,
      json: { error: { code: "lane_waits", details: { open: ["T0001"] } } },
    });
    await project.pawl("lane", "close", "T1/L1");
    expect((await project.pawl("start", "T2")).code).toBe(0);
  });

  test("never wait for each other, by lanes or by what they depend on, nor one for itself", async ({
    project,
  }) => {
    await newTasks(project, 4);
    await project.pawl("task", "update", "T3", "--depends", "T1");
    await project.pawl("lane", "add", "T1", "--path", "src");
    await project.pawl("lane", "add", "T2", "--path", "src/api", "--after", "T1");
    for (const words of [
      ["update", "T1/L1", "--after", "T2"],
      ["update", "T1/L1", "--after", "T3"],
      ["add", "T4", "--path", "docs", "--after", "T4"],
    ])
      for (const more of [[], ["--dry-run"]])
        expect(await project.pawl("lane", ...words, ...more, "--json")).toMatchObject({
          code: 1,
          json: { error: { code: "lane_circle" } },
        });
    expect((await project.pawl("lane", "add", "T4", "--path", "docs", "--after", "T2")).code).toBe(0);
  });

  test("a task that is dropped keeps nobody away", async ({ project }) => {
    await newTasks(project, 2);
    await project.pawl("lane", "add", "T1", "--path", "src");
    await project.pawl("task", "update", "T1", "--status", "dropped");
    expect((await project.pawl("lane", "add", "T2", "--path", "src/api")).code).toBe(0);
  });
});

describe("a lane", () => {
  test("is changed with the rev that was read, and not into somebody else's", async ({ project }) => {
    await newTasks(project, 2);
    await project.pawl("lane", "add", "T1", "--path", "src/api");
    await project.pawl("lane", "add", "T2", "--path", "src/web");
    const changed = await project.pawl(
      "lane",
      "update",
      "T1/L1",
      "--path",
      "src/api",
      "--path",
      "lib",
      "--rev",
      "1",
      "--json",
    );
    expect(changed.json.data.lane).toMatchObject({ rev: 2, paths: ["src/api", "lib"] });
    const stale = await project.pawl("lane", "update", "T1/L1", "--path", "x", "--rev", "1", "--json");
    expect(stale).toMatchObject({ code: 5, json: { error: { code: "stale_rev" } } });
    const taken = await project.pawl("lane", "update", "T1/L1", "--path", "src", "--json");
    expect(taken).toMatchObject({ code: 5, json: { error: { code: "lane_overlap" } } });
  });

  test("needs paths, is changed by what is named, and not once it is closed", async ({ project }) => {
    await newTasks(project, 1);
    expect((await project.pawl("lane", "add", "T1")).err).toContain("--path src/api");
    await project.pawl("lane", "add", "T1", "--path", "src");
    const update = async (...words: string[]) => {
      const { code, json } = await project.pawl("lane", "update", "T1/L1", ...words, "--json");
      return [code, json.error.code, json.error.hint];
    };
    expect(await update()).toMatchObject([3, "nothing_to_change", {}]);
    expect(await update("--path", "x", "--rev", "7")).toMatchObject([
      ...[5, "stale_rev", expect.stringContaining("pawl lane list --json")],
    ]);
    await project.pawl("lane", "close", "T1/L1");
    expect(await update("--path", "x")).toMatchObject([
      ...[1, "lane_closed", expect.stringContaining("pawl lane add T0001")],
    ]);
  });

  test("is not an agent's to widen, close or add to: it would be in none", async ({ project }) => {
    await newTasks(project, 1);
    expect((await asAgent(project, "lane", "add", "T1", "--path", "src/api")).code).toBe(0);
    for (const words of [
      ["add", "T1", "--path", "src"],
      ["update", "T1/L1", "--path", "**"],
      ["close", "T1/L1"],
    ])
      expect(await asAgent(project, "lane", ...words, "--json")).toMatchObject({
        code: 1,
        json: { error: { code: "human_only" } },
      });
    expect(project.read("tasks/T0001/lanes/L1.md")).toMatch(/^paths:\n {2}- src\/api\nrev/m);
  });
});

test("what a branch changed outside of its lane becomes a finding, once, and keeps the gate shut", async ({
  project,
}) => {
  const work = await makeRun(project);
  await project.pawl("lane", "add", "T1", "--path", "src");
  work.write("src/a.ts", "in\n");
  work.write("README.md", "out\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "Both");
  const said = await project.pawl("snapshot", "T1", "--json");
  expect(said.json.warnings.join("\n")).toContain("Changed outside the lane of T0001 (src): README.md.");
  await project.pawl("snapshot", "T1");
  const { json } = await project.pawl("finding", "list", "--task", "T1", "--json");
  expect(json.data.findings).toMatchObject([
    { id: "T0001/F1", severity: "medium", status: "open", actor: "agent:pawl" },
  ]);
  const check = await project.pawl("check", "T1", "--stage", "review", "--json");
  expect(check.json.data.check.reasons.map((one: { code: string }) => one.code)).toContain("open_finding");
});

test("an agent that has no lane may touch everything", async ({ project }) => {
  const work = await makeRun(project);
  work.write("README.md", "anything\n");
  work.git("add", "-A");
  work.git("commit", "-q", "-m", "Any");
  await project.pawl("snapshot", "T1");
  expect((await project.pawl("finding", "list", "--task", "T1", "--json")).json.data.findings).toEqual([]);
});
