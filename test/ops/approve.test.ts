import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { observeSteps } from "../../src/model/steps.ts";
import type { Project } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import {
  approveIt,
  copyReady,
  gitIn,
  inspect,
  makeReady,
  ok,
  placeTarget,
  pressesCtrlC,
  type Ready,
  type Target,
  typing,
  worktreeOf,
} from "../helpers/ready-task.ts";
import { inTiers } from "../helpers/rows.ts";
import { makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";
import { commitIn, makeRemote, pass, publish, REFUSALS, type Refusal } from "./approve-refusals.ts";

let folder: string;
let single: Ready;
let double: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("approve");
  single = await makeReady(join(folder, "single"), 1);
  double = await makeReady(join(folder, "double"), 2);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
afterEach(() => observeSteps(() => {}));

const fresh = (ready: Ready) => copyReady(ready, join(folder, `copy ${++copies}`));
const homeOf = (ready: Ready) => ready.repos[0] as Project;

describe("a merge", () => {
  for (const target of ["main worktree", "linked worktree", "nowhere"] as Target[])
    test(`lands in both repositories with the target in ${target}, and brings its checkout along`, async () => {
      const ready = fresh(double);
      placeTarget(ready, target);
      const before = ready.repos.map((repo) => repo.git("rev-parse", "main"));
      const done = await approveIt(ready);
      expect(done.json.error ?? done.code).toBe(0);
      expect(inspect(ready, target)).toEqual({ merged: true, complaints: [] });
      for (const [index, repo] of ready.repos.entries()) {
        const head = gitIn(ready, worktreeOf(repo), "rev-parse", "HEAD");
        expect(repo.git("log", "-1", "--format=%P %an %s", "main")).toBe(
          `${before[index]} ${head} Ada Merge T0001: Change it all`,
        );
        expect(repo.git("rev-parse", "main^{tree}")).toBe(repo.git("rev-parse", `${head}^{tree}`));
        expect(repo.git("log", "-1", "--format=%(trailers:only)", "main")).toBe(
          "Pawl-Task: T0001\nPawl-Approval: T0001/A1",
        );
        expect(repo.git("reflog", "-1", "--format=%gs", "main")).toBe("pawl: merge T0001 (T0001/A1)");
        expect(done.json.data.approval.repos[index]).toMatchObject({
          ...{ old: before[index], new: repo.git("rev-parse", "main"), head, pushed: false },
        });
      }
      const read = (path: string) => homeOf(ready).read(`tasks/T0001/${path}`);
      expect(read("task.md")).toContain("status: merged");
      const home = homeOf(ready).git("rev-parse", "main");
      // A commit of digits only is quoted, so that nobody takes it for a number.
      expect(read("findings/F1.md")).toMatch(new RegExp(`^integrated_commit: "?${home}"?$`, "m"));
      expect(done.err).toMatch(
        /Change it all[\s\S]*1 file|11 files changed[\s\S]*Evidence[\s\S]*Last handoff/,
      );
    });

  test("leaves a task that pawl and finish offer to end, unless another is named by where one stands", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const home = homeOf(ready);
    await ok(home.pawl("install", "--yes", "--profile", "hooks"));
    await ok(home.pawl("task", "new", "Something else"));
    await ok(approveIt(ready));
    const told = await ok(home.pawl("status", "--json"));
    expect(told.json.data.status.merged_unfinished).toEqual(["T0001"]);
    expect(told.json.next.command).toBe("pawl finish T0001");
    expect((await home.pawl("status")).out).toMatch(/^to finish +T0001 /m);
    expect((await home.pawl("finish", "--json")).json.error).toMatchObject({
      code: "which_task",
      hint: "pawl finish T0001  Change it all",
      details: { candidates: ["T0001"] },
    });
    await ok(home.pawl("finish", "T1"));
    expect((await home.pawl("status", "--json")).json.data.status.merged_unfinished).toEqual([]);
    expect((await home.pawl("finish", "--json")).json.error.details.candidates).toEqual(["T0002"]);
  });

  /** With a second commit on the branch, checked again. */
  async function twoCommits(): Promise<Ready> {
    const ready = fresh(single);
    await ok(homeOf(ready).pawl("install", "--yes", "--profile", "hooks"));
    commitIn(ready, worktreeOf(homeOf(ready)), "more.txt", "more\n");
    await ok(homeOf(ready).pawl("verify", "T1", "--", "test", "-d", "."));
    return ready;
  }
  const audited = async (ready: Ready) => {
    const { code, json } = await homeOf(ready).pawl("audit", "--offline", "--json");
    return { code, counts: json.data.audit.branches[0].counts };
  };

  test("as a squash: one commit with the checked tree, which audit and finish know", async () => {
    const ready = await twoCommits();
    const home = homeOf(ready);
    const before = home.git("rev-parse", "main");
    const head = gitIn(ready, worktreeOf(home), "rev-parse", "HEAD");
    const done = await approveIt(ready, "--style", "squash");
    expect(done.json.error ?? done.code).toBe(0);
    expect(home.git("log", "-1", "--format=%P %s", "main")).toBe(`${before} Change it all (T0001)`);
    expect(home.git("log", "-1", "--format=%b", "main")).toMatch(/^\* .*more\.txt[\s\S]*\* Change it all/);
    expect(home.git("rev-parse", "main^{tree}")).toBe(home.git("rev-parse", `${head}^{tree}`));
    expect(done.json.data.approval.repos[0]).toMatchObject({ style: "squash", head });
    expect(done.err).toContain("as one commit with the same tree (squash)");
    expect(await audited(ready)).toMatchObject({ code: 0, counts: { approved: 1, unexplained: 0 } });
    const ended = await ok(home.pawl("finish", "T1", "--json"));
    expect(ended.json).toMatchObject({ data: { task: { status: "done" } }, warnings: [] });
  });

  test("as a fast-forward: the base is at the checked commit, and every commit on the way is approved", async () => {
    const ready = await twoCommits();
    const home = homeOf(ready);
    const head = gitIn(ready, worktreeOf(home), "rev-parse", "HEAD");
    const done = await approveIt(ready, "--style", "ff");
    expect(done.json.error ?? done.code).toBe(0);
    expect(home.git("rev-parse", "main")).toBe(head);
    expect(done.err).toContain("fast-forwarded to that commit (ff)");
    expect(await audited(ready)).toMatchObject({ code: 0, counts: { approved: 2, unexplained: 0 } });
    expect((await ok(home.pawl("finish", "T1", "--json"))).json.data.task.status).toBe("done");
  });

  test("the policy's fast-forward is refused to a branch that merged its base, or that changes the policy to and fro", {
    tags: ["proof"],
  }, async () => {
    const crooked = fresh(single);
    homeOf(crooked).write(".pawl/config.yaml", "style: ff\n");
    homeOf(crooked).git("add", "-f", ".pawl/config.yaml");
    homeOf(crooked).git("commit", "-q", "-m", "Only fast-forwards");
    await ok(homeOf(crooked).pawl("refresh", "T1"));
    await ok(homeOf(crooked).pawl("verify", "T1", "--", "test", "-d", "."));
    expect((await approveIt(crooked)).json.error).toMatchObject({
      code: "not_straight",
      message: expect.stringContaining("has merged main"),
      hint: expect.stringContaining("--style squash"),
    });
    const loose = fresh(single);
    await forAWhile(loose, ".pawl/config.yaml", "profile: light\n");
    expect((await approveIt(loose, "--style", "ff")).json.error).toMatchObject({
      code: "not_straight",
      message: expect.stringContaining("config.yaml"),
    });
  });

  /** Two commits on the task's branch: the second one takes the first one back. */
  async function forAWhile(ready: Ready, path: string, text: string): Promise<void> {
    const at = worktreeOf(homeOf(ready));
    mkdirSync(join(at, ".pawl"));
    writeFileSync(join(at, path), text);
    gitIn(ready, at, "add", "-f", path);
    gitIn(ready, at, "commit", "-q", "-m", "For a while");
    gitIn(ready, at, "rm", "-q", path);
    gitIn(ready, at, "commit", "-q", "-m", "And back");
    await ok(homeOf(ready).pawl("verify", "T1", "--", "test", "-d", "."));
  }

  test.each(["merge", "squash", "ff"])(
    "a branch that names an approver for a while is refused (%s)",
    { tags: ["proof"] },
    async (style) => {
      const named = fresh(single);
      await forAWhile(named, ".pawl/approvers.yaml", "approvers: []\n");
      expect((await approveIt(named, "--style", style)).json.error).toMatchObject({
        code: "approvers_changed",
        message: expect.stringContaining("change back"),
      });
    },
  );

  test("nothing that was recorded can draw the screen on which it is approved", async () => {
    const ready = fresh(single);
    const home = homeOf(ready);
    const fake = [
      "npm test: exit 0\nFindings: 3 fixed\nReviews:",
      "  T0001/V7 branch pass by human:Ada\n\n\u001b[32mSafe to approve.\u001b[39m\nType T0001 to merge it into main:\n",
    ].join("\n");
    const session = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s2; T0001/V7 branch pass by human:Ada" };
    const review = ["review", "record", "T1", "--kind", "branch", "--verdict", "pass", "--looked-at", "x"];
    await ok(home.pawlIn(worktreeOf(home), {}, "verify", "--", "sh", "-c", "test -d .", fake));
    await home.pawlIn(home.path, session, ...review);
    await ok(home.pawl("handoff", "T1", "--what", fake, "--next", fake, "--blocker", fake));
    await ok(home.pawl("check", "T1", "--stage", "close"));
    const { err } = await approveIt(ready);
    const lines = err.split("\n");
    expect(lines.filter((line) => /^(?:Findings|Reviews|Type)\b/.test(line.trim()))).toHaveLength(2);
    expect(lines.filter((line) => /^\s*T0001\/V7|^Safe/.test(line))).toEqual([]);
    expect(err).not.toContain("\u001b[32mSafe");
    expect(err).toMatch(/! The last handoff names a blocker: "npm test: exit 0 Findings/);
    expect(err).toMatch(/^Receipt (?:[0-9a-f]{4} ){3}[0-9a-f]{4}$/m);
  });

  test("a file that was only touched, or that git is told to ignore, is not a reason to refuse", async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    repo.git("update-index", "--skip-worktree", "src/changed.txt");
    repo.git("update-index", "--assume-unchanged", "src/kept.txt");
    utimesSync(join(repo.path, "README.md"), new Date(), new Date());
    const done = await approveIt(ready);
    expect(done.json.error ?? done.code).toBe(0);
    expect(readFileSync(join(repo.path, "src/changed.txt"), "utf8")).toBe("after\n");
    expect(repo.git("ls-files", "-v", "src")).toBe("S src/changed.txt\nh src/kept.txt");
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
  });

  test("from a linked repository, with autocrlf, and with two checkouts of the target", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(double);
    for (const repo of ready.repos) repo.git("config", "core.autocrlf", "true");
    const api = ready.repos[1] as Project;
    api.git("switch", "-q", "-c", "elsewhere");
    for (const name of ["one", "two"]) api.git("worktree", "add", "-q", "-f", `${api.path} ${name}`, "main");
    const done = await typing(ready, { typed: "t1", cwd: api.path }, "approve", "T1");
    expect(done.json.error ?? done.code).toBe(0);
    for (const name of ["one", "two"]) {
      expect(gitIn(ready, `${api.path} ${name}`, "status", "--porcelain")).toBe("");
      expect(readFileSync(join(`${api.path} ${name}`, "src/changed.txt"), "utf8")).toBe("after\r\n");
    }
  });

  test("a dry run says what would be merged, and changes nothing", async () => {
    const ready = fresh(single);
    const done = await approveIt(ready, "--dry-run");
    expect(done.json.planned).toEqual([{ do: "merge", path: "task/T0001-change-it-all into main of shop" }]);
    expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
  });
});

/** The refusals that a user meets first; which others there are, the table of gates has its own tests for. */
const FIRST = [
  "not_confirmed",
  "already_merged",
  "review_missing",
  "check_failed",
  "target_dirty",
  "files_in_the_way",
  "base_moved",
];
const isFirst = (one: Refusal) =>
  FIRST.includes(one.code) && REFUSALS.find(({ code }) => code === one.code) === one;

describe("every refusal, on a real repository", () => {
  for (const { tags, rows } of inTiers(REFUSALS, isFirst))
    test.each(rows.map((one): [string, string, Refusal] => [one.code, one.because, one]))(
      "%s: %s",
      { tags },
      async (code, _because, { exit, argv, said, provoke }) => {
        const ready = fresh(single);
        const repo = homeOf(ready);
        await provoke(repo, ready);
        const refs = () => repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads");
        const files = () => repo.git("status", "--porcelain", "-uall");
        const moves = ["base_moved", "target_dirty", "files_in_the_way"];
        const [before, status] = [refs(), files()];
        const words = argv?.includes("--task") ? [] : ["T1"];
        const refused = await typing(ready, said ?? { typed: "T0001" }, "approve", ...words, ...(argv ?? []));
        observeSteps(() => {});
        expect(refused.json.error?.code, refused.out).toBe(code);
        expect(refused.code).toBe(exit ?? 1);
        expect(refused.json.error.message.length).toBeGreaterThan(10);
        if (!moves.includes(code)) expect([refs(), files()]).toEqual([before, status]);
        const merges = repo.git("log", "--branches", "--format=%(trailers:key=Pawl-Approval)");
        expect(merges.trim()).toBe(code === "already_merged" ? "Pawl-Approval: T0001/A1" : "");
        const left = join(stateOf(repo), ".local/merging");
        expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
      },
    );
});

describe("all repositories or none", () => {
  test.each([
    ["base_moved", "merge-prepare"],
    ["target_dirty", "merge-lock-index"],
  ])(
    "%s in the second one leaves the first as it was, and the record says so",
    { tags: ["proof"] },
    async (code, moment) => {
      const ready = fresh(double);
      const api = ready.repos[1] as Project;
      const before = homeOf(ready).git("rev-parse", "main");
      let seen = 0;
      observeSteps((step) => {
        if (step !== moment || ++seen !== 2) return;
        if (code === "target_dirty") api.write("src/changed.txt", "just now\n");
        else
          api.git(
            "update-ref",
            "refs/heads/main",
            api.git("commit-tree", "-p", "main", "-m", "x", "main^{tree}"),
          );
      });
      const refused = await approveIt(ready);
      observeSteps(() => {});
      expect(refused.json.error.code).toBe(code);
      expect(refused.json.error.details.repo).toBe("api");
      expect(homeOf(ready).git("rev-parse", "main")).toBe(before);
      expect(homeOf(ready).git("status", "--porcelain")).toBe("?? notes.txt");
      const record = homeOf(ready).read("tasks/T0001/approvals/A1.md");
      expect(record).toContain("status: rolled_back");
      expect(record).toMatch(/## Trouble\n\n.*(?:no longer at|changed in)/);
      if (code === "target_dirty") {
        expect(readFileSync(join(api.path, "src/changed.txt"), "utf8")).toBe("just now\n");
        api.git("checkout", "-q", "--", "src/changed.txt");
        const done = await approveIt(ready);
        expect(done.json.data.approval.id).toBe("T0001/A2");
        expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
      }
    },
  );

  test("a merge that is decided but cannot be completed is completed by the next command", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    const lock = join(repo.path, ".git/refs/heads/main.lock");
    let tries = 0;
    observeSteps((step) => {
      if (step !== "merge-ref") return;
      // First our own git loses its lock, and then somebody who does not let go has it.
      if (++tries === 1) rmSync(lock);
      else writeFileSync(lock, `${"1".repeat(40)}\n`);
    });
    const stuck = await approveIt(ready);
    observeSteps(() => {});
    expect([stuck.code, stuck.json.error.code]).toEqual([2, "merge_unfinished"]);
    rmSync(lock, { force: true });
    const next = await repo.pawl("note", "add", "another command", "--json");
    expect(next.json.warnings[0]).toContain("it was completed");
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
    expect(repo.read("tasks/T0001/approvals/A1.md")).toContain("status: merged");
  });
});

describe("a human takes minutes", () => {
  const during = (ready: Ready, meanwhile: () => void) =>
    typing(ready, { typed: "T0001", meanwhile }, "approve", "T1");

  test("the base moves while the question is open", async () => {
    const ready = fresh(single);
    const refused = await during(ready, () => commitIn(ready, homeOf(ready).path, "other.txt", "x\n"));
    expect(refused.json.error.code).toBe("base_moved");
  });

  test("the agent keeps working: what was shown is no longer what is there", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    const program = await bundlePawl(join(folder, `program ${++copies}`));
    // Even a fresh receipt does not help: the human has not seen that commit.
    const refused = await onTerminal(program, repo, ["approve", "T1"], "T0001", async () => {
      commitIn(ready, worktreeOf(repo), "late.txt", "x\n");
      await pass(repo);
    });
    expect([refused.code, refused.out]).toEqual([
      1,
      expect.stringContaining("has changed since you were shown it"),
    ]);
    expect(inspect(ready, "main worktree")).toEqual({ merged: false, complaints: [] });
    const stopped = await onTerminal(program, repo, ["approve", "T1"], "\x03");
    expect([stopped.code, stopped.out]).toEqual([
      130,
      expect.stringMatching(/\npawl: Stopped; nothing was merged\. To go on: pawl approve T0001\n$/),
    ]);
    const typo = await onTerminal(program, repo, ["approve", "T1"], "T0002");
    expect([typo.code, typo.out]).toEqual([1, expect.stringContaining("Not confirmed")]);
    const done = await onTerminal(program, repo, ["approve", "T1"], "T0001");
    expect([done.code, done.out]).toEqual([0, expect.stringContaining("Type T0001 to merge it into main: ")]);
    expect(done.out).toMatch(/2 commits:[\s\S]*late\.txt[\s\S]*T0001\/A1 merged/);
  });

  test("a wrong word and Ctrl-C name the very command that goes on", async () => {
    const ready = fresh(single);
    const flags = ["--finish", "--offline", "--style", "squash"];
    const words = `thing was merged. To go on: pawl approve T0001 ${flags.join(" ")}`;
    const typo = await typing(ready, { typed: "T0002" }, "approve", "T1", ...flags);
    expect(typo.json.error).toMatchObject({ code: "not_confirmed", hint: `No${words}` });
    const stopped = await typing(ready, { typed: pressesCtrlC }, "approve", "T1", ...flags);
    expect([stopped.code, stopped.json.error.message]).toEqual([130, `Stopped; no${words}`]);
  });

  test("a pipe is not a terminal, whatever it says", () => {
    const ready = fresh(single);
    const main = homeOf(ready).git("rev-parse", "main");
    return bundlePawl(join(folder, `program ${++copies}`)).then((program) => {
      const run = spawnSync(process.execPath, [program, "approve", "T1", "--json"], {
        ...{ cwd: homeOf(ready).path, env: ready.env, input: "T0001\nT0001\n", encoding: "utf8" },
      });
      expect([run.status, JSON.parse(run.stdout).error.code]).toEqual([1, "no_terminal"]);
      expect(homeOf(ready).git("rev-parse", "main")).toBe(main);
    });
  });
});

describe("--push and --redo", () => {
  const mainOf = (ready: Ready, remote: string) => gitIn(ready, remote, "rev-parse", "main");

  test("publishes, and says so in the record", async () => {
    const ready = fresh(single);
    const { remote } = makeRemote(homeOf(ready), ready);
    const done = await approveIt(ready, "--push");
    expect(done.json.error ?? done.json.data.approval.repos[0].pushed).toBe(true);
    expect(mainOf(ready, remote)).toBe(homeOf(ready).git("rev-parse", "main"));
    expect((await approveIt(ready, "--redo")).json.error.code).toBe("nothing_to_redo");
  });

  test("asked for again after a merge that was not published, it publishes that; approve and finish name the push", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const { remote } = makeRemote(homeOf(ready), ready);
    const before = mainOf(ready, remote);
    await ok(approveIt(ready));
    const merged = homeOf(ready).git("rev-parse", "main");
    const push = "main is merged in this clone alone. To publish it: git push origin main";
    expect((await approveIt(ready)).json.error).toMatchObject({
      code: "already_merged",
      hint: `${push}\npawl finish T0001 --remove --reason merged`,
    });
    const kept = await ok(homeOf(ready).pawl("finish", "T1", "--keep", "--reason", "later", "--json"));
    expect(kept.json.warnings).toContain(push);
    expect(mainOf(ready, remote)).toBe(before);
    const done = await ok(approveIt(ready, "--push"));
    expect(done.json.data.approval).toMatchObject({ id: "T0001/A1", repos: [{ pushed: true }] });
    expect(mainOf(ready, remote)).toBe(merged);
    const ended = await ok(homeOf(ready).pawl("finish", "T1", "--json"));
    expect(ended.json.warnings).toEqual([expect.stringMatching(/^origin still has task\/T0001-/)]);
  });

  /** The remote moves between our fetch and our push. */
  async function overtaken(
    path: string,
    text: string,
    check?: string,
  ): Promise<{ ready: Ready; remote: string }> {
    const ready = fresh(single);
    const repo = homeOf(ready);
    if (check !== undefined) {
      await ok(repo.pawlIn(worktreeOf(repo), {}, "verify", "--", "sh", "-c", check));
      await ok(repo.pawl("check", "T1", "--stage", "close"));
    }
    const { remote, colleague } = makeRemote(repo, ready);
    let seen = false;
    observeSteps((step) => {
      if (step !== "merge-ref" || seen) return;
      seen = true;
      publish(ready, colleague, path, text);
    });
    const late = await approveIt(ready, "--push");
    observeSteps(() => {});
    expect([late.code, late.json.error.code, late.json.error.hint]).toEqual([
      ...[1, "push_rejected", "pawl approve T0001 --redo --push"],
    ]);
    return { ready, remote };
  }

  test("a remote that was faster: merged again on its tip, checked again, and published", async () => {
    const { ready, remote } = await overtaken(
      "theirs.txt",
      "x\n",
      "test -f README.md && echo ran >> ../../ran",
    );
    const repo = homeOf(ready);
    rmSync(join(repo.path, "ran"), { force: true });
    const theirs = mainOf(ready, remote);
    const head = gitIn(ready, worktreeOf(repo), "rev-parse", "HEAD");
    const agent = await typing(
      ready,
      { typed: "T0001", env: { CLAUDECODE: "1" } },
      ...["approve", "T1", "--redo", "--push"],
    );
    expect(agent.json.error.code).toBe("human_only");
    const done = await approveIt(ready, "--redo", "--push");
    expect(done.json.error ?? done.code).toBe(0);
    expect(readFileSync(join(repo.path, "ran"), "utf8")).toBe("ran\n");
    rmSync(join(repo.path, "ran"));
    expect(done.json.data.approval).toMatchObject({ id: "T0001/A2", redo_of: "T0001/A1" });
    expect(repo.git("log", "-1", "--format=%P", "main")).toBe(`${theirs} ${head}`);
    expect(mainOf(ready, remote)).toBe(repo.git("rev-parse", "main"));
    expect(readFileSync(join(repo.path, "theirs.txt"), "utf8")).toBe("x\n");
    expect(repo.git("worktree", "list", "--porcelain")).not.toContain("pawl-try-");
    expect(inspect(ready, "main worktree")).toEqual({ merged: true, complaints: [] });
    expect(repo.read("tasks/T0001/findings/F1.md")).toContain(repo.git("rev-parse", "main"));
  });

  test.each([
    ["unmergeable", "src/changed.txt", "theirs\n", undefined, () => {}],
    ["check_failed", "theirs.txt", "x\n", "test ! -f theirs.txt", () => {}],
    [
      "base_has_more",
      "theirs.txt",
      "x\n",
      undefined,
      (repo: Project) => repo.git("commit", "-q", "--allow-empty", "-m", "more"),
    ],
    ["target_dirty", "theirs.txt", "x\n", undefined, (repo: Project) => repo.write("src/kept.txt", "mine\n")],
  ] as const)("%s: nothing is moved", { tags: ["proof"] }, async (code, path, text, check, provoke) => {
    const { ready } = await overtaken(path, text, check);
    const repo = homeOf(ready);
    provoke(repo);
    const main = repo.git("rev-parse", "main");
    const refused = await approveIt(ready, "--redo", "--push");
    expect(refused.json.error?.code, refused.out).toBe(code);
    expect(repo.git("rev-parse", "main")).toBe(main);
    expect(repo.git("worktree", "list", "--porcelain")).not.toContain("pawl-try-");
  });

  test("a project without checks redoes a merge whose task is finished and whose branch is gone", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const repo = homeOf(ready);
    repo.write(".pawl/config.yaml", "checks: none\n");
    repo.git("add", "-f", ".pawl/config.yaml");
    repo.git("commit", "-q", "-m", "No checks");
    const { remote, colleague } = makeRemote(repo, ready);
    await ok(repo.pawl("refresh", "T1"));
    await ok(repo.pawl("check", "T1", "--stage", "close", "--fix"));
    await ok(approveIt(ready, "--finish"));
    publish(ready, colleague, "theirs.txt", "x\n");
    const done = await approveIt(ready, "--redo", "--push");
    expect(done.json.error ?? done.code).toBe(0);
    expect(mainOf(ready, remote)).toBe(repo.git("rev-parse", "main"));
    expect(readFileSync(join(repo.path, "theirs.txt"), "utf8")).toBe("x\n");
    // The merge was tried out where the task's worktree had been, and finish had left that place empty.
    expect(existsSync(join(repo.path, ".worktrees"))).toBe(false);
  });

  test("the approval of another task names the merge that the remote went on without", {
    tags: ["proof"],
  }, async () => {
    const { ready } = await overtaken("theirs.txt", "x\n");
    const repo = homeOf(ready);
    await ok(repo.pawl("task", "new", "Another one", "--profile", "light"));
    await ok(repo.pawl("start", "T2"));
    const place = join(repo.path, ".worktrees/T0002-another-one");
    writeFileSync(join(place, "other.txt"), "other\n");
    gitIn(ready, place, "add", "other.txt");
    gitIn(ready, place, "commit", "-q", "-m", "Other");
    await ok(repo.pawl("verify", "T2", "--", "test", "-f", "other.txt"));
    const refused = await typing(ready, { typed: "T0002" }, "approve", "T2", "--push");
    expect([refused.json.error.code, refused.json.error.hint]).toEqual([
      ...["base_diverged", "pawl approve T0001 --redo --push"],
    ]);
  });

  test("there is nothing to redo before there is a merge", async () => {
    expect((await approveIt(fresh(single), "--redo")).json.error.code).toBe("not_merged");
  });

  test("a remote that refuses, and one that is away: merged here, and told", {
    tags: ["proof"],
  }, async () => {
    const ready = fresh(single);
    const { remote } = makeRemote(homeOf(ready), ready);
    const hook = join(remote, "hooks/pre-receive");
    mkdirSync(join(remote, "hooks"), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho not on a friday >&2\nexit 1\n", { mode: 0o755 });
    const refused = await approveIt(ready, "--push");
    expect([refused.code, refused.json.error.code]).toEqual([1, "push_refused"]);
    rmSync(hook);
    renameSync(remote, `${remote} away`);
    const away = await approveIt(ready, "--redo", "--push", "--offline");
    expect([away.code, away.json.error.code]).toEqual([2, "remote_unreachable"]);
    renameSync(`${remote} away`, remote);
    const done = await approveIt(ready, "--redo", "--push");
    expect(done.json.data.approval).toMatchObject({ id: "T0001/A1", repos: [{ pushed: true }] });
    expect(mainOf(ready, remote)).toBe(homeOf(ready).git("rev-parse", "main"));
  });

  test("--offline does not ask, and the approval says so", async () => {
    const ready = fresh(single);
    homeOf(ready).git("remote", "add", "origin", "/nowhere/at all.git");
    const done = await approveIt(ready, "--offline");
    expect(done.json.error ?? done.code).toBe(0);
    expect(homeOf(ready).read("tasks/T0001/approvals/A1.md")).toContain("not asked whether they had moved");
  });
});
