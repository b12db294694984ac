import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { observeSteps } from "../../src/model/steps.ts";
import { openProject, type Project } from "../helpers/command-line.ts";
import { approveIt, copyReady, gitIn, makeReady, ok, type Ready, worktreeOf } from "../helpers/ready-task.ts";
import { makeRepository, makeTemporaryFolder, stateOf } from "../helpers/temporary-repository.ts";

/** Ways past the gate and ways to lose something that a reviewer found; each of them has to fail. */
let folder: string;
let single: Ready;
let copies = 0;

beforeAll(async () => {
  folder = makeTemporaryFolder("hostile");
  single = await makeReady(join(folder, "single"), 1);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
afterEach(() => observeSteps(() => {}));

function fresh(): { ready: Ready; home: Project; worktree: string; git: (...args: string[]) => string } {
  const ready = copyReady(single, join(folder, `copy ${++copies}`));
  const home = ready.repos[0] as Project;
  const worktree = worktreeOf(home);
  return { ready, home, worktree, git: (...args) => gitIn(ready, worktree, ...args) };
}

const AGENT = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "author" };

async function codes(home: Project, stage = "close"): Promise<string[]> {
  const { json } = await home.pawl("check", "T1", "--stage", stage, "--json");
  return json.error ? [json.error.code] : json.data.check.reasons.map((one: { code: string }) => one.code);
}

describe("what is merged is what the branch's own commit holds", () => {
  test("a replaced commit speaks for nothing", async () => {
    const { ready, home, worktree, git } = fresh();
    writeFileSync(join(worktree, "evil"), "evil\n");
    git("add", "-A");
    const other = git("commit-tree", git("write-tree"), "-p", "HEAD~1", "-m", "looks the same");
    git("reset", "-q", "--hard");
    git("replace", git("rev-parse", "HEAD"), other);
    rmSync(join(home.path, ".git/pawl/answers.cache"));
    await approveIt(ready);
    expect(home.git("--no-replace-objects", "ls-tree", "-r", "--name-only", "main")).not.toContain("evil");
  });

  test("a forged memory of facts is not believed by an approval", async () => {
    const { ready, home } = fresh();
    const file = join(home.path, ".git/pawl/answers.cache");
    const memory = JSON.parse(readFileSync(file, "utf8"));
    const right = home.git("rev-parse", "task/T0001-change-it-all^{tree}");
    const facts = memory.filter(([name]: [string]) => name.startsWith("facts "));
    expect(facts).not.toEqual([]);
    for (const [, , fact] of facts) fact.tree = home.git("rev-parse", "main^{tree}");
    writeFileSync(file, JSON.stringify(memory));
    const done = await approveIt(ready);
    expect(done.code).toBe(0);
    expect(home.git("rev-parse", "main^{tree}")).toBe(right);
  });

  test("a graft does not make a moved base part of the branch", async () => {
    const { home, git } = fresh();
    home.commit("later.txt", "on main\n");
    mkdirSync(join(home.path, ".git/info"), { recursive: true });
    writeFileSync(
      join(home.path, ".git/info/grafts"),
      `${git("rev-parse", "HEAD")} ${home.git("rev-parse", "main")}\n`,
    );
    expect(await codes(home)).toContain("base_moved");
  });

  test("a garbage collection in the middle of a merge takes nothing", async () => {
    const { ready, home } = fresh();
    observeSteps((name) => {
      if (name.startsWith("merge-") && name !== "merge-hold") home.git("prune", "--expire=now");
    });
    const done = await approveIt(ready);
    expect(done.json.error ?? done.code).toBe(0);
    expect(home.git("cat-file", "-t", "main")).toBe("commit");
    expect(home.git("for-each-ref", "refs/pawl/merging")).toBe("");
  });
});

test("attributes of the clone hide no change from whoever approves", async () => {
  const { ready, home } = fresh();
  mkdirSync(join(home.path, ".git/info"), { recursive: true });
  appendFileSync(join(home.path, ".git/info/attributes"), "* -diff\n");
  const done = await approveIt(ready, "--diff");
  expect(done.err).not.toContain("Binary files");
  expect(done.err).toMatch(/^ {2}\| \+/m);
});

test("whoever approves sees a folder that was put in front of the checks' PATH", async () => {
  const { ready, home } = fresh();
  const file = join(home.path, ".git/pawl/environment.json");
  const path = (home.env as { PATH: string }).PATH;
  writeFileSync(file, JSON.stringify({ PATH: `/tmp/somebody/else:${path}` }));
  const done = await approveIt(ready);
  expect(done.err.replaceAll("\n      : ", "")).toMatch(
    /^ {2}! Checks look for programs in "\/tmp\/somebody\/else", which your shell does not/m,
  );
});

test("a finding outlives a reset and a clean of the records", async () => {
  const { home } = fresh();
  await ok(home.pawl("finding", "add", "Backdoor", "--severity", "high", "--task", "T1"));
  const state = stateOf(home);
  home.git("-C", state, "reset", "-q", "--hard");
  home.git("-C", state, "clean", "-q", "-fdx", "-e", ".local");
  expect(await codes(home)).toContain("open_finding");
});

describe("evidence and reviews", () => {
  test("a file of the same size and time is seen to differ, whatever git is configured to compare", async () => {
    const { home, worktree, git } = fresh();
    git("config", "core.checkStat", "minimal");
    git("config", "core.trustctime", "false");
    const file = join(worktree, "README.md");
    const long = new Date(Date.now() - 60_000);
    utimesSync(file, long, long);
    git("update-index", "--refresh");
    writeFileSync(file, "#".repeat(statSync(file).size));
    utimesSync(file, long, long);
    expect(git("status", "--porcelain"), "git alone is content").toBe("");
    const { json } = await home.pawlIn(worktree, {}, "verify", "--json", "--", "test", "-d", ".");
    expect(json.data.evidence.tree).not.toBe(git("rev-parse", "HEAD^{tree}"));
  });

  test("a check of the policy runs at the top, wherever it is asked for", async () => {
    const { home, worktree, git } = fresh();
    home.git("add", "-f", "run.sh");
    mkdirSync(join(worktree, ".pawl"), { recursive: true });
    writeFileSync(join(worktree, ".pawl/config.yaml"), "checks:\n  test: sh test.sh\n");
    writeFileSync(join(worktree, "test.sh"), "exit 1\n");
    git("add", "-f", "-A");
    git("commit", "-q", "-m", "A test that fails");
    mkdirSync(join(worktree, "secret"));
    writeFileSync(join(worktree, "secret/test.sh"), "exit 0\n");
    const { code } = await home.pawlIn(join(worktree, "secret"), {}, "verify");
    expect(code).toBe(1);
  });

  test("whoever becomes an author after reviewing has reviewed nothing", async () => {
    const { home, worktree, git } = fresh();
    home.begin(AGENT);
    await ok(home.pawl("task", "update", "T1", "--profile", "standard"));
    await ok(home.pawlIn(worktree, AGENT, "review", "record", "--kind", "branch", "--verdict", "pass"));
    expect(await codes(home)).toEqual([]);
    await ok(home.pawlIn(worktree, AGENT, "verify", "--", "test", "-d", "."));
    expect(await codes(home)).toEqual(["review_missing"]);
    expect(git("status", "--porcelain")).toBe("");
  });

  test("another agent's clothes do not make another mind", async () => {
    const { home, worktree } = fresh();
    await ok(home.pawlIn(worktree, AGENT, "verify", "--", "test", "-d", "."));
    const record = ["review", "record", "--kind", "branch", "--verdict", "pass", "--json"];
    const codex = { CODEX_SESSION_ID: "its-own" };
    home.begin(AGENT, codex);
    const counts = async (env: Record<string, string>) =>
      (await home.pawlIn(worktree, env, ...record)).json.data.review.counts;
    expect(await counts({ ...AGENT, CODEX_CI: "1" })).toBe(false);
    expect(await counts({ ...AGENT, ...codex })).toBe(false);
    expect(await counts(codex)).toBe(true);
  });

  test("a verdict names the commit that was looked at, and is refused for a later one", async () => {
    const { home, worktree, git } = fresh();
    const started = await home.pawl("review", "start", "T1", "--kind", "branch", "--json");
    expect(started.json.data.changed).toContain("src/changed.txt");
    const seen = git("rev-parse", "HEAD").slice(0, 12);
    expect(started.json.next.command).toContain(`--head ${seen}`);
    writeFileSync(join(worktree, "late"), "added after the look\n");
    git("add", "-A");
    git("commit", "-q", "-m", "Late");
    const record = (head: string) =>
      home.pawl("review", "record", "T1", "--kind", "branch", "--verdict", "pass", "--head", head, "--json");
    expect((await record(seen)).json.error.code).toBe("branch_moved");
    expect((await record(git("rev-parse", "HEAD"))).code).toBe(0);
  });

  test("a plan is not reviewed by whoever wrote it", async () => {
    const { home } = fresh();
    home.write("plan.md", "Do it.\n");
    await ok(
      home.pawlIn(
        home.path,
        AGENT,
        "task",
        "new",
        "Planned",
        "--profile",
        "strict",
        "--plan-file",
        "plan.md",
      ),
    );
    const pass = ["review", "record", "T2", "--kind", "plan", "--verdict", "pass", "--json"];
    expect((await home.pawlIn(home.path, AGENT, ...pass)).json.data.review.counts).toBe(false);
    const other = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "another" };
    home.begin(AGENT, other);
    expect((await home.pawlIn(home.path, other, ...pass)).json.data.review.counts).toBe(true);
  });

  test("evidence that was edited by hand, or a finding that is gone, is reported before a receipt is given", async () => {
    const { home } = fresh();
    const evidence = join(stateOf(home), "tasks/T0001/evidence/E1.md");
    writeFileSync(evidence, readFileSync(evidence, "utf8").replace("duration_ms:", "duration_ms: 1\n# was:"));
    const altered = (await home.pawl("check", "T1", "--stage", "close", "--json")).json;
    expect(altered.error?.code ?? altered.data.check.reasons[0].code).toMatch(
      /record_altered|gate_unreadable/,
    );
    const other = fresh();
    rmSync(join(stateOf(other.home), "tasks/T0001/findings/F1.md"));
    expect(await codes(other.home)).toEqual(["record_missing"]);
  });
});

describe("a fix", () => {
  test("is a commit of the task's branch, also when the branch goes back", async () => {
    const { home, worktree, git } = fresh();
    await ok(home.pawl("finding", "add", "Wrong", "--severity", "high", "--kind", "branch", "--task", "T1"));
    const dangling = git("commit-tree", git("rev-parse", "HEAD^{tree}"), "-p", "HEAD", "-m", "no fix");
    const resolve = (where: string, ...more: string[]) =>
      home.pawlIn(where, {}, "finding", "resolve", "F2", "--task", "T1", "--json", ...more);
    expect((await resolve(worktree, "--commit", dangling)).json.error.code).toBe("fix_not_in_branch");
    expect((await resolve(home.path)).json.error.code).toMatch(
      /fix_not_in_branch|not_a_descendant|pending_uncommitted/,
    );
    writeFileSync(join(worktree, "fix"), "fixed\n");
    git("add", "-A");
    git("commit", "-q", "-m", "Fix");
    expect((await resolve(worktree)).code).toBe(0);
    git("reset", "-q", "--hard", "HEAD~1");
    expect(await codes(home)).toContain("fix_not_in_branch");
  });
});

test("a saved diff that is gone is missing", async () => {
  const { home } = fresh();
  home.git("update-ref", "-d", "refs/pawl/snapshots/T0001/R1");
  expect(await codes(home)).toEqual(["snapshot_missing"]);
});

describe("policy", () => {
  test("an agent makes no task that is lighter than the project's rule, and drops no dependency", async () => {
    const { home } = fresh();
    mkdirSync(join(home.path, ".pawl"), { recursive: true });
    writeFileSync(join(home.path, ".pawl/config.yaml"), "profile: strict\n");
    const light = ["task", "new", "Shortcut", "--profile", "light", "--json"];
    expect((await home.pawlIn(home.path, AGENT, ...light)).json.error.code).toBe("human_only");
    expect((await home.pawl(...light)).code).toBe(0);
    await ok(home.pawl("task", "update", "T2", "--depends", "T1"));
    const drop = ["task", "update", "T2", "--depends", "", "--json"];
    expect((await home.pawlIn(home.path, AGENT, ...drop)).json.error.code).toBe("human_only");
    expect((await home.pawl(...drop)).code).toBe(0);
  });

  test("control characters in what agents write do not reach the terminal", async () => {
    const { home, worktree } = fresh();
    await ok(
      home.pawlIn(worktree, AGENT, "handoff", "--what", "fine\u001b[2K\u001b[1Ahidden", "--next", "n"),
    );
    const { out } = await home.pawl("session", "T1");
    expect(out).toContain("fine");
    expect(out).not.toContain("\u001b[2K");
  });
});

describe("finish", () => {
  test("saves what is staged and lies in no file", async () => {
    const { home, worktree, git } = fresh();
    writeFileSync(join(worktree, "precious"), "PRECIOUS\n");
    git("add", "precious");
    const blob = git("rev-parse", ":precious");
    rmSync(join(worktree, "precious"));
    await ok(home.pawl("finish", "T1", "--remove", "--reason", "later"));
    expect(home.git("rev-list", "--all", "--objects")).toContain(blob);
  });

  test("refuses to delete a repository in an ignored folder", async () => {
    const { home, worktree, git } = fresh();
    git("init", "-q", "secret");
    writeFileSync(join(worktree, "secret/work"), "not committed anywhere else\n");
    const { json } = await home.pawl("finish", "T1", "--remove", "--reason", "x", "--json");
    expect(json.error.code).toBe("repository_inside");
    expect(existsSync(join(worktree, "secret/work"))).toBe(true);
  });
});

describe("places that move", () => {
  test("a renamed project keeps its name, and its task continues", async () => {
    const { ready, home } = fresh();
    const moved = `${home.path} renamed`;
    renameSync(home.path, moved);
    gitIn(ready, moved, "worktree", "repair", join(moved, ".worktrees/T0001-change-it-all"));
    const { json } = await home.pawlIn(moved, {}, "check", "T1", "--stage", "close", "--json");
    expect(json.data.check.reasons).toEqual([]);
  });

  test("a linked repository whose home is gone makes no second one", async () => {
    const root = makeTemporaryFolder("homes");
    const [home, api] = ["home", "api"].map((name) => openProject(makeRepository(root, name))) as [
      Project,
      Project,
    ];
    await ok(home.pawl("task", "new", "One"));
    await ok(home.pawl("repo", "add", "../api"));
    renameSync(home.path, join(root, "elsewhere"));
    for (const argv of [["status"], ["task", "new", "Two"]]) {
      const { code, json } = await api.pawl(...argv, "--json");
      expect([code, json.error.code]).toEqual([2, "home_missing"]);
    }
    expect(existsSync(home.path)).toBe(false);
    await ok(home.pawlIn(join(root, "elsewhere"), {}, "repo", "add", "../api"));
    expect((await api.pawl("task", "list", "--json")).json.data.tasks).toHaveLength(1);
    rmSync(root, { recursive: true, force: true });
  });

  test("a worktree whose git directory is gone is not taken for the one above it", async () => {
    const { home, worktree } = fresh();
    appendFileSync(join(worktree, ".git"), "");
    writeFileSync(join(worktree, ".git"), `gitdir: ${join(dirname(home.path), "nowhere")}\n`);
    const { code, json } = await home.pawlIn(worktree, {}, "verify", "--json", "--", "test", "-d", ".");
    expect([code, json.error.code]).toEqual([2, "broken_worktree"]);
  });
});
