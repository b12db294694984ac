import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { MergeStyle } from "../../src/model/statement.ts";
import { expectTruth, goOn, recordOf, statusOf } from "../helpers/approval-truth.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { each, momentsOf, testKills } from "../helpers/kills.ts";
import type { Job, Report } from "../helpers/operation-worker.ts";
import { type Answer, type Call, runHere } from "../helpers/perform-job.ts";
import {
  copyReady,
  gitIn,
  inspect,
  makeReady,
  ok,
  placeTarget,
  type Ready,
  type Target,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";
import { makeRemote } from "../ops/approve-refusals.ts";

let folder: string;
let worker: string;
const prepared = new Map<1 | 2, Ready>();
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("approve crash");
  const entry = fileURLToPath(new URL("../helpers/operation-worker.ts", import.meta.url));
  worker = await bundleProgram(entry, folder, "worker");
  for (const count of [1, 2] as const)
    prepared.set(count, await makeReady(join(folder, `ready ${count}`), count));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

function fresh(count: 1 | 2, target: Target): Ready {
  const ready = copyReady(prepared.get(count) as Ready, join(folder, `copy ${++copies}`));
  placeTarget(ready, target);
  return ready;
}

const job = (ready: Ready, what: Omit<Job, "cwd">) => runJob(worker, ready.repos[0] as never, what);
/** The same in this process: nobody kills it. */
const here = (ready: Ready, what: Call) => runHere(ready.repos[0] as never, what);
const APPROVE = { operation: "approve", input: { task: "T1" }, typed: "T0001" };
const NEXT = { operation: "note.add", input: { title: "the next command" } };
async function stepsOf(count: 1 | 2, target: Target, approve: Omit<Job, "cwd"> = APPROVE): Promise<string[]> {
  const ready = fresh(count, target);
  const report = (await job(ready, approve)) as Report;
  expect(report).toMatchObject({ ok: true });
  expect(expectTruth(ready, target, "uninterrupted")).toBe(true);
  return report.steps;
}

describe("kill -9 of the approver", () => {
  const variants: [count: 1 | 2, target: Target, style: MergeStyle, which: RegExp][] = [
    // But for the steps of the store's own lock, which leave nothing behind and are killed elsewhere.
    [2, "main worktree", "merge", /^(?!look|create|confirm|decide|enter|release)/],
    [1, "linked worktree", "merge", /^merge-/],
    [1, "nowhere", "merge", /^merge-/],
    [1, "main worktree", "squash", /^merge-/],
    [1, "main worktree", "ff", /^merge-/],
  ];
  for (const [count, target, style, which] of variants)
    testKills(`${count} repositories, target in ${target}, ${style}: all of it or nothing`, {
      decided: "merge-journal decided",
      isVariant: count === 1,
      async kill(choose) {
        const approve = { ...APPROVE, input: { ...APPROVE.input, style } };
        const names = await stepsOf(count, target, approve);
        const outcomes = new Set<boolean>();
        await each(
          choose(momentsOf(names), ({ name }) => which.test(name)),
          async ({ name, n }) => {
            const ready = fresh(count, target);
            const context = `killed at step ${n}, ${name}`;
            expect(await job(ready, { ...approve, killAtStep: n }), context).toBeUndefined();
            await goOn(ready, context);
            const isMerged = expectTruth(ready, target, context);
            outcomes.add(isMerged);
            expect(isMerged, context).toBe(n > names.indexOf("merge-journal decided") + 1);
            if (!isMerged && n % 4 === 0) {
              expect(await here(ready, approve), context).toMatchObject({ ok: true });
              expect(inspect(ready, target), context).toEqual({ merged: true, complaints: [] });
            }
            for (const repo of isMerged ? ready.repos : [])
              expect(repo.git("log", "-1", "--format=%P", "main").split(" "), context).toHaveLength(
                style === "merge" ? 2 : 1,
              );
            rmSync(ready.root, { recursive: true, force: true });
          },
        );
        // Up to that one moment every kill leaves nothing, and from then on every kill leaves all of it.
        expect(outcomes).toEqual(new Set([false, true]));
      },
    });

  test.each([
    ["one repository's files written", "merge-lock-index", 2, false],
    ["one repository's branch moved", "merge-ref", 2, true],
  ])(
    "and kill -9 of the command that recovers, with %s",
    { tags: ["long"], timeout: 600_000 },
    async (_what, name, nth, merged) => {
      const names = await stepsOf(2, "main worktree");
      const at = names.flatMap((one, index) => (one === name ? [index + 1] : []))[nth - 1] as number;
      const killed = async () => {
        const ready = fresh(2, "main worktree");
        expect(await job(ready, { ...APPROVE, killAtStep: at })).toBeUndefined();
        return ready;
      };
      const { steps } = (await job(await killed(), NEXT)) as Report;
      const moments = steps.flatMap((one, index) => (one.startsWith("merge-") ? [index + 1] : []));
      expect(moments.length).toBeGreaterThan(5);
      await each(moments, async (n) => {
        const ready = await killed();
        const context = `the recovery killed at ${steps[n - 1]}`;
        expect(await job(ready, { ...NEXT, killAtStep: n }), context).toBeUndefined();
        expect(await here(ready, NEXT), context).toMatchObject({ ok: true });
        expect(expectTruth(ready, "main worktree", context)).toBe(merged);
        rmSync(ready.root, { recursive: true, force: true });
      });
    },
  );
});

test("the same command publishes what a kill left merged and unpublished; until then a look tells that it was interrupted", {
  tags: ["proof"],
}, async () => {
  const push = { ...APPROVE, input: { task: "T1", push: true } };
  const names = await stepsOf(1, "main worktree");
  const ready = fresh(1, "main worktree");
  const [repo] = ready.repos as [Ready["repos"][0]];
  const { remote } = makeRemote(repo, ready);
  expect(await job(ready, { ...push, killAtStep: names.indexOf("merge-ref") + 2 })).toBeUndefined();
  expect((await repo.pawl("status", "--json")).json).toMatchObject({
    next: { command: "pawl approve T0001" },
    warnings: expect.arrayContaining([expect.stringContaining("The merge of T0001 was interrupted")]),
  });
  expect(await here(ready, push)).toMatchObject({ ok: true });
  expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
  expect(gitIn(ready, remote, "rev-parse", "main")).toBe(repo.git("rev-parse", "main"));
});

describe("kill -9 of git itself", { tags: ["proof"] }, () => {
  test("while it holds the locks of the branches: the approver completes what was decided, and no lock stays", async () => {
    const ready = fresh(2, "main worktree");
    // At this step both branches are locked; gits that die now leave refs/heads/main.lock and HEAD.lock.
    const report = await job(ready, { ...APPROVE, killGitsAt: "merge-lock-index" });
    expect(report).toMatchObject({ ok: true });
    expect(expectTruth(ready, "main worktree", "killed gits, completed by the approver itself")).toBe(true);
  });

  test("and of the approver right after: the next command finds both, and the locks go", async () => {
    const names = await stepsOf(2, "main worktree");
    const ready = fresh(2, "main worktree");
    const at = names.indexOf("merge-lock-index") + 1;
    const both = { killGitsAt: "merge-lock-index", killAtStep: at + 1 };
    expect(await job(ready, { ...APPROVE, ...both })).toBeUndefined();
    for (const repo of ready.repos)
      for (const lock of ["refs/heads/main.lock", "HEAD.lock"])
        expect(existsSync(join(repo.path, ".git", lock)), lock).toBe(true);
    expect(await here(ready, NEXT)).toMatchObject({ ok: true });
    expect(expectTruth(ready, "main worktree", "killed gits")).toBe(false);
  });

  test("a lock of somebody else's git is not ours to remove", async () => {
    const names = await stepsOf(1, "nowhere");
    const ready = fresh(1, "nowhere");
    const at = names.indexOf("merge-ref") + 1;
    expect(await job(ready, { ...APPROVE, killAtStep: at })).toBeUndefined();
    const [repo] = ready.repos as [Ready["repos"][0]];
    const lock = join(repo.path, ".git/refs/heads/main.lock");
    // The git that the killed approver left behind takes its own lock away when it notices.
    await vi.waitFor(() => expect(existsSync(lock)).toBe(false), { timeout: 50_000 });
    writeFileSync(lock, `${"1".repeat(40)}\n`);
    const blocked = await here(ready, NEXT);
    expect(blocked).toMatchObject({ ok: true });
    expect((blocked as { warnings: string[] }).warnings.join()).toContain("not settled yet");
    expect(readFileSync(lock, "utf8")).toContain("1111");
    rmSync(lock);
    expect(await here(ready, NEXT)).toMatchObject({ ok: true });
    expect(expectTruth(ready, "nowhere", "after the other git was done")).toBe(true);
  });
});

/** Git runs this for every `*.big` file that it writes; whoever made the file `armed` decides what happens at the 40th. */
function armFilter(ready: Ready, action: string): void {
  const script = join(ready.root, "smudge.sh");
  const count = join(ready.root, "count");
  const lines = [
    "#!/bin/sh",
    `echo x >> '${count}'`,
    `if [ -f '${ready.root}/armed' ] && [ $(wc -l < '${count}') -ge 40 ]; then`,
    // A shell may stand between git and its filter.
    '  GIT=$PPID; while [ "$(cat /proc/$GIT/comm)" != git ]; do GIT=$(ps -o ppid= -p $GIT | tr -d " "); done',
    '  APPROVER=$(ps -o ppid= -p $GIT | tr -d " ")',
    `  ${action}`,
    "fi",
    "exec cat",
  ];
  writeFileSync(script, `${lines.join("\n")}\n`, { mode: 0o755 });
  for (const repo of ready.repos) {
    repo.git("config", "filter.big.smudge", `'${script}'`);
    repo.git("config", "filter.big.clean", "cat");
    repo.git("config", "filter.big.required", "true");
  }
  writeFileSync(join(ready.root, "armed"), "");
}

const disarm = (ready: Ready) => rmSync(join(ready.root, "armed"));

/** The task also brings a hundred files through a filter, changes some and removes some. */
async function makeBig(): Promise<Ready> {
  const ready = fresh(1, "main worktree");
  const [repo] = ready.repos as [Ready["repos"][0]];
  const at = worktreeOf(repo);
  writeFileSync(join(at, ".gitattributes"), "*.big filter=big\n");
  for (let index = 0; index < 100; index++) {
    writeFileSync(join(at, "src", `${index}.big`), `${index}\n`.repeat(2_000));
  }
  for (const args of [
    ["add", "-A"],
    ["commit", "-q", "-m", "Many files"],
  ])
    gitIn(ready, at, ...args);
  for (const argv of [
    ["snapshot", "T1"],
    ["check", "T1", "--stage", "close"],
  ]) {
    if (argv[0] === "snapshot") await ok(repo.pawlIn(at, {}, "verify", "--", "test", "-d", "."));
    await ok(repo.pawl(...argv));
  }
  return ready;
}

describe("kill -9 inside the writing of files", { tags: ["proof"] }, () => {
  let big: Ready;
  beforeAll(async () => {
    big = await makeBig();
  });
  const another = (action: string) => {
    const ready = copyReady(big, join(folder, `copy ${++copies}`));
    armFilter(ready, action);
    return ready;
  };

  test("of git: the approver puts every file back", async () => {
    const ready = another("kill -9 $GIT; exit 1");
    const report = await job(ready, APPROVE);
    expect(report).toMatchObject({ ok: false });
    expect(expectTruth(ready, "main worktree", "read-tree killed")).toBe(false);
    disarm(ready);
    expect(await here(ready, APPROVE)).toMatchObject({ ok: true });
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
  });

  test("of git and the approver: the next command puts every file back, and keeps what the user wrote since", async () => {
    const ready = another("kill -9 $APPROVER $GIT; exit 1");
    const [repo] = ready.repos as [Ready["repos"][0]];
    expect(await job(ready, APPROVE)).toBeUndefined();
    expect(existsSync(join(repo.path, ".git/index.lock"))).toBe(true);
    expect(readdirSync(join(repo.path, "src")).length).toBeGreaterThan(20);
    disarm(ready);
    // A write that was cut off, an edit of the user's at a path that the merge touches, one elsewhere, and a new file.
    writeFileSync(join(repo.path, "src/0.big"), "0\n0\n0");
    writeFileSync(join(repo.path, "src/changed.txt"), "what I wrote after the crash\n");
    writeFileSync(join(repo.path, "src/kept.txt"), "my edit elsewhere\n");
    writeFileSync(join(repo.path, "src/mine.txt"), "my new file\n");
    const report = (await here(ready, NEXT)) as Answer & { ok: true };
    expect(report).toMatchObject({ ok: true });
    expect(repo.git("status", "--porcelain", "-uall").split("\n").sort()).toEqual(
      ["M src/changed.txt", " M src/kept.txt", "?? src/mine.txt", "?? notes.txt"].sort(),
    );
    expect(readFileSync(join(repo.path, "src/changed.txt"), "utf8")).toBe("what I wrote after the crash\n");
    const rescued = join(repo.path, ".git/pawl/rescued/T0001-A1/src/changed.txt");
    expect(readFileSync(rescued, "utf8")).toBe("what I wrote after the crash\n");
    expect(report.warnings.join("\n")).toContain("src/changed.txt has changed in the meantime and stays");
  });

  test("of the approver alone: the git that it left behind is waited for", async () => {
    const ready = another('[ -f "$0.once" ] || { : > "$0.once"; kill -9 $APPROVER; }; sleep 0.05');
    expect(await job(ready, APPROVE)).toBeUndefined();
    expect(await here(ready, NEXT)).toMatchObject({ ok: true });
    expect(expectTruth(ready, "main worktree", "an orphan was writing")).toBe(false);
  });
});

describe("eight approvals at once", { tags: ["proof"] }, () => {
  const codesOf = (reports: readonly (Report | undefined)[]) =>
    reports.map((one) => (one?.ok ? "ok" : (one?.code ?? "killed"))).sort();

  test("of the same task: it lands once, and the others are told so", async () => {
    const ready = fresh(2, "main worktree");
    const reports = await Promise.all(Array.from({ length: 8 }, () => job(ready, APPROVE)));
    const codes = codesOf(reports);
    expect(codes.filter((one) => one === "ok")).toHaveLength(1);
    for (const code of codes.filter((one) => one !== "ok"))
      expect(["already_merged", "base_moved", "changed_meanwhile", "target_dirty", "index_locked"]).toContain(
        code,
      );
    expect(expectTruth(ready, "main worktree", "eight at once")).toBe(true);
    expect(recordOf(ready, "approvals/A2.md")).toBe("");
  });

  test("of different tasks: each lands once or is refused with a reason", async () => {
    const ready = fresh(1, "main worktree");
    const [repo] = ready.repos as [Ready["repos"][0]];
    for (let number = 2; number <= 8; number++) {
      const [id, at] = [`T000${number}`, join(repo.path, `.worktrees/T000${number}-task-${number}`)];
      await ok(repo.pawl("task", "new", `Task ${number}`, "--profile", "light"));
      await ok(repo.pawl("start", id));
      writeFileSync(join(at, `${id}.txt`), "x\n");
      for (const args of [
        ["add", "-A"],
        ["commit", "-q", "-m", id],
      ])
        gitIn(ready, at, ...args);
      await ok(repo.pawlIn(at, {}, "verify", "--", "test", "-d", "."));
      await ok(repo.pawl("handoff", id, "--what", "Done", "--next", "Approve it"));
      await ok(repo.pawl("snapshot", id));
      await ok(repo.pawl("check", id, "--stage", "close"));
    }
    const before = repo.git("rev-parse", "main");
    const ids = Array.from({ length: 8 }, (_one, index) => `T000${index + 1}`);
    const reports = await Promise.all(
      ids.map((id) => job(ready, { operation: "approve", input: { task: id }, typed: id })),
    );
    const landed = ids.filter((_id, index) => reports[index]?.ok);
    expect(landed.length).toBeGreaterThan(0);
    for (const code of codesOf(reports).filter((one) => one !== "ok"))
      expect(["base_moved", "target_dirty", "index_locked", "changed_meanwhile"]).toContain(code);
    const merged = repo.git(
      "log",
      "--first-parent",
      "--format=%(trailers:key=Pawl-Task,valueonly)",
      `${before}..main`,
    );
    expect(merged.split("\n").filter(Boolean).sort()).toEqual(landed);
    for (const id of ids)
      expect(statusOf(readFileSync(join(stateOf(repo), "tasks", id, "task.md"), "utf8"))).toBe(
        landed.includes(id) ? "merged" : "active",
      );
    expect(repo.git("status", "--porcelain")).toBe("?? notes.txt");
  }, 120_000);
});
