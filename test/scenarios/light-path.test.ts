import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundlePawl, onTerminal } from "../helpers/pseudo-terminal.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let tools: string;
let program: string;
let root: string;
let shop: TemporaryRepository;
let commands: string[];
let cwd: string;

beforeAll(async () => {
  tools = makeTemporaryFolder("light path");
  program = await bundlePawl(tools);
}, 120_000);
afterAll(() => rmSync(tools, { recursive: true, force: true, maxRetries: 3 }));

const git = (at: string, ...args: string[]) =>
  execFileSync("git", args, { cwd: at, env: shop.env, encoding: "utf8", stdio: "pipe" }).trim();

/** What a person types, and what it says; a count is kept of it. */
function type(...words: string[]): { code: number | null; out: string } {
  commands.push(words.join(" "));
  const [command = "", ...args] =
    words[0] === "pawl" ? [process.execPath, program, ...words.slice(1)] : words;
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: shop.env, encoding: "utf8" });
  return { code: status, out: stdout + stderr };
}

async function typeOnTerminal(typed: string, argv: string[], meanwhile = () => {}) {
  commands.push(`pawl ${argv.join(" ")}`);
  return onTerminal(program, { path: cwd, env: shop.env }, argv, typed, meanwhile);
}

function look(...argv: string[]): { code: number | null; json: { data: Record<string, unknown> } } {
  const { status, stdout } = spawnSync(process.execPath, [program, ...argv, "--json"], {
    cwd: shop.path,
    env: shop.env,
    encoding: "utf8",
  });
  return { code: status, json: JSON.parse(stdout) };
}

function enter(): void {
  commands.push("cd");
  cwd = join(shop.path, ".worktrees/T0001-fix-the-typo-in-the-docs");
}

/** A colleague who has no pawl pushes something of their own. */
function colleaguePushes(file: string): void {
  const clone = join(root, "colleague");
  if (!existsSync(clone)) git(root, "clone", "-q", join(root, "remote.git"), clone);
  git(clone, "pull", "-q");
  writeFileSync(join(clone, file), "theirs\n");
  git(clone, "add", "-A");
  git(clone, "commit", "-q", "-m", `Add ${file}`);
  git(clone, "push", "-q", "origin", "HEAD:main");
}

function isDoneAndExplained(): void {
  const { tasks } = look("task", "list", "--all").json.data as { tasks: { id: string; status: string }[] };
  expect(tasks.map((one) => [one.id, one.status])).toEqual([["T0001", "done"]]);
  const audit = look("audit");
  expect([audit.code, JSON.stringify(audit.json.data)]).toEqual([0, expect.any(String)]);
  expect(existsSync(join(shop.path, ".worktrees"))).toBe(false);
  expect(git(shop.path, "status", "--porcelain")).toBe("");
}

beforeEach(() => {
  root = makeTemporaryFolder("shop");
  shop = makeRepository(root, "shop");
  commands = [];
  cwd = shop.path;
  writeFileSync(join(shop.path, "package.json"), '{"name":"shop","scripts":{"test":"test -f README.md"}}\n');
  mkdirSync(join(shop.path, ".pawl"));
  writeFileSync(join(shop.path, ".pawl/config.yaml"), "profile: light\nchecks:\n  test: npm test --silent\n");
  git(shop.path, "add", "-A");
  git(shop.path, "commit", "-q", "-m", "Add a test");
  git(root, "clone", "-q", "--bare", shop.path, "remote.git");
  git(shop.path, "remote", "add", "origin", join(root, "remote.git"));
  git(shop.path, "fetch", "-q");
  git(shop.path, "branch", "-q", "-u", "origin/main");
  const installed = spawnSync(process.execPath, [program, "install", "--yes", "--commit"], {
    cwd: shop.path,
    env: shop.env,
    encoding: "utf8",
  });
  expect([installed.status, installed.stderr]).toEqual([0, expect.any(String)]);
  git(shop.path, "push", "-q", "origin", "main");
  return () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

function fixTheTypo(): void {
  expect(type("pawl", "start", "Fix the typo in the docs")).toMatchObject({ code: 0 });
  enter();
  appendFileSync(join(cwd, "README.md"), "Fixed.\n");
  expect(type("git", "commit", "-q", "-am", "Fix the typo")).toMatchObject({ code: 0 });
}

/** The buttons of a host, pressed in a clone that has no pawl. */
const BUTTONS: [string, (clone: string, branch: string) => void][] = [
  ["merge", (clone, branch) => git(clone, "merge", "-q", "--no-ff", "-m", "Merge pull request #1", branch)],
  [
    "squash",
    (clone, branch) => {
      git(clone, "merge", "-q", "--squash", branch);
      git(clone, "commit", "-q", "-m", "Fix the typo (#1)");
    },
  ],
  ["rebase", (clone, branch) => git(clone, "cherry-pick", `main..${branch}`)],
];

describe("a pull request", { timeout: 120_000 }, () => {
  test.each(BUTTONS)(
    "that the host ends with %s: the task is done, and audit explains it",
    (_name, press) => {
      fixTheTypo();
      const opened = type("pawl", "pr");
      expect([opened.code, opened.out]).toEqual([0, expect.stringContaining("`test`: exit 0")]);
      expect(opened.out).toContain("gh pr create --base main --head task/T0001-fix-the-typo-in-the-docs");
      colleaguePushes("theirs.txt");
      const clone = join(root, "colleague");
      git(clone, "fetch", "-q");
      press(clone, "origin/task/T0001-fix-the-typo-in-the-docs");
      git(clone, "push", "-q", "origin", "HEAD:main");
      commands.push("cd");
      cwd = shop.path;
      expect(type("git", "pull", "-q", "--ff-only")).toMatchObject({ code: 0 });
      expect(type("pawl", "finish", "T1")).toMatchObject({ code: 0 });
      expect(commands).toHaveLength(7);
      isDoneAndExplained();
      const { audit } = look("audit").json.data as {
        audit: { branches: { commits: { class: string }[] }[] };
      };
      expect(audit.branches.flatMap((one) => one.commits).map((one) => one.class)).toContain("pull_request");
    },
  );
});

describe("a one-line fix", { timeout: 120_000 }, () => {
  test("takes four commands, and leaves nothing behind", async () => {
    fixTheTypo();
    const approved = await typeOnTerminal("T0001", ["approve", "--push", "--finish"]);
    expect(approved.out).toContain("  | +Fixed.");
    expect(approved.out).toContain("written from the commits");
    expect(approved.out).toMatch(/next: cd .*shop/);
    expect(approved.code).toBe(0);
    expect(commands).toHaveLength(4);
    isDoneAndExplained();
    expect(git(join(root, "remote.git"), "show", "main:README.md")).toContain("Fixed.");
  });

  test("costs nothing more when a colleague has pushed something else meanwhile", async () => {
    fixTheTypo();
    colleaguePushes("theirs.txt");
    const approved = await typeOnTerminal("T0001", ["approve", "--push", "--finish"]);
    expect(approved.out).toContain("1 commit of origin/main brought into main");
    expect(approved.code).toBe(0);
    expect(commands).toHaveLength(4);
    isDoneAndExplained();
    expect(existsSync(join(shop.path, "theirs.txt"))).toBe(true);
  });

  test("costs one more when the colleague pushes while the question stands", async () => {
    fixTheTypo();
    const late = await typeOnTerminal("T0001", ["approve", "--push", "--finish"], () =>
      colleaguePushes("theirs.txt"),
    );
    expect(late.code).not.toBe(0);
    expect(late.out).toContain("--redo --push");
    const again = await typeOnTerminal("T0001", ["approve", "--redo", "--push", "--finish"]);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining("published")]);
    expect(commands).toHaveLength(5);
    isDoneAndExplained();
  });

  test("a check that fails is said before anybody is asked, and nothing is merged", async () => {
    expect(type("pawl", "start", "Fix the typo in the docs")).toMatchObject({ code: 0 });
    enter();
    git(cwd, "rm", "-q", "README.md");
    git(cwd, "commit", "-q", "-m", "Break it");
    const before = git(shop.path, "rev-parse", "main");
    const refused = await typeOnTerminal("T0001", ["approve", "--finish"]);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('"test" failed on this tree')]);
    expect(refused.out).not.toContain("Type T0001");
    expect(git(shop.path, "rev-parse", "main")).toBe(before);
  });
});
