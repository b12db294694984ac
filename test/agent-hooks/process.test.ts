import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";

let built: BuiltProgram;
let root: string;
let repo: TemporaryRepository;
let worktree: string;

let session: string;

/** One repository for all of them, because making it takes longer than the tests; each is a session of its own. */
beforeAll(() => {
  built = buildProgram();
  root = makeTemporaryFolder("agent hook");
  repo = makeRepository(root);
  writeFileSync(join(repo.path, ".gitignore"), "build/\n");
  git(repo.path, "add", ".gitignore");
  git(repo.path, "commit", "-q", "-m", "Ignore what is built");
  pawl(repo.path, "install", "--profile", "hooks");
  pawl(repo.path, "task", "new", "Retry uploads", "--profile", "light");
  pawl(repo.path, "start", "T1");
  worktree = join(repo.path, ".worktrees", "T0001-retry-uploads");
});

afterAll(() => {
  built.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

beforeEach(({ task }) => {
  session = task.id;
});

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: repo.env, encoding: "utf8", stdio: "pipe" }).trim();
const pawl = (cwd: string, ...args: string[]) =>
  execFileSync(process.execPath, [built.pawl, ...args], {
    cwd,
    env: repo.env,
    encoding: "utf8",
    stdio: "pipe",
  });

/** One event, as an agent sends it; the answer as JSON, or undefined when the hook said nothing. */
function send(agent: string, event: string, more: object = {}, env: Record<string, string> = {}) {
  const input = JSON.stringify({ hook_event_name: event, session_id: session, cwd: worktree, ...more });
  const { status, stdout, stderr } = spawnSync(process.execPath, [built.hook, agent], {
    ...{ cwd: worktree, env: { ...repo.env, ...env }, input, encoding: "utf8" },
  });
  expect(status).toBe(0);
  expect(stderr).toBe("");
  return stdout === "" ? undefined : JSON.parse(stdout);
}

const bash = (command: string, cwd = worktree) => ({ cwd, tool_name: "Bash", tool_input: { command } });
const reasonOf = (answer: ReturnType<typeof send>) => answer?.hookSpecificOutput?.permissionDecisionReason;

describe("before a tool, in a repository that is really guarded", () => {
  test("refuses what goes around the hooks, and git would have refused the rest", () => {
    expect(reasonOf(send("claude", "PreToolUse", bash("git commit -n -m x")))).toMatch(/Hooks stay on/);
    expect(reasonOf(send("codex", "PreToolUse", bash("git commit -m x", repo.path)))).toMatch(
      /would change main/,
    );
    expect(reasonOf(send("copilot", "PreToolUse", bash("pawl approve")))).toMatch(/Only a human/);
    expect(send("claude", "PreToolUse", bash("git commit -m 'say --no-verify'"))).toBeUndefined();
    expect(send("claude", "PreToolUse", bash("git status", repo.path))).toBeUndefined();
  });

  test("keeps file tools in the task's worktree, and asks git what is ignored", () => {
    const write = (file_path: string, cwd: string) =>
      send("claude", "PreToolUse", { cwd, tool_name: "Write", tool_input: { file_path, content: "x" } });
    expect(write(join(worktree, "src", "new.ts"), worktree)).toBeUndefined();
    expect(reasonOf(write(join(repo.path, "README.md"), worktree))).toMatch(/its own worktree/);
    expect(reasonOf(write(join(repo.path, "README.md"), repo.path))).toMatch(/protected branch/);
    expect(write(join(repo.path, "build", "out.js"), repo.path)).toBeUndefined();
    expect(write(join(root, "notes.md"), worktree)).toBeUndefined();
    expect(reasonOf(write(join(repo.path, ".git", "hooks", "pre-commit"), worktree))).toMatch(/by hand/);
  });

  test("an unlocked branch may be changed as long as the human said", () => {
    const grant = join(repo.path, ".git/pawl/grants/unlock/refs/heads/main");
    execFileSync("mkdir", ["-p", join(grant, "..")]);
    writeFileSync(grant, `${Math.floor(Date.now() / 1000) + 60} U0001\n`);
    expect(send("claude", "PreToolUse", bash("git commit -m x", repo.path))).toBeUndefined();
    writeFileSync(grant, `${Math.floor(Date.now() / 1000) - 1} U0001\n`);
    expect(reasonOf(send("claude", "PreToolUse", bash("git commit -m x", repo.path)))).toMatch(/main/);
    rmSync(grant);
  });

  test("whatever is wrong with the world or the input, it ends well; approvals stay refused", () => {
    const raw = (input: string, cwd = worktree) =>
      spawnSync(process.execPath, [built.hook, "claude"], { cwd, env: repo.env, input, encoding: "utf8" });
    for (const input of [
      "",
      "not JSON",
      "[]",
      "null",
      '{"hook_event_name":"Other"}',
      '{"hook_event_name":"Stop"}',
    ])
      expect(raw(input)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(raw('{"hook_event_name":"PreToolUse","tool_input":{"command":"pawl approve').stdout).toContain(
      "deny",
    );
    // The parser is gone, as in an installation that was cut off.
    const parser =
      readdirSync(join(built.folder, "chunks")).find((name) => /^hook-parser-.*cjs$/.test(name)) ?? "";
    const [path, away] = [join(built.folder, "chunks", parser), join(built.folder, "away")];
    execFileSync("mv", [path, away]);
    try {
      expect(reasonOf(send("claude", "PreToolUse", bash('bash -c "pawl approve"')))).toMatch(
        /Only a human approves/,
      );
      expect(send("claude", "PreToolUse", bash('git commit -n -m "x"'))).toBeUndefined();
    } finally {
      execFileSync("mv", [away, path]);
    }
  });

  test("refs that git cannot read leave in force whatever needs none of them", () => {
    const unreadable = join(root, "unreadable refs");
    git(repo.path, "init", "-q", "-b", "main", unreadable);
    git(unreadable, "commit", "-q", "--allow-empty", "-m", "Begin");
    pawl(unreadable, "install", "--profile", "hooks");
    git(unreadable, "config", "core.repositoryFormatVersion", "1");
    git(unreadable, "config", "extensions.ofTheFuture", "x");
    mkdirSync(join(unreadable, ".git", "reftable"));
    for (const command of [
      "git commit --no-verify -m x",
      "git config core.hooksPath /dev/null",
      "git push --force origin main",
      "rm -rf .git/pawl/hooks .git/hooks",
    ])
      expect([command, reasonOf(send("claude", "PreToolUse", bash(command, unreadable)))]).toEqual([
        command,
        expect.any(String),
      ]);
    const input = { file_path: join(unreadable, ".git", "config"), content: "x" };
    expect(
      reasonOf(send("claude", "PreToolUse", { cwd: unreadable, tool_name: "Write", tool_input: input })),
    ).toMatch(/by hand/);
  });

  test("outside of a repository, and in one without pawl, it has nothing to say", () => {
    expect(send("claude", "PreToolUse", bash("git commit --no-verify -m x", root))).toBeUndefined();
    git(repo.path, "init", "-q", join(root, "foreign"));
    expect(
      send("claude", "PreToolUse", bash("git commit --no-verify -m x", join(root, "foreign"))),
    ).toBeUndefined();
    expect(send("claude", "SessionStart", { cwd: root })).toBeUndefined();
  });
});

describe("at the start of a session", () => {
  test("the task, its findings, decisions and last handoff are told, in the agent's form", () => {
    pawl(worktree, "finding", "add", "The backoff has no limit", "--severity", "high");
    pawl(worktree, "decide", "Retry three times", "--why", "more hides outages");
    pawl(worktree, "handoff", "--what", "Retries work", "--next", "limit the backoff");
    const claude = send("claude", "SessionStart", { source: "startup" });
    const text = claude.hookSpecificOutput.additionalContext;
    for (const words of [
      "T0001 Retry uploads",
      "The backoff has no limit",
      "Retry three times",
      "limit the backoff",
      "next: pawl finding resolve",
    ])
      expect(text).toContain(words);
    expect(Buffer.byteLength(text) / 4).toBeLessThanOrEqual(400);
    expect(send("codex", "SessionStart")).toEqual(
      JSON.parse(JSON.stringify(claude).replace("skill /pawl", "skill $pawl")),
    );
    expect(send("claude", "SessionStart", { source: "compact" }, { COPILOT_CLI: "1" })).toEqual({
      additionalContext: text.replace("skill /pawl", "skill pawl"),
    });
  });

  test("a worktree that begins at an older install is told the launcher that it has", () => {
    mkdirSync(join(worktree, ".pawl"));
    writeFileSync(join(worktree, ".pawl/pawl.mjs"), "");
    const { additionalContext } = send("claude", "SessionStart").hookSpecificOutput;
    rmSync(join(worktree, ".pawl"), { recursive: true });
    expect(additionalContext).toContain("`node .pawl/pawl.mjs`");
    expect(send("claude", "SessionStart").hookSpecificOutput.additionalContext).toContain(
      "`node .pawl/pawl.cjs`",
    );
  });

  test("a guard that does not hold, or is not there, is told with what to run", () => {
    const off = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "" };
    expect(send("claude", "SessionStart", {}, off).hookSpecificOutput.additionalContext).toMatch(
      /Warning: .*not guarded properly.*pawl doctor/,
    );
    git(repo.path, "clone", "-q", ".", join(root, "fresh"));
    const fresh = send("claude", "SessionStart", { cwd: join(root, "fresh") });
    expect(fresh.hookSpecificOutput.additionalContext).toMatch(
      /not installed in this clone.*Run: node \.pawl/,
    );
  });
});

test("a check that the agent ran itself is offered as evidence, once", () => {
  const ran = (command: string) => send("claude", "PostToolUse", bash(command));
  expect(ran("ls")).toBeUndefined();
  expect(ran("npm test 2>&1 | tail -3").hookSpecificOutput).toMatchObject({
    hookEventName: "PostToolUse",
    additionalContext: expect.stringContaining("pawl verify -- npm test"),
  });
  expect(ran("npm test")).toBeUndefined();
  expect(ran("npx vitest run").hookSpecificOutput.additionalContext).toContain("npx vitest run");
  expect(ran("node .pawl/pawl.cjs verify -- npm test")).toBeUndefined();
});

describe("a shell that writes into the main checkout", () => {
  const run = (command: string) => {
    execFileSync("sh", ["-c", command], { cwd: worktree, env: repo.env });
    return send("claude", "PostToolUse", bash(command))?.hookSpecificOutput.additionalContext;
  };
  const stop = () => send("claude", "Stop", { stop_hook_active: false })?.reason;
  const put = (path: string, text: string) => writeFileSync(join(repo.path, path), text);
  const clean = () => {
    git(repo.path, "checkout", "-q", "--", ".");
    git(repo.path, "clean", "-fdq");
    rmSync(join(repo.path, ".git/pawl/strays"), { recursive: true, force: true });
  };

  test("is told of every kind of change after the command, once, with the command that moves it", () => {
    put("mine.txt", "there before\n");
    send("claude", "SessionStart");
    expect(run("ls")).toBeUndefined();
    expect(run("echo x > ../../.git/description")).toBeUndefined();
    expect(run("mkdir -p ../../build && echo x > ../../build/ignored")).toBeUndefined();
    const told = run("echo x > '../../README.md'");
    expect(told).toContain(`The main checkout ${repo.path} has changes`);
    expect(told).toMatch(/began: README\.md\. .*`pawl rescue T0001`/);
    expect(told).not.toContain("mine.txt");
    expect(run("ls")).toBeUndefined();
    expect(run("mkdir ../../new && echo x > ../../new/file")).toContain("began: new/file.");
    expect(run("rm ../../.gitignore")).toContain(".gitignore");
    expect(run("echo x > in-the-worktree.txt")).toBeUndefined();
    expect(pawl(repo.path, "rescue", "T1", "--dry-run", "--json")).toMatch(/README\.md[\s\S]*new\/file/);
    rmSync(join(worktree, "in-the-worktree.txt"));
    clean();
  });

  test("is told at its stop as well, as long as it is so", () => {
    send("claude", "SessionStart");
    expect(stop()).toBeUndefined();
    run("echo y > ../../README.md");
    expect(stop()).toContain("README.md");
    expect(stop()).toBeUndefined();
    clean();
  });

  test("is not told of what is put back, or was never there to tell", () => {
    send("claude", "SessionStart");
    run("echo z > ../../README.md");
    clean();
    expect(run("ls")).toBeUndefined();
    expect(stop()).toBeUndefined();
  });
});

test("marks of sessions long past are swept", () => {
  send("claude", "SessionStart", { session_id: "old" });
  const marks = join(repo.path, ".git/pawl/sessions");
  const past = new Date(Date.now() - 40 * 24 * 3_600_000);
  utimesSync(join(marks, "old"), past, past);
  send("claude", "SessionStart", { session_id: "../../new" });
  expect(readdirSync(marks)).toContain("-new");
  expect(readdirSync(marks)).not.toContain("old");
  expect(existsSync(join(repo.path, "new"))).toBe(false);
});

test("unread mail is told at the start and at a stop, once, and not what is for another run", () => {
  pawl(worktree, "mail", "send", "T1", "The key is in the vault");
  expect(JSON.stringify(send("claude", "SessionStart"))).toMatch(
    /unread mail: 1 .*T0001\/M1 from human:.*: The key is in the vault/,
  );
  const stop = () => send("claude", "Stop", { stop_hook_active: false });
  expect(stop().reason).toContain("Unread mail for T0001: T0001/M1 from human:");
  expect(stop()).toBeUndefined();
  pawl(worktree, "mail", "ack", "M1");
  pawl(worktree, "mail", "send", "T1/R1", "For who works here by hand");
  session = "reads mail";
  send("claude", "SessionStart");
  const run = { PAWL_RUN: "T0001/R2", PAWL_TASK: "T0001" };
  expect(send("claude", "Stop", { stop_hook_active: false }, run)).toBeUndefined();
  expect(stop().reason).toContain("T0001/M2");
  pawl(worktree, "mail", "ack", "M2");
});

describe("a missing handoff", () => {
  const stop = (more: object = {}) => send("claude", "Stop", { stop_hook_active: false, ...more });
  const change = () => writeFileSync(join(worktree, "README.md"), `# Changed by ${session}\n`);

  test("is asked for once, after a change of this session", () => {
    send("claude", "SessionStart");
    expect(stop()).toBeUndefined();
    change();
    expect(stop({ stop_hook_active: true })).toBeUndefined();
    const asked = stop();
    expect(asked).toMatchObject({ decision: "block" });
    expect(asked.reason).toContain("pawl handoff T0001");
    expect(stop()).toBeUndefined();
    expect(stop({ session_id: "another" })).toBeUndefined();
  });

  test("of somebody else's change is nobody's business here", () => {
    change();
    const past = new Date(Date.now() - 60_000);
    utimesSync(join(worktree, "README.md"), past, past);
    send("claude", "SessionStart");
    expect(stop()).toBeUndefined();
  });

  test.skipIf(process.getuid?.() === 0)("is not asked for where it could not be noted that it was", () => {
    send("claude", "SessionStart");
    change();
    const marks = join(repo.path, ".git/pawl/sessions");
    for (const name of readdirSync(marks)) chmodSync(join(marks, name), 0o400);
    expect(stop()).toBeUndefined();
  });

  test("is asked for after a commit, also from the top of the repository, and not once it is there", () => {
    send("codex", "SessionStart", { cwd: repo.path });
    change();
    git(worktree, "commit", "-q", "-am", "Change it");
    const before = send("codex", "PreCompact", { cwd: repo.path, trigger: "auto" });
    expect(before.systemMessage).toContain(`T0001, in the worktree ${worktree}. It was changed`);
    pawl(worktree, "handoff", "--what", "Changed", "--next", "check it");
    // The next summary is all that the next stretch knows, whatever an earlier one was told.
    const again = send("codex", "PreCompact", { cwd: repo.path });
    expect(again.systemMessage).toMatch(/in the worktree .*T0001-retry-uploads\.$/);
    expect(send("codex", "Stop", { cwd: repo.path })).toBeUndefined();
  });

  test("is not asked for without a task", () => {
    pawl(repo.path, "finish", "T1", "--keep", "--reason", "later");
    rmSync(join(repo.path, ".git/worktrees/T0001-retry-uploads/pawl-task"), { force: true });
    send("claude", "SessionStart");
    change();
    expect(stop()).toBeUndefined();
  });
});

/** Last, because a second task makes it less clear which one is meant. */
test("whose task it is comes from the hook's own word for the session, also from the top", () => {
  const env = { ...repo.env, CODEX_SESSION_ID: "held" };
  for (const words of [
    ["task", "new", "Sort names"],
    ["start", "T2"],
  ])
    execFileSync(process.execPath, [built.pawl, ...words], { cwd: repo.path, env, stdio: "pipe" });
  const told = (agent: string, id: string) =>
    send(agent, "SessionStart", { session_id: id, cwd: repo.path, source: "resume" }).hookSpecificOutput
      .additionalContext;
  const place = join(repo.path, ".worktrees/T0002-sort-names");
  expect(told("codex", "held")).toContain(`worktree: ${place} (work there)\nheld by this session`);
  expect(told("codex", "other")).toContain("T0002 Sort names (held by agent:codex:held");
});
