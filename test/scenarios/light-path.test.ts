import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundlePawl } from "../helpers/pseudo-terminal.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { TypedShell } from "../helpers/typed-shell.ts";

let tools: string;
let program: string;
let root: string;
let shop: TemporaryRepository;
let shell: TypedShell;

beforeAll(async () => {
  tools = makeTemporaryFolder("light path");
  program = await bundlePawl(tools);
}, 120_000);
afterAll(() => rmSync(tools, { recursive: true, force: true, maxRetries: 3 }));

const git = (at: string, ...args: string[]) =>
  execFileSync("git", args, { cwd: at, env: shop.env, encoding: "utf8", stdio: "pipe" }).trim();

/** Typed, with the exit code that is expected of it. */
async function type(line: string, code = 0, answer?: Parameters<TypedShell["type"]>[1]): Promise<string> {
  const typed = await shell.type(line, answer);
  expect([line, typed.code, typed.out]).toEqual([line, code, expect.any(String)]);
  return typed.out;
}

/** How many lines a person has typed, for whoever reads the test's output. */
function counted(name: string, lines: number): void {
  process.stdout.write(`${name}: ${shell.lines.length} commands: ${shell.lines.join(" | ")}\n`);
  expect(shell.lines).toHaveLength(lines);
}

function look(...argv: string[]): { code: number | null; json: { data: Record<string, unknown> } } {
  const { status, stdout } = spawnSync(process.execPath, [program, ...argv, "--json"], {
    cwd: shop.path,
    env: shop.env,
    encoding: "utf8",
  });
  return { code: status, json: JSON.parse(stdout) };
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
  writeFileSync(join(shop.path, "package.json"), '{"name":"shop","scripts":{"test":"test -f README.md"}}\n');
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
  expect([installed.status, installed.stdout]).toEqual([0, expect.stringContaining("test: npm test")]);
  git(shop.path, "push", "-q", "origin", "main");
  shell = new TypedShell(program, shop, root);
  return () => {
    shell.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  };
});

const WORKTREE = ".worktrees/T0001-fix-the-typo-in-the-docs";

/** A fresh installation asks for a review; a small fix says that it is one. */
async function fixTheTypo(): Promise<void> {
  await type('pawl start "Fix the typo in the docs" --profile light');
  await type(`cd ${WORKTREE}`);
  appendFileSync(join(shop.path, WORKTREE, "README.md"), "Fixed.\n");
  await type('git commit -q -a -m "Fix the typo"');
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

describe("a pull request", { tags: ["proof"], timeout: 180_000 }, () => {
  test.each(BUTTONS)(
    "that the host ends with %s: the task is done, and audit explains it",
    async (name, press) => {
      await fixTheTypo();
      const opened = await type("pawl pr");
      expect(opened).toContain("`test`: exit 0");
      expect(opened).toContain("gh pr create --base main --head task/T0001-fix-the-typo-in-the-docs");
      colleaguePushes("theirs.txt");
      const clone = join(root, "colleague");
      git(clone, "fetch", "-q");
      press(clone, "origin/task/T0001-fix-the-typo-in-the-docs");
      git(clone, "push", "-q", "origin", "HEAD:main");
      await type("cd ../..");
      await type("git pull -q --ff-only");
      await type("pawl finish T1");
      counted(`pull request, ${name}`, 7);
      isDoneAndExplained();
      const { audit } = look("audit").json.data as {
        audit: { branches: { commits: { class: string }[] }[] };
      };
      expect(audit.branches.flatMap((one) => one.commits).map((one) => one.class)).toContain("pull_request");
    },
  );
});

const APPROVE = "pawl approve --push --finish";

describe("a one-line fix", { timeout: 180_000 }, () => {
  test("takes four commands, and leaves nothing behind", async () => {
    await fixTheTypo();
    const approved = await type(APPROVE, 0, { text: "T0001" });
    expect(approved).toContain("  | +Fixed.");
    expect(approved).toContain("written from the commits");
    expect(approved).toMatch(/next: cd .*shop/);
    expect(approved).not.toContain("could not");
    counted("solo", 4);
    isDoneAndExplained();
    expect(git(join(root, "remote.git"), "show", "main:README.md")).toContain("Fixed.");
  });

  test.each(["squash", "ff"])(
    "takes four commands with --style %s as well",
    { tags: ["proof"] },
    async (style) => {
      await fixTheTypo();
      await type(`${APPROVE} --style ${style}`, 0, { text: "T0001" });
      counted(`solo, ${style}`, 4);
      isDoneAndExplained();
      expect(git(join(root, "remote.git"), "log", "-1", "--format=%P", "main").split(" ")).toHaveLength(1);
    },
  );

  test("costs nothing more when a colleague has pushed something else meanwhile", {
    tags: ["proof"],
  }, async () => {
    await fixTheTypo();
    colleaguePushes("theirs.txt");
    const approved = await type(APPROVE, 0, { text: "T0001" });
    expect(approved).toContain("1 commit of origin/main brought into main");
    counted("a colleague was faster", 4);
    isDoneAndExplained();
    expect(existsSync(join(shop.path, "theirs.txt"))).toBe(true);
  });

  test.each(["merge", "squash", "ff"])(
    "costs one more when the colleague pushes while the question stands (%s)",
    { tags: ["proof"] },
    async (style) => {
      await fixTheTypo();
      const late = await shell.type(`${APPROVE} --style ${style}`, {
        text: "T0001",
        meanwhile: () => colleaguePushes("theirs.txt"),
      });
      expect(late.code).not.toBe(0);
      expect(late.out).toContain("--redo --push");
      const again = await type("pawl approve --redo --push --finish", 0, { text: "T0001" });
      expect(again).toContain("published");
      counted(`a colleague pushed meanwhile, ${style}`, 5);
      isDoneAndExplained();
    },
  );

  test("a check that fails is said before anybody is asked, and nothing is merged", async () => {
    await type('pawl start "Fix the typo in the docs" --profile light');
    await type(`cd ${WORKTREE}`);
    await type('git rm -q README.md && git commit -q -m "Break it"');
    const before = git(shop.path, "rev-parse", "main");
    const refused = await type("pawl approve --finish", 1, { text: "T0001" });
    expect(refused).toContain('"test" failed on this tree');
    expect(refused).not.toContain("Type T0001");
    expect(git(shop.path, "rev-parse", "main")).toBe(before);
  });

  test("what approve cannot settle is named, each with its command; what it would settle is not", {
    tags: ["proof"],
  }, async () => {
    await type('pawl start "Fix the typo in the docs"');
    await type(`cd ${WORKTREE}`);
    appendFileSync(join(shop.path, WORKTREE, "README.md"), "Fixed.\n");
    const early = await type("pawl approve", 1);
    expect(early).toMatch(
      /dirty_worktree \(shop\): Not committed: README.md\.\n {4}author: git -C '[^']+' add -A/,
    );
    expect(early).not.toContain("no_handoff");
    await type('git commit -q -a -m "Fix the typo"');
    const unread = await type("pawl approve", 1);
    expect(unread).toContain("1 thing is in the way of merging T0001:\n  review_missing: ");
    expect(unread).toContain("\npawl review start T0001 --kind branch\n");
    await type("pawl review record --kind branch --verdict pass --looked-at README.md");
    await type("pawl approve --finish", 0, { text: "T0001" });
    isDoneAndExplained();
  });
});
