import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../helpers/command-line.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { type Clones, makeClones } from "../helpers/two-clones.ts";

/** Two clones of a remote that a human trusts, with the same tasks in both: each test takes tasks of its own. */
let clones: Clones;
let ada: Project;
let ben: Project;

beforeAll(async () => {
  clones = makeClones(makeTemporaryFolder("claims"));
  ({ ada, ben } = clones);
  // Nobody is told anything by a clone that has not shared its state, or does not trust the remote.
  await ok(ada.pawl("task", "new", "The task 1"));
  await ok(ada.pawl("start", "T1"));
  await ok(ada.pawl("finish", "T1", "--remove", "--reason", "tried"));
  await ok(ada.pawl("install", "--profile", "hooks", "--yes"));
  for (let nth = 2; nth <= 7; nth++) await ok(ada.pawl("task", "new", `The task ${nth}`));
  await ok(ada.pawl("sync", "--yes"));
  await ok(ben.pawl("sync", "--yes"));
  expect(claims()).toEqual([]);
}, 120_000);
afterAll(() => rmSync(clones.root, { recursive: true, force: true, maxRetries: 3 }));

const claims = () =>
  clones
    .remoteGit("for-each-ref", "--format=%(refname:lstrip=3)", "refs/pawl/claims")
    .split("\n")
    .filter(Boolean);
const claimOf = (task: string) => clones.remoteGit("log", "-1", "--format=%B", `refs/pawl/claims/${task}`);
const start = (project: Project, ...argv: string[]) => project.pawl("start", ...argv, "--json");
const show = async (project: Project, task: string) => (await ok(project.pawl("task", "show", task))).out;
const AGENT = { CLAUDECODE: "1" };

describe("a task that is taken", () => {
  test("is published to the remote, refused to everybody else there, and free again when it ends", async () => {
    await ok(start(ada, "T1"));
    expect(claimOf("T0001")).toMatch(
      /^pawl claim T0001\n\ntask: T0001\ncreated: .*Z\nholder: human:Ada\nclone: \w+\nmachine: \S+\nsince: .*Z\nuntil: .*Z$/,
    );
    const refused = await start(ben, "T1");
    expect(refused).toMatchObject({ code: 5, json: { error: { code: "task_claimed" } } });
    expect(refused.json.error.message).toMatch(/^T0001 is claimed by human:Ada on \S+ \(clone \w+\) since /);
    expect(refused.json.error.hint).toContain("pawl start T0001 --claim");
    expect(existsSync(join(ben.path, ".worktrees"))).toBe(false);
    expect(await show(ben, "T1")).toMatch(/claimed +human:Ada on /);
    expect((await ok(ben.pawl("status"))).out).toMatch(/elsewhere +T0001 by human:Ada on /);
    const { inbox } = (await ok(ben.pawl("inbox", "--json"))).json.data;
    expect(inbox.claimed).toMatchObject([{ task: "T0001", title: "The task 1", expired: false }]);
    expect(inbox.ready.map((one: { id: string }) => one.id)).not.toContain("T0001");
    expect(await show(ada, "T1")).toMatch(/claimed +here, until /);
    // Whoever goes on with it keeps the claim as it is, and does not ask the remote again.
    const before = claimOf("T0001");
    await ok(start(ada, "T1"));
    expect(claimOf("T0001")).toBe(before);
    await ok(ada.pawl("finish", "T1", "--remove", "--reason", "not now"));
    expect(claims()).toEqual([]);
    await ok(start(ben, "T1"));
    expect(claimOf("T0001")).toContain("holder: human:ben s clone\n");
  });

  test("is renewed with its beginning, and what was given back or not begun is not claimed", async () => {
    await ok(start(ada, "T2"));
    const [before, since] = [claimOf("T0002"), /since: (.*)/.exec(claimOf("T0002"))?.[1]];
    await ok(ada.pawl("claim", "renew", "T2"));
    expect(claimOf("T0002")).not.toBe(before);
    expect(claimOf("T0002")).toContain(`since: ${since}\n`);
    await ok(ada.pawl("finish", "T2", "--keep", "--reason", "later"));
    await ok(ada.pawl("claim", "renew", "T2"));
    ada.write(".worktrees/T0007-the-task-7/in-the-way.txt", "mine\n");
    expect((await start(ada, "T7")).json.error.code).toBe("path_exists");
    expect(claims()).not.toContain("T0002");
    expect(claims()).not.toContain("T0007");
    expect(readdirSync(join(ada.path, ".git/pawl/claims/marked"))).toEqual([]);
  });

  test("may be taken over by a human who says so; the other clone is warned, and keeps its work", async () => {
    await ok(start(ada, "T3"));
    await ok(ada.pawl("sync", "--yes"));
    await ok(ben.pawl("sync", "--yes"));
    expect((await start(ben, "T3")).json.error.code).toBe("task_active_elsewhere");
    const agent = await ben.pawlIn(ben.path, AGENT, "start", "T3", "--claim", "--json");
    expect(agent).toMatchObject({ code: 5, json: { error: { code: "task_claimed" } } });
    expect(agent.json.error.hint).not.toContain("--claim");
    const taken = await ok(start(ben, "T3", "--claim"));
    expect(taken.json.warnings.join("\n")).toMatch(
      /T0003 was taken over from human:Ada on \S+ \(clone \w+\)\./,
    );
    expect(taken.json.data.run.id).toBe("T0003/R2");
    expect(claimOf("T0003")).toMatch(/holder: human:ben s clone[\s\S]*from: human:Ada on /);
    expect(ben.read("tasks/T0003/runs/R1/run.md")).toMatch(
      /ended: kept\nreason: "taken over from the clone \w+ by human:ben s clone"/,
    );
    // Whoever had it goes on writing, and finds out by the next renewal.
    await ok(ada.pawl("claim", "renew", "T3"));
    const told = await ok(ada.pawl("session", "T3", "--json"));
    expect(told.json.warnings.join("\n")).toMatch(
      /T0003 is being worked on here, but is claimed by human:ben s clone/,
    );
    await ok(ada.pawl("snapshot", "T3"));
    await ok(ben.pawl("sync", "--yes"));
    await ok(ada.pawl("sync", "--yes"));
    expect(ada.read("tasks/T0003/runs/R1/run.md")).toMatch(/snapshots:[\s\S]*ended: kept/);
    const left = join(ada.path, ".worktrees/T0003-the-task-3");
    expect(existsSync(left)).toBe(true);
    await ok(ada.pawl("finish", "T3", "--remove", "--reason", "taken over"));
    expect(existsSync(left)).toBe(false);
    expect(claimOf("T0003")).toContain("holder: human:ben s clone\n");
  });

  test("is not warned about where only its records are, and nobody works on it", async () => {
    for (const one of [ben, ada]) await ok(one.pawl("sync", "--yes"));
    const { json } = await ok(ada.pawl("status", "--json"));
    expect((await ok(ada.pawl("status"))).out).toMatch(/elsewhere +T0001 by human:ben s clone on /);
    expect(json.warnings.join("\n")).not.toContain("T0001 is being worked on here");
  });

  test("may be taken over by anybody who says so once its holder has died", async () => {
    await ok(start(ada, "T4"));
    expire("T0004");
    const refused = await start(ben, "T4");
    expect(refused.json.error.message).toContain(", expired 2020-01-01 00:00 UTC.");
    expect(refused.json.error.hint).toBe("It has expired. To take it over: pawl start T0004 --claim");
    expect((await ok(ben.pawl("inbox"))).out).toMatch(
      /claimed elsewhere[\s\S]*expired: pawl start T0004 --claim/,
    );
    const taken = await ok(ben.pawlIn(ben.path, AGENT, "start", "T4", "--claim", "--json"));
    expect(taken.json.data.run.id).toBe("T0004/R1");
    expect(claimOf("T0004")).toMatch(/holder: agent:claude-code[\s\S]*from: human:Ada on /);
  });
});

/** As if nobody had renewed it since long ago: everybody may write there. */
function expire(task: string): void {
  const ref = `refs/pawl/claims/${task}`;
  const past = claimOf(task).replace(/^until: .*$/m, "until: 2020-01-01T00:00:00.000Z");
  const tree = clones.remoteGit("rev-parse", `${ref}^{tree}`);
  const commit = clones.remoteGit("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", past, tree);
  clones.remoteGit("update-ref", ref, commit);
}

test("offline, work continues and says so; the next sync tells the others, and both holders are warned", async () => {
  const away = `${clones.remote} is offline`;
  renameSync(clones.remote, away);
  const begun = await ok(start(ada, "T5"));
  expect(begun.json.warnings.join("\n")).toMatch(
    /^Nobody else knows yet that T0005 is taken here: .*`pawl sync`/,
  );
  expect(await show(ada, "T5")).toContain("here; not yet published to origin");
  await ok(ben.pawl("start", "T6"));
  renameSync(away, clones.remote);
  await ok(ada.pawl("sync", "--yes"));
  expect(claims()).toContain("T0005");
  await ok(ada.pawl("start", "T6"));
  const met = await ok(ben.pawl("sync", "--yes", "--json"));
  expect(met.json.warnings.join("\n")).toMatch(/T0006 is being worked on here, but is claimed by human:Ada/);
  expect((await ok(ben.pawl("status", "--json"))).json.warnings.join("\n")).toMatch(
    /T0006 is being worked on here/,
  );
});

test("the guard lets a push of a claim through, and nothing else by that name", () => {
  const tree = ada.git("hash-object", "-t", "tree", "-w", "/dev/null");
  const claim = ada.git("commit-tree", "-m", "by hand", tree);
  ada.git("push", "-q", "origin", `${claim}:refs/pawl/claims/T0099`);
  ada.git("push", "-q", "origin", ":refs/pawl/claims/T0099");
  for (const refspec of ["main:refs/pawl/claims/T0099", `${claim}:refs/pawl/claims/main`])
    expect(() => ada.git("push", "-q", "origin", refspec), refspec).toThrow(
      /holds claims, and this is not a claim/,
    );
});

test("an id that two clones gave to two tasks is not a claim on ours", async () => {
  await ok(ada.pawl("task", "new", "Ada's eighth"));
  await ok(ben.pawl("task", "new", "Ben's eighth"));
  await ok(ada.pawl("start", "T8"));
  const met = await start(ben, "T8");
  expect(met).toMatchObject({ code: 5, json: { error: { code: "id_taken_twice" } } });
  expect(met.json.error.hint).toContain("pawl sync");
});

test("uninstall gives back what this clone claims, and leaves the others'", async () => {
  await ok(ada.pawl("uninstall", "--yes"));
  expect(claims()).toEqual(["T0001", "T0003", "T0004"]);
  expect(existsSync(join(ada.path, ".git/pawl/claims"))).toBe(false);
});
