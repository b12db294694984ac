import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { sha256 } from "../../src/files/digest.ts";
import { withoutNew } from "../../src/flows/records/find-doubts.ts";
import { discover } from "../../src/git/discover.ts";
import { recordName } from "../../src/judge/sync/judge-sync.ts";
import { eventFile } from "../../src/model/paths.ts";
import { observeSteps } from "../../src/model/steps.ts";
import { readEvents } from "../../src/store/event-log.ts";
import { findHome } from "../../src/store/home.ts";
import { transact } from "../../src/store/transaction.ts";
import type { Project } from "../helpers/command-line.ts";
import { makeRun } from "../helpers/hand-made-run.ts";
import { pressesCtrlC, typing } from "../helpers/ready-task.ts";
import { askStateGit, makeRepository, stateOf } from "../helpers/temporary-repository.ts";
import { expectContained, stateTip, stateTree, test } from "../helpers/two-clones.ts";

const TASK = "tasks/T0001/task.md";

/** With a human at the terminal, who types what is asked for when a choice is made. */
const typed = (project: Project, ...args: string[]) => {
  const [, record] = args;
  const answer = (question: string) => (/publish/.test(question) ? "yes" : recordName(record ?? ""));
  return typing(
    { root: "", env: project.env, repos: [project] },
    { typed: record === undefined ? undefined : answer },
    ...["sync", "--yes", ...args],
  );
};

async function sync(project: Project, ...args: string[]) {
  const { code, json, err } = await typed(project, ...args);
  expect(json.ok, JSON.stringify(json) + err).toBe(true);
  expect(code).toBe(0);
  return json.data.sync;
}

const task = async (project: Project, id = "T1") =>
  (await project.pawl("task", "show", id, "--json")).json.data.task;

function expectSame(...projects: Project[]): void {
  expect(new Set(projects.map(stateTip)).size).toBe(1);
  for (const project of projects) expect(askStateGit(project, "status", "--porcelain")).toBe("");
}

test("two clones that both made records have the same state after syncing, and one history", async ({
  clones,
}) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "From Ada");
  await ben.pawl("note", "add", "From Ben");
  const before = [stateTip(ada), stateTip(ben)];
  expect(await sync(ada)).toMatchObject({ received: 0, sent: true });
  expect(await sync(ben)).toMatchObject({ received: 3, sent: true });
  expect(await sync(ada)).toMatchObject({ received: 2, sent: false });
  expectSame(ada, ben);
  for (const commit of before) expectContained(ada, commit);
  await ada.pawl("note", "add", "From Ada again");
  expect((await ada.pawl("sync", "--yes")).out).toBe("Sent this clone's records to origin.\n");
  expect(await sync(ben)).toMatchObject({ sent: false });
  expect((await ben.pawl("task", "list")).out).toContain("From Ada");
  expect((await ada.pawl("search", "Ben")).out).toContain("N0001");
  for (const project of [ada, ben])
    expect((await project.pawl("sync", "--yes")).out).toBe("Nothing to do: origin has the same state.\n");
  expect(clones.remoteGit("rev-parse", "pawl/state")).toBe(stateTip(ada));
});

test("a fresh clone must sync the state before it can create a task", async ({ clones }) => {
  await clones.ada.pawl("task", "new", "From Ada");
  await sync(clones.ada);
  const fresh = clones.clone("fresh clone");
  for (const command of ["status", "session"])
    expect((await fresh.pawl(command, "--json")).json.next.command).toBe("pawl sync");
  expect((await fresh.pawl("task", "new", "Too early", "--json")).json.error.code).toBe("state_not_here");
  await sync(fresh);
  expect((await fresh.pawl("task", "new", "In time", "--json")).json.data.task.id).toBe("T0002");
});

test("a conflict is not settled without a terminal, nor by something else that is typed", async ({
  clones,
}) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "From Ada");
  for (const clone of [ada, ben]) await sync(clone);
  for (const clone of [ada, ben]) await clone.pawl("task", "update", "T1", "--title", `Of ${clone.path}`);
  await sync(ada);
  const piped = await ben.pawl("sync", "--ours", "T1", "--json");
  expect(piped.json.error.code).toBe("no_terminal");
  const other = await typing(
    { root: "", env: ben.env, repos: [ben] },
    { typed: "yes" },
    "sync",
    "--ours",
    "T1",
  );
  expect(other.json.error.code).toBe("not_confirmed");
});

test("a conflict is not settled by an agent", async ({ clones }) => {
  await clones.ada.pawl("task", "new", "From Ada");
  const env = { CODEX_SESSION_ID: "one" };
  const { json } = await clones.ada.pawlIn(clones.ada.path, env, "sync", "--ours", "T1", "--json");
  expect(json.error.code).toBe("human_only");
});

test("clones in folders of different names start each other's tasks", { tags: ["proof"] }, async ({
  clones,
}) => {
  const { ada, ben } = clones;
  await ben.pawl("task", "new", "Made where the folder has another name");
  await ada.pawl("note", "add", "Something of her own");
  await sync(ben);
  await sync(ada);
  const { code, err } = await ada.pawl("start", "T1");
  expect(code, err).toBe(0);
});

test("a fresh clone gets the state back, with the name that records call the project by", async ({
  clones,
}) => {
  const { ada } = clones;
  await ada.pawl("task", "new", "From Ada");
  await ada.pawl("note", "add", "Remember");
  const made = "2026-11-16T09:30:00.000Z";
  writeFileSync(join(stateOf(ada), "N0001"), "not a record, and still kept\n");
  execFileSync("mkdir", ["-p", join(stateOf(ada), "repos")]);
  writeFileSync(
    join(stateOf(ada), "repos", "my project.md"),
    `---\nid: my project\nhome: true\nrev: 1\nactor: "human:Ada"\ncreated: "${made}"\nupdated: "${made}"\n---\n`,
  );
  await sync(ada);
  const fresh = clones.clone("another name");
  expect(await sync(fresh)).toMatchObject({ sent: false });
  expectSame(ada, fresh);
  expect((await fresh.pawl("task", "list")).out).toContain("From Ada");
  expect(readFileSync(join(fresh.path, ".git/pawl/name"), "utf8")).toBe("my project\n");
  expect(fresh.git("status", "--porcelain")).toBe("");
  await fresh.pawl("task", "new", "Made there");
  await sync(fresh);
  await sync(ada);
  expect(await task(ada, "T2")).toMatchObject({ title: "Made there" });
});

test("what each clone changed in one record is merged where the fields differ", { tags: ["proof"] }, async ({
  clones,
}) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "Title", "--objective", "Do it", "--label", "one");
  await sync(ada);
  await sync(ben);
  await ada.pawl("task", "update", "T1", "--title", "Better title", "--label", "one", "--label", "two");
  await ada.pawl("task", "update", "T1", "--profile", "strict");
  await ben.pawl("task", "update", "T1", "--objective", "Do it well", "--label", "one", "--label", "three");
  await sync(ada);
  expect(await sync(ben)).toMatchObject({ merged: ["T0001"], sent: true });
  await sync(ada);
  expectSame(ada, ben);
  const merged = await task(ada);
  expect(merged).toMatchObject({ title: "Better title", objective: "Do it well", profile: "strict", rev: 4 });
  expect(merged.labels.sort()).toEqual(["one", "three", "two"]);
  const logged = askStateGit(ben, "grep", "-h", '"event":"sync"', "HEAD", "--", "events");
  expect(logged).toContain('"record":"T0001@4"');
});

describe("a record that both changed in different ways", () => {
  async function conflict({ ada, ben }: { ada: Project; ben: Project }) {
    await ada.pawl("task", "new", "Title");
    await sync(ada);
    await sync(ben);
    await ada.pawl("task", "update", "T1", "--title", "Ada's title");
    await ben.pawl("task", "update", "T1", "--title", "Ben's title");
    await ben.pawl("note", "add", "Unrelated");
    await sync(ada);
  }

  test("is shown with both versions, and nothing is written", async ({ clones }) => {
    const { ada, ben } = clones;
    await conflict(clones);
    const text = ben.read(TASK);
    const { code, json } = await ben.pawl("sync", "--yes", "--json");
    expect([code, json.error.code]).toEqual([5, "sync_conflict"]);
    expect(json.error.message).toContain("T0001");
    expect(json.error.message).toContain(`title: ours "Ben's title", theirs "Ada's title"`);
    expect(json.error.details.conflicts).toMatchObject([
      { record: "T0001", reason: "both_changed", paths: [TASK], clashes: [{ field: "title" }] },
    ]);
    expect(ben.read(TASK)).toBe(text);
    expect(clones.remoteGit("rev-parse", "pawl/state")).toBe(stateTip(ada));
    // The command that is offered really shows the other version.
    const [show = ""] = /git -C .*/.exec(json.error.hint) ?? [];
    const shown = execFileSync("sh", ["-c", show], { cwd: ben.path, encoding: "utf8" });
    expect(shown).toBe(ada.read(TASK));
    expect((await ben.pawl("sync", "--yes", "--json")).code).toBe(5);
  });

  test("can be settled for ours, edited by hand or not", { tags: ["proof"] }, async ({ clones }) => {
    const { ada, ben } = clones;
    await conflict(clones);
    const file = join(stateOf(ben), TASK);
    writeFileSync(file, readFileSync(file, "utf8").replace("Ben's title", "Both titles"));
    expect(await sync(ben, "--ours", "T1")).toMatchObject({ settled: ["T0001"], sent: true });
    await sync(ada);
    expectSame(ada, ben);
    expect(await task(ada)).toMatchObject({ title: "Both titles", rev: 3 });
  });

  test("can be settled for theirs; ours stays in the history", { tags: ["proof"] }, async ({ clones }) => {
    const { ada, ben } = clones;
    await conflict(clones);
    const [ours, tip] = [ben.read(TASK), stateTip(ben)];
    expect(await sync(ben, "--theirs", "t0001")).toMatchObject({ settled: ["T0001"] });
    await sync(ada);
    expectSame(ada, ben);
    expect(await task(ben)).toMatchObject({ title: "Ada's title" });
    expectContained(ada, tip);
    expect(askStateGit(ada, "show", `${tip}:${TASK}`)).toBe(ours.trim());
  });

  test("a choice for a record that is not in conflict is reported; one for both sides is refused", async ({
    clones,
  }) => {
    const { ada } = clones;
    await ada.pawl("task", "new", "Title");
    const told = await typed(ada, "--ours", "T1");
    expect(told.json.warnings).toContain("T0001 was not in conflict, so there was nothing to choose.");
    expect((await ada.pawl("sync", "--ours", "T1", "--theirs", "T1")).code).toBe(3);
  });
});

describe("the same id given twice", () => {
  async function twice({ ada, ben }: { ada: Project; ben: Project }) {
    await ada.pawl("task", "new", "Ada's task");
    await ada.pawl("decide", "Ada decided", "--why", "so", "--task", "T1");
    await ben.pawl("task", "new", "Ben's task");
    await ben.pawl("finding", "add", "Ben found", "--severity", "low", "--task", "T1");
    await sync(ada);
  }

  test("gives ours the next free one, whole, and loses nothing (M1)", async ({ clones }) => {
    const { ada, ben } = clones;
    await twice(clones);
    await ben.pawl("task", "new", "Ben's next", "--depends", "T1");
    const done = await sync(ben);
    expect(done.renumbered).toEqual([{ from: "T0001", to: "T0003" }]);
    await sync(ada);
    expectSame(ada, ben);
    for (const project of [ada, ben]) {
      expect(await task(project)).toMatchObject({ title: "Ada's task" });
      expect(await task(project, "T3")).toMatchObject({ title: "Ben's task" });
      expect(await task(project, "T2"), "what depended on it still does").toMatchObject({
        depends_on: ["T0003"],
      });
      expect(project.read("tasks/T0003/findings/F1.md")).toContain("id: T0003/F1");
      expect(existsSync(join(stateOf(project), "tasks/T0001/findings"))).toBe(false);
      const { json } = await project.pawl("doctor", "--json");
      expect(
        json.data.doctor.diagnoses.filter((one: { code: string }) => one.code.startsWith("record_")),
      ).toEqual([]);
    }
    expect((await ben.pawl("log")).out).toContain("was T0001 until another clone's T0001 arrived");
  });

  test("a started task continues in its worktree under the new id", { tags: ["proof"] }, async ({
    clones,
  }) => {
    const { ada, ben } = clones;
    await ada.pawl("task", "new", "Ada's task");
    await ben.pawl("task", "new", "Ben's task");
    await ben.pawl("start", "T1");
    await sync(ada);
    await sync(ben);
    const worktree = join(ben.path, ".worktrees/T0001-ben-s-task");
    const { json } = await ben.pawlIn(worktree, {}, "session", "--json");
    expect(JSON.stringify(json.data)).toContain("Ben's task");
  });

  for (const [flag, title, parts] of [
    ["--ours", "Ben's task", ["findings", "task.md"]],
    ["--theirs", "Ada's task", ["decisions", "task.md"]],
  ] as const)
    test(`can be settled with ${flag}, and the parts of the two are never mixed`, {
      tags: ["proof"],
    }, async ({ clones }) => {
      const { ada, ben } = clones;
      await twice(clones);
      const tips = [stateTip(ada), stateTip(ben)];
      await sync(ben, flag, "T1");
      await sync(ada);
      await sync(ben);
      expectSame(ada, ben);
      for (const project of [ada, ben]) {
        expect(await task(project)).toMatchObject({ title });
        expect(readdirSync(join(stateOf(project), "tasks/T0001")).sort()).toEqual(parts);
        for (const tip of tips) expectContained(project, tip);
      }
      const loser = flag === "--ours" ? ada : ben;
      const [kept = ""] = readdirSync(join(stateOf(loser), ".local/rescued"));
      expect(readFileSync(join(stateOf(loser), ".local/rescued", kept, "task.md"), "utf8")).not.toContain(
        title,
      );
    });

  test("a task that is edited just before theirs takes its place is kept in the history with that edit", {
    tags: ["proof"],
  }, async ({ clones }) => {
    const { ben } = clones;
    await twice(clones);
    let fetches = 0;
    observeSteps((name) => {
      // The first one only asks whether anybody has published; the state is committed before the second.
      if (name !== "sync fetch" || ++fetches !== 2) return;
      const file = join(stateOf(ben), TASK);
      writeFileSync(file, readFileSync(file, "utf8").replace("Ben's task", "Ben's, just now"));
    });
    await sync(ben, "--theirs", "T1").finally(() => observeSteps(() => {}));
    expect(fetches).toBeGreaterThan(1);
    expect(await task(ben)).toMatchObject({ title: "Ada's task" });
    expect(askStateGit(ben, "log", "--format=%h", "-S", "Ben's, just now", "HEAD")).not.toBe("");
  });

  test("also for parts of a task, and whatever speaks of them follows", { tags: ["proof"] }, async ({
    clones,
  }) => {
    const { ada, ben } = clones;
    await ada.pawl("task", "new", "Title");
    await sync(ada);
    await sync(ben);
    const add = (project: Project, text: string) =>
      project.pawl("finding", "add", text, "--severity", "low", "--task", "T1", "--kind", "plan");
    await add(ada, "Ada found");
    await add(ben, "Ben found");
    await ben.pawl("decide", "Look at T0001/F1 first", "--why", "so", "--task", "T1");
    await sync(ada);
    const done = await sync(ben);
    expect(done.renumbered).toEqual([{ from: "T0001/F1", to: "T0001/F2" }]);
    await sync(ada);
    expectSame(ada, ben);
    expect(ben.read("tasks/T0001/findings/F1.md")).toContain("Ada found");
    expect(ada.read("tasks/T0001/findings/F2.md")).toContain("Ben found");
    expect(ada.read("tasks/T0001/decisions/D1.md")).toContain("Look at T0001/F2 first");
    for (const project of [ada, ben])
      expect((await project.pawl("sync", "--yes")).out).toMatch(/^Nothing to do/);
  });
});

describe("the first push", () => {
  test("says what it publishes and where, and a dry run does nothing else", async ({ clones }) => {
    const { ada } = clones;
    await ada.pawl("task", "new", "From Ada");
    const dry = await ada.pawl("sync", "--dry-run", "--json");
    expect(JSON.stringify(dry.json)).toMatch(
      /1 task with findings, evidence.*pawl\/state of .*the remote\.git/,
    );
    expect(() => clones.remoteGit("rev-parse", "-q", "--verify", "pawl/state")).toThrow();
    const unasked = await ada.pawl("sync", "--json");
    expect([unasked.code, unasked.json.error.code]).toEqual([1, "publishing_not_agreed"]);
    expect(unasked.json.error.hint).toContain("pawl sync --yes");
    const agent = await ada.pawlIn(ada.path, { ...ada.env, CLAUDECODE: "1" }, "sync", "--yes", "--json");
    expect([agent.code, agent.json.error.code]).toEqual([1, "human_only"]);
    expect(() => clones.remoteGit("rev-parse", "-q", "--verify", "pawl/state")).toThrow();
    const first = await ada.pawl("sync", "--yes");
    expect(first.err).toMatch(/This publishes 1 task .*\n.*Everybody who can read that repository/);
    await ada.pawl("task", "new", "Another");
    const again = await ada.pawl("sync");
    expect([again.code, again.err.includes("This publishes")]).toEqual([0, false]);
  });

  test("is asked for on a terminal, once", { tags: ["proof"] }, async ({ clones }) => {
    const { ada } = clones;
    await ada.pawl("task", "new", "From Ada");
    const ready = { root: clones.root, env: ada.env, repos: [ada] };
    const no = await typing(ready, { typed: "no" }, "sync");
    expect([no.code, no.json.error.code]).toEqual([1, "not_confirmed"]);
    const stopped = await typing(ready, { typed: pressesCtrlC }, "sync");
    expect([stopped.code, stopped.json.error.message]).toEqual([
      130,
      "Stopped; nothing was published. To go on: pawl sync",
    ]);
    expect((await typing(ready, { typed: "yes" }, "sync")).code).toBe(0);
    await ada.pawl("task", "new", "Another");
    expect((await typing(ready, { typed: "no" }, "sync")).code, "not asked again").toBe(0);
  });

  test("a no holds, also when somebody else publishes theirs meanwhile", { tags: ["proof"] }, async ({
    clones,
  }) => {
    const { ada, ben } = clones;
    await ben.pawl("task", "new", "From Ben");
    const ready = { root: clones.root, env: ben.env, repos: [ben] };
    expect((await typing(ready, { typed: "no" }, "sync")).json.error.code).toBe("not_confirmed");
    await ada.pawl("task", "new", "From Ada");
    await ada.pawl("sync", "--yes");
    const unasked = await ben.pawl("sync", "--json");
    expect([unasked.code, unasked.json.error.code]).toEqual([1, "publishing_not_agreed"]);
    expect(clones.remoteGit("log", "--format=", "--name-only", "-SFrom Ben", "pawl/state")).toBe("");
    expect((await typing(ready, { typed: "yes" }, "sync")).code).toBe(0);
    await ben.pawl("task", "new", "Another");
    expect((await ben.pawl("sync")).code, "not asked again").toBe(0);
  });
});

describe("remotes", () => {
  test("none, several without an origin, an unknown one", async ({ clones }) => {
    const alone = makeRepository(join(clones.root, "alone"));
    const { ada } = clones;
    const project = { ...ada, pawl: (...argv: string[]) => ada.pawlIn(alone.path, {}, ...argv) };
    const none = await project.pawl("sync", "--yes", "--json");
    expect([none.code, none.json.error.code]).toEqual([1, "no_remote"]);
    expect(existsSync(join(alone.path, ".pawl"))).toBe(false);
    expect((await ada.pawl("sync", "--remote", "nowhere", "--json")).json.error.code).toBe("no_remote");
    ada.git("remote", "rename", "origin", "one");
    ada.git("remote", "add", "two", clones.remote);
    const several = await ada.pawl("sync", "--yes", "--json");
    expect(several.json.error.hint).toContain("pawl sync --remote two");
    await sync(ada, "--remote", "two");
  });

  test("offline it says so, keeps everything, and syncs later", async ({ clones }) => {
    const { ada, ben } = clones;
    await ada.pawl("task", "new", "Made offline");
    renameSync(clones.remote, `${clones.remote}.away`);
    const { code, json } = await ada.pawl("sync", "--yes", "--json");
    expect([code, json.error.code]).toEqual([2, "remote_unreachable"]);
    expect((await ada.pawl("task", "list")).out).toContain("Made offline");
    renameSync(`${clones.remote}.away`, clones.remote);
    await sync(ada);
    await sync(ben);
    expectSame(ada, ben);
  });

  test("a branch that was moved back or deleted there takes nothing from here", { tags: ["proof"] }, async ({
    clones,
  }) => {
    const { ada, ben } = clones;
    await ada.pawl("task", "new", "One");
    await sync(ada);
    const first = stateTip(ada);
    await ada.pawl("task", "new", "Two");
    await sync(ada);
    await sync(ben);
    clones.remoteGit("update-ref", "refs/heads/pawl/state", first);
    await sync(ben);
    expect(clones.remoteGit("rev-parse", "pawl/state")).toBe(stateTip(ada));
    // An unrelated history in its place: another clone began anew, and pushed with force.
    const tree = clones.remoteGit("rev-parse", `${first}^{tree}`);
    const other = clones.remoteGit(
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit-tree",
      "-m",
      "New",
      tree,
    );
    clones.remoteGit("update-ref", "refs/heads/pawl/state", other);
    await sync(ben);
    expect((await ben.pawl("task", "list")).out).toContain("Two");
    expectContained(ben, other);
    clones.remoteGit("update-ref", "-d", "refs/heads/pawl/state");
    expect(await sync(ada)).toMatchObject({ sent: true });
    await sync(ben);
    await sync(ada);
    expectSame(ada, ben);
  });

  test("the project's own settings are used, and none of its hooks, mirrors and signatures", {
    tags: ["proof"],
  }, async ({ clones }) => {
    const { ada, ben } = clones;
    const ran = join(clones.root, "ran");
    for (const hook of ["pre-push", "reference-transaction", "post-merge", "pre-commit"]) {
      execFileSync("mkdir", ["-p", join(ada.path, "hooks")]);
      writeFileSync(join(ada.path, "hooks", hook), `#!/bin/sh\ntouch '${ran}'\nexit 1\n`);
      chmodSync(join(ada.path, "hooks", hook), 0o755);
    }
    ada.git("config", `url.${clones.root}/.insteadOf`, "elsewhere:");
    ada.git("config", "remote.origin.url", "elsewhere:the remote.git");
    ada.git("config", "remote.origin.mirror", "true");
    ada.git("config", "core.hooksPath", join(ada.path, "hooks"));
    for (const key of ["commit.gpgSign", "push.gpgSign", "fetch.prune", "push.followTags"])
      ada.git("config", key, "true");
    ben.git("remote", "set-url", "origin", "../the remote.git");
    await ada.pawl("task", "new", "Title");
    await sync(ada);
    await sync(ben);
    expectSame(ada, ben);
    expect(existsSync(ran)).toBe(false);
    expect(clones.remoteGit("for-each-ref", "--format=%(refname)").split("\n")).toEqual([
      "refs/heads/main",
      "refs/heads/pawl/state",
    ]);
  });

  test("a remote that refuses the branch is named as the cause", async ({ clones }) => {
    const { ada } = clones;
    execFileSync("mkdir", ["-p", join(clones.remote, "hooks")]);
    writeFileSync(join(clones.remote, "hooks", "pre-receive"), "#!/bin/sh\necho not today >&2\nexit 1\n");
    chmodSync(join(clones.remote, "hooks", "pre-receive"), 0o755);
    await ada.pawl("task", "new", "Title");
    const { code, json } = await ada.pawl("sync", "--yes", "--json");
    expect([code, json.error.code]).toEqual([2, "push_refused"]);
  });
});

test("patches travel with their run: the diff can be read where the work was never done", async ({
  clones,
}) => {
  const { ada, ben } = clones;
  const work = await makeRun(ada);
  work.write("latin1.txt", Buffer.from("stra\xdfe\n", "latin1"));
  await ada.pawl("snapshot", "T1");
  await sync(ada);
  await sync(ben);
  const [here, there] = [await ada.pawl("diff", "T1"), await ben.pawl("diff", "T1")];
  expect(there).toEqual(here);
  expect(there.code).toBe(0);
});

test("what is deleted in one clone comes back from the other: no record ever goes away", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "One");
  await ada.pawl("task", "new", "Two");
  await sync(ada);
  await sync(ben);
  rmSync(join(stateOf(ada), "tasks/T0002"), { recursive: true });
  await ada.pawl("note", "add", "Something new");
  await sync(ada);
  await ben.pawl("note", "list");
  await ben.pawl("task", "new", "Three");
  await sync(ben);
  await sync(ada);
  expectSame(ada, ben);
  expect((await ada.pawl("task", "list")).out).toContain("Two");
});

test("links and names that mean something to this machine are not taken from anybody", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "One");
  await sync(ada);
  const evil = (...args: string[]) => clones.remoteGit("-c", "user.name=E", "-c", "user.email=e@e", ...args);
  const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: clones.remote, input: "/etc" })
    .toString()
    .trim();
  const make = (entries: string) =>
    execFileSync("git", ["mktree"], { cwd: clones.remote, input: entries }).toString().trim();
  const inner = make(`100644 blob ${blob}\thome\n`);
  const old = clones.remoteGit("ls-tree", "pawl/state");
  const tree = make(`${old}\n120000 blob ${blob}\tnotes\n040000 tree ${inner}\t.local\n`);
  const commit = evil("commit-tree", "-m", "Evil", "-p", "pawl/state", tree);
  clones.remoteGit("update-ref", "refs/heads/pawl/state", commit);
  for (const project of [ada, ben]) {
    await sync(project);
    expect(existsSync(join(stateOf(project), ".local/home"))).toBe(false);
    expect(readdirSync(stateOf(project))).not.toContain("notes");
    expect((await project.pawl("note", "add", "A note of ours")).code).toBe(0);
  }
});

test("eight syncs at once, with writes in between, in both clones: nothing is lost", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  clones.remoteGit("config", "core.logAllRefUpdates", "true");
  await ada.pawl("task", "new", "Title");
  await sync(ada);
  await sync(ben);
  const write = (project: Project, what: string) =>
    project.pawl("touch", `${what}.ts`, "--task", "T1", "--json").then((one) => expect(one.code).toBe(0));
  const results = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const project = index % 2 ? ada : ben;
      await write(project, `file-${index}`);
      return project.pawl("sync", "--yes", "--json");
    }),
  );
  for (const one of results) expect(one.json.ok, JSON.stringify(one.json)).toBe(true);
  await sync(ada);
  await sync(ben);
  await sync(ada);
  expectSame(ada, ben);
  const touched = readdirSync(join(stateOf(ada), "tasks/T0001/touched"))
    .map((name) => ada.read(`tasks/T0001/touched/${name}`))
    .join("");
  // The remote only ever went forward: nobody's push took the place of another's.
  const moves = clones.remoteGit("reflog", "--format=%H", "pawl/state").split("\n");
  expect(moves.length).toBeGreaterThan(2);
  for (const [index, newer] of moves.slice(0, -1).entries())
    clones.remoteGit("merge-base", "--is-ancestor", moves[index + 1] ?? "", newer);
  for (let index = 0; index < 8; index++) expect(touched).toContain(`file-${index}.ts`);
  expect(stateTree(ada)).toBe(clones.remoteGit("rev-parse", "pawl/state^{tree}"));
});

test("a record that is written while theirs is being put in place is not overwritten", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "Title", "--objective", "Do it");
  await sync(ada);
  await sync(ben);
  await ada.pawl("task", "update", "T1", "--title", "Ada's title");
  await sync(ada);
  let edited = false;
  observeSteps((name) => {
    if (name !== "stage" || edited) return;
    edited = true;
    const file = join(stateOf(ben), TASK);
    writeFileSync(file, readFileSync(file, "utf8").replace("Do it", "Ben's, just now"));
  });
  await sync(ben).finally(() => observeSteps(() => {}));
  expect(edited).toBe(true);
  expect(await task(ben)).toMatchObject({ title: "Ada's title", objective: "Ben's, just now" });
});

function homeOf(project: Project) {
  const place = discover(project.path);
  if (!place) throw new Error("the project is a repository");
  return findHome(place, project.path);
}

test("a task that is made while another clone's of that id is being put in place is not overwritten", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "The first one");
  await sync(ada);
  await sync(ben);
  await ada.pawl("task", "new", "Ada's second");
  await sync(ada);
  const home = homeOf(ben);
  const path = "tasks/T0002/task.md";
  const text = readFileSync(join(stateOf(ben), TASK), "utf8")
    .replaceAll("T0001", "T0002")
    .replace("The first one", "Ben's second")
    .replace(/^created: .*$/m, 'created: "2026-01-02T03:04:05.678Z"');
  let made = false;
  // As a command does it that has recorded the task, and has not committed the state yet.
  observeSteps((name) => {
    if (name !== "sync fetch" || made) return;
    made = true;
    const about = { record: "T0002", rev: 1, path, about: "Ben's second" };
    const told = { time: "2026-01-02T03:04:05.678Z", event: "task.new", actor: "human:Ben", ...about };
    const event = { ...told, record: "T0002@1", text: sha256(text).slice(0, 16) };
    const log = eventFile(home.clone, "2026-01-02");
    transact(home, { effects: [{ do: "create", ...about, text }], events: [event], log });
  });
  await sync(ben).finally(() => observeSteps(() => {}));
  expect(made).toBe(true);
  await sync(ada);
  for (const project of [ada, ben]) {
    const { json } = await project.pawl("task", "list", "--json");
    expect(json.data.tasks.map((one: { id: string; title: string }) => [one.id, one.title])).toEqual([
      ["T0001", "The first one"],
      ["T0002", "Ada's second"],
      ["T0003", "Ben's second"],
    ]);
    expect((await project.pawl("doctor")).code).toBe(0);
  }
});

test("whoever looks while records are being put in place finds each of them told of", {
  tags: ["proof"],
}, async ({ clones }) => {
  const { ada, ben } = clones;
  await ada.pawl("task", "new", "The first one");
  await sync(ada);
  await sync(ben);
  for (const title of ["Two", "Three"]) await ada.pawl("task", "new", title);
  await sync(ada);
  const home = homeOf(ben);
  const seen = new Set<string>();
  const untold = new Set<string>();
  observeSteps((name) => {
    if (!name.startsWith("apply")) return;
    const records = readdirSync(join(stateOf(ben), "tasks")).map((task) => `tasks/${task}/task.md`);
    const told = readEvents(home, { limit: Number.POSITIVE_INFINITY, about: () => true });
    for (const path of records) {
      seen.add(path);
      if (!told.some((one) => one.path === path)) untold.add(path);
    }
  });
  await sync(ben).finally(() => observeSteps(() => {}));
  expect(seen.size).toBe(3);
  expect([...untold]).toEqual([]);
  const lines = (await ben.pawl("log", "--json")).json.data.events.map((one: object) => JSON.stringify(one));
  expect(new Set(lines).size).toBe(lines.length);
});

test("what is written between a look at the records and one at the log is not missing", async () => {
  const [there, gone] = ["tasks/T0001/task.md", "tasks/T0001/findings/F1.md"];
  const missing = (path: string) => ({ path, record: "", why: "missing" as const, actor: undefined });
  const reader = { fileText: (path: string) => (path === there ? "" : undefined) };
  const hands = { look: async (use: (from: typeof reader) => unknown) => use(reader) } as never;
  expect(await withoutNew(hands, [missing(there), missing(gone)])).toEqual([missing(gone)]);
});
