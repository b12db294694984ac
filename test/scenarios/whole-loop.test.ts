import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProject, type Project, type Result } from "../helpers/command-line.ts";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import { askStateGit, makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** Two sessions of two agents, each with what its own program puts into the environment; the human has nothing. */
const AUTHOR = { CODEX_SESSION_ID: "author-1" };
const REVIEWER = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "reviewer-1" };

let folder: string;
let program: string;
let shop: Project;
let api: Project;

beforeAll(async () => {
  folder = makeTemporaryFolder("loop");
  program = await bundlePawl(folder);
  shop = openProject(makeRepository(folder, "shop"));
  api = openProject(makeRepository(folder, "api"));
  for (const repo of [shop, api]) {
    repo.write(".pawl/config.yaml", "profile: strict\nchecks:\n  test: node test.mjs\n");
    repo.commit("test.mjs", "process.exit(0);\n");
    repo.begin(AUTHOR, REVIEWER);
  }
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const worktree = (repo: Project) => join(repo.path, ".worktrees", "T0001-retry-failed-uploads");

async function ok(call: Promise<Result>): Promise<Result> {
  const result = await call;
  expect(result.code, result.err + result.out).toBe(0);
  return result;
}

/** What each of them does, where they stand. */
const author = (repo: Project, ...argv: string[]) => repo.pawlIn(worktree(repo), AUTHOR, ...argv);
const reviewer = (...argv: string[]) => shop.pawlIn(shop.path, REVIEWER, ...argv);
const human = (...argv: string[]) => shop.pawl(...argv);

function gitIn(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, env: shop.env, encoding: "utf8", stdio: "pipe" }).trim();
}

function save(repo: Project, path: string, text: string): void {
  const file = join(worktree(repo), path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function commit(repo: Project, message: string): void {
  gitIn(worktree(repo), "add", "-A");
  gitIn(worktree(repo), "commit", "-q", "-m", message);
}

async function reasons(stage: string): Promise<string[]> {
  const { code, json } = await human("check", "T1", "--stage", stage, "--json");
  const codes = json.data.check.reasons.map((one: { code: string }) => one.code);
  expect(code).toBe(codes.length === 0 ? 0 : 1);
  return [...new Set<string>(codes)];
}

describe.sequential("from a task to a merge, in two repositories, by an author, a reviewer and a human", () => {
  test("the human writes the task down, for both repositories", async () => {
    await ok(human("repo", "add", "../api"));
    shop.write("plan.md", "1. Retry in the shop.\n2. Answer 503 in the api.\n");
    await ok(
      human(
        "task",
        "new",
        "Retry failed uploads",
        "--plan-file",
        "plan.md",
        "--repo",
        "shop",
        "--repo",
        "api",
      ),
    );
    rmSync(join(shop.path, "plan.md"));
    expect(await reasons("plan")).toEqual(["plan_not_reviewed"]);
  });

  test("the plan is reviewed by somebody else", async () => {
    await ok(reviewer("review", "start", "T1", "--kind", "plan"));
    await ok(
      reviewer("review", "record", "T1", "--kind", "plan", "--verdict", "pass", "--looked-at", "plan"),
    );
    expect(await reasons("plan")).toEqual([]);
  });

  test("the author starts: a branch and a worktree in each, invisible to both projects", async () => {
    await ok(shop.pawlIn(shop.path, AUTHOR, "start", "T1"));
    for (const repo of [shop, api]) {
      expect(gitIn(worktree(repo), "branch", "--show-current")).toBe("task/T0001-retry-failed-uploads");
      expect(repo.git("status", "--porcelain")).toBe("");
      expect(repo.git("branch", "--show-current")).toBe("main");
    }
    const { json } = await author(api, "session", "--json");
    expect(json.data.session.task).toMatchObject({ id: "T0001", status: "active" });
  });

  test("red, then green, then a closed slice", async () => {
    await ok(author(shop, "slice", "open", "Retry once"));
    save(shop, "retry.test.mjs", 'import { tries } from "./retry.mjs";\nif (tries !== 2) process.exit(1);\n');
    save(shop, "retry.mjs", "export const tries = 1;\n");
    await ok(author(shop, "verify", "--slice", "S1", "--red", "--", "node", "retry.test.mjs"));
    save(shop, "retry.mjs", "export const tries = 2;\n");
    await ok(author(shop, "verify", "--slice", "S1", "--", "node", "retry.test.mjs"));
    commit(shop, "Retry once");
    await ok(
      author(shop, "slice", "close", "S1", "--decision", "Retry once", "--why", "most losses are short"),
    );
    save(api, "answer.mjs", "export const code = 500;\n");
    commit(api, "Answer when busy");
  });

  test("the reviewer finds something, and the gate says what is missing", async () => {
    await ok(reviewer("review", "start", "T1", "--kind", "branch"));
    await ok(
      api.pawlIn(
        worktree(api),
        REVIEWER,
        "finding",
        "add",
        "500 is not 503",
        "--severity",
        "high",
        "--kind",
        "branch",
      ),
    );
    await ok(
      reviewer(
        "review",
        "record",
        "T1",
        "--kind",
        "branch",
        "--verdict",
        "fail",
        "--looked-at",
        "answer.mjs",
      ),
    );
    expect(await reasons("close")).toEqual([
      "open_finding",
      "check_missing",
      "review_missing",
      "no_handoff",
      "snapshot_missing",
    ]);
  });

  test("the author fixes it, runs the checks, saves the diff and hands over", async () => {
    save(api, "answer.mjs", "export const code = 503;\n");
    const early = await author(api, "finding", "resolve", "F1", "--json");
    expect(early.json.error.code).toBe("pending_uncommitted");
    commit(api, "Say 503");
    await ok(author(api, "finding", "resolve", "F1"));
    for (const repo of [shop, api]) await ok(author(repo, "verify"));
    await ok(author(shop, "handoff", "--what", "Retries", "--changed", "retry.mjs", "--next", "Approve it"));
    await ok(author(shop, "snapshot"));
    expect(await reasons("close")).toEqual(["review_missing"]);
    const own = await author(shop, "review", "record", "--kind", "branch", "--verdict", "pass");
    expect(own.err).toContain("no gate will count it");
    expect(await reasons("close")).toEqual(["review_missing"]);
  });

  test("a second look passes, and so does the gate; one more commit would void it", async () => {
    await ok(
      reviewer(
        "review",
        "record",
        "T1",
        "--kind",
        "branch",
        "--verdict",
        "pass",
        "--looked-at",
        "answer.mjs",
      ),
    );
    expect(await reasons("close")).toEqual([]);
    const receipt = shop.read("tasks/T0001/receipt.md");
    for (const repo of [shop, api]) expect(receipt).toContain(gitIn(worktree(repo), "rev-parse", "HEAD"));
  });

  test("no agent approves; a human types the task's id, and both repositories are merged", async () => {
    const before = [shop, api].map((repo) => repo.git("rev-parse", "main"));
    const asAgent = await author(shop, "approve", "T1", "--json");
    expect([asAgent.code, asAgent.json.error.code]).toEqual([1, "human_only"]);
    const wrong = await onTerminal(program, shop, ["approve", "T1"], "yes");
    expect(wrong.code).toBe(1);
    expect([shop, api].map((repo) => repo.git("rev-parse", "main"))).toEqual(before);

    const done = await onTerminal(program, shop, ["approve", "T1"], "T0001");
    expect(done.code, done.out).toBe(0);
    for (const [index, repo] of [shop, api].entries()) {
      const [merge, first, second] = repo.git("log", "-1", "--format=%H %P", "main").split(" ");
      expect(first).toBe(before[index]);
      expect(second).toBe(gitIn(worktree(repo), "rev-parse", "HEAD"));
      expect(repo.git("log", "-1", "--format=%B", merge ?? "")).toMatch(
        /T0001[\s\S]*Pawl-Approval: T0001\/A1/,
      );
      expect(repo.git("status", "--porcelain")).toBe("");
    }
    expect(existsSync(join(api.path, "answer.mjs"))).toBe(true);
    const { json } = await human("task", "show", "T1", "--json");
    expect(json.data.task.status).toBe("merged");
    expect(json.data.findings[0]).toMatchObject({
      status: "integrated",
      integrated_commit: api.git("rev-parse", "main"),
    });
    expect(json.data.approvals[0]).toMatchObject({ status: "merged", actor: "human:Ada" });
  });

  test("finish removes worktrees and branches, and the diff can still be seen", async () => {
    await ok(human("finish", "T1", "--remove", "--reason", "merged"));
    for (const repo of [shop, api]) {
      expect(existsSync(worktree(repo))).toBe(false);
      expect(repo.git("branch", "--list", "task/*")).toBe("");
      expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
    }
    expect((await human("task", "show", "T1", "--json")).json.data.task.status).toBe("done");
    const shown = await ok(human("diff", "T1"));
    expect(shown.out).toContain("+export const tries = 2;");
    expect(shown.out).toContain("+export const code = 503;");
  });

  test("the state's history tells the story in Markdown, and the log before and after", async () => {
    const story = askStateGit(shop, "log", "--reverse", "--format=%s", "pawl/state").split("\n");
    const chapters = [
      /Repository api linked/,
      /^T0001: Retry failed uploads/,
      /^T0001\/V1: plan pass/,
      /^T0001.*(start|run|R1)/i,
      /^T0001.*S1/,
      /^T0001\/V2: branch fail/,
      /^T0001\/F1: fixed/,
      /^T0001\/H1/,
      /^T0001: ready to be approved/,
      /^T0001.*(approv|merged)/i,
      /^T0001.*(finish|removed|done)/i,
    ];
    let at = -1;
    for (const chapter of chapters) {
      const found = story.findIndex((line, index) => index > at && chapter.test(line));
      expect(found, `${chapter} after line ${at} of\n${story.join("\n")}`).toBeGreaterThan(at);
      at = found;
    }
    const files = askStateGit(shop, "ls-tree", "-r", "--name-only", "pawl/state").split("\n");
    expect(files.filter((file) => !/\.(md|patch|jsonl)$/.test(file))).toEqual([]);
    expect(askStateGit(shop, "status", "--porcelain")).toBe("");
    const { json } = await human("log", "T1", "--limit", "200", "--json");
    const phases = (json.data.events as { event: string; phase?: string }[]).map(
      (one) => `${one.event} ${one.phase}`,
    );
    for (const event of ["start", "approve", "finish"])
      for (const phase of ["before", "after"]) expect(phases).toContain(`${event} ${phase}`);
    expect(phases.filter((one) => one.endsWith("failed"))).toEqual([]);
  });
});
