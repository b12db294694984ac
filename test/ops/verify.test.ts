import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { gitIn, ok, typing } from "../helpers/ready-task.ts";

const AGENT = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s1" };
const worktree = (project: Project) => join(project.path, ".worktrees", "T0001-one");

/** A program that is there to be found by its name. */
function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const says = (words: string) => `#!/bin/sh\necho ${words}\n`;
const outside = (project: Project, ...parts: string[]) => join(dirname(project.path), ...parts);

/** What the last check printed, and its record. */
async function check(project: Project, env: Record<string, string>, ...command: string[]) {
  const { json } = await project.pawlIn(project.path, env, "verify", "T1", "--json", "--", ...command);
  expect(json.ok, JSON.stringify(json)).toBe(true);
  return { ...json.data.evidence, warnings: json.warnings as string[] };
}

async function begin(project: Project, config?: string): Promise<void> {
  if (config !== undefined) project.commit(".pawl/config.yaml", config);
  await ok(project.pawl("task", "new", "One", "--profile", "light"));
  await ok(project.pawl("start", "T1"));
  writeFileSync(join(worktree(project), "done"), "yes\n");
  gitIn(project, worktree(project), "add", "-A");
  gitIn(project, worktree(project), "commit", "-q", "-m", "Do it");
}

async function finish(project: Project) {
  await ok(project.pawl("handoff", "T1", "--what", "Did it", "--changed", "done", "--next", "Approve"));
  await ok(project.pawl("snapshot", "T1"));
  const { json } = await project.pawl("check", "T1", "--stage", "close", "--json");
  return json.data.check.reasons.map((one: { code: string }) => one.code);
}

describe("which programs a check runs is not for its caller to say", () => {
  test("a shell that always says yes is not asked (H2)", async ({ project }) => {
    project.commit(".pawl/config.yaml", 'checks:\n  test: "false"\n');
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    await ok(project.pawl("task", "new", "One"));
    put(outside(project, "evil", "sh"), "#!/bin/sh\nexit 0\n");
    const env = { ...AGENT, PATH: `${outside(project, "evil")}:${project.env.PATH}` };
    const { code, json } = await project.pawlIn(project.path, env, "verify", "T1", "--json");
    expect([code, json.data.evidence[0].exit_code]).toEqual([1, 1]);
    expect(json.data.evidence[0]).toMatchObject({ environment: "kept" });
    expect(json.warnings.join("\n")).toMatch(/sh was \/.*; this shell would run .*evil\/sh/);
  });

  test("nor is anything loaded that its environment names (H2)", async ({ project }) => {
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    await ok(project.pawl("task", "new", "One"));
    const trick = put(outside(project, "pre.js"), "process.exit(0);\n");
    project.write("t.js", "process.exit(1);\n");
    const { exit_code } = await check(
      project,
      { NODE_OPTIONS: `--require "${trick}"` },
      process.execPath,
      "t.js",
    );
    expect(exit_code).toBe(1);
    const start = put(outside(project, "start.sh"), "exit 0\n");
    for (const name of ["BASH_ENV", "ENV"])
      expect((await check(project, { [name]: start }, "bash", "-c", "exit 3")).exit_code, name).toBe(3);
    const { output } = await check(
      project,
      {
        "BASH_FUNC_npm%%": "() { true; }",
        LD_PRELOAD: "/x.so",
        LD_LIBRARY_PATH: "/x",
        GIT_DIR: "/x",
        npm_config_script_shell: "/x",
        PYTHONPATH: "/x",
      },
      "env",
    );
    expect(output).not.toMatch(/BASH_FUNC|LD_|GIT_|npm_config|PYTHONPATH/);
  });

  test("nor what tests go by: whether it is CI, where, whose, and which certificates count", async ({
    project,
  }) => {
    project.commit(".pawl/config.yaml", 'env:\n  LANG: "C.UTF-8"\n');
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    await ok(project.pawl("task", "new", "One"));
    const caller = {
      ...{ CI: "evil", TZ: "evil", USER: "evil", LOGNAME: "evil", LANG: "evil", LC_ALL: "evil" },
      ...{ SSL_CERT_FILE: "/evil", SSL_CERT_DIR: "/evil", NODE_EXTRA_CA_CERTS: "/evil" },
      ...{ REQUESTS_CA_BUNDLE: "/evil", TMPDIR: tmpdir(), HTTPS_PROXY: "http://proxy" },
    };
    const lines = (await check(project, caller, "env")).output.split("\n");
    expect(lines.filter((one: string) => one.includes("evil"))).toEqual([]);
    expect(lines, "as in the shell of whoever installed it, and as the policy says").toEqual(
      expect.arrayContaining(["TZ=UTC", "LC_ALL=C", "LANG=C.UTF-8"]),
    );
    expect(lines, "a sandbox allows no other").toEqual(
      expect.arrayContaining([`TMPDIR=${tmpdir()}`, "HTTPS_PROXY=http://proxy"]),
    );
  });

  test("the programs are recorded as they were", async ({ project }) => {
    await ok(project.pawl("task", "new", "One"));
    const tool = put(outside(project, "bin", "tool"), says("ran"));
    const env = { PATH: `${dirname(tool)}:${project.env.PATH}` };
    const found = await check(project, env, "sh", "-c", "A=b tool --fast");
    const sha256 = createHash("sha256").update(readFileSync(tool)).digest("hex");
    expect(found.programs.map((one: { path: string }) => one.path)).toEqual([
      expect.stringMatching(/\/sh$/),
      tool,
    ]);
    expect(found.programs[1].sha256).toBe(sha256);
    expect(found.environment, "nobody has installed pawl here").toBe("caller");
  });
});

/** How people get the version of a tool that their project needs; `at` is what their shell has. */
const LAYOUTS = {
  nvm: {
    make: (root: string) => put(join(root, ".nvm/versions/node/v22.1.0/bin/node"), says("v22.1.0")),
    at: (root: string, path: string) => ({
      NVM_DIR: join(root, ".nvm"),
      PATH: `${join(root, ".nvm/versions/node/v22.1.0/bin")}:${path}`,
    }),
    command: ["node", "--version"],
    says: "v22.1.0",
  },
  pyenv: {
    make: (root: string) =>
      put(join(root, ".pyenv/shims/python3"), '#!/bin/sh\necho "$PYENV_ROOT $PYENV_VERSION"\n'),
    at: (root: string, path: string) => ({
      PYENV_ROOT: join(root, ".pyenv"),
      PYENV_VERSION: "3.13.1",
      PATH: `${join(root, ".pyenv/shims")}:${path}`,
    }),
    command: ["sh", "-c", "python3 --version"],
    says: "3.13.1",
  },
  virtualenv: {
    make: (root: string) =>
      put(join(root, "my project/.venv/bin/pytest"), '#!/bin/sh\necho "in $VIRTUAL_ENV"\n'),
    at: (root: string, path: string) => ({
      VIRTUAL_ENV: join(root, "my project/.venv"),
      PATH: `${join(root, "my project/.venv/bin")}:${path}`,
    }),
    command: ["pytest"],
    says: "my project/.venv",
  },
  JAVA_HOME: {
    make(root: string) {
      put(join(root, "jdk-21/bin/java"), says("java 21"));
      put(join(root, "bin/mvn"), '#!/bin/sh\nexec "$JAVA_HOME/bin/java" "$@"\n');
    },
    at: (root: string, path: string) => ({
      JAVA_HOME: join(root, "jdk-21"),
      PATH: `${join(root, "bin")}:${path}`,
    }),
    command: ["mvn", "test"],
    says: "java 21",
  },
} as const;

describe("a human's tools are found", () => {
  for (const [name, layout] of Object.entries(LAYOUTS))
    test(`with ${name}, also by an agent whose shell has not got them`, async ({ project }) => {
      const root = dirname(project.path);
      layout.make(root);
      const shell = layout.at(root, project.env.PATH ?? "");
      await ok(project.pawl("task", "new", "One"));
      const before = await check(project, shell, ...layout.command);
      expect(before.output, "as the caller has it, while nothing is kept").toContain(layout.says);
      await ok(project.pawlIn(project.path, shell, "install", "--profile", "hooks", "--yes"));
      const found = await check(project, AGENT, ...layout.command);
      expect(found.output).toContain(layout.says);
      expect(found.environment).toBe("kept");
    });

  test("without what npm puts before them while it runs something", async ({ project }) => {
    const bin = dirname(put(join(project.path, "node_modules/.bin/eslint"), says("the project's own")));
    const env = { PATH: `${bin}::relative:${project.env.PATH}` };
    await ok(project.pawlIn(project.path, env, "install", "--profile", "hooks", "--yes"));
    await ok(project.pawl("task", "new", "One"));
    const { json } = await project.pawlIn(project.path, env, "verify", "T1", "--json", "--", "eslint");
    expect(json.error.code).toBe("check_not_run");
  });

  test("doctor names the folders in which two PATHs differ, and not both of them whole", async ({
    project,
  }) => {
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    const PATH = `/opt/new/bin:${project.env.PATH}`;
    const { json } = await project.pawlIn(project.path, { PATH }, "doctor", "--json");
    const told = json.data.doctor.diagnoses.find((one: { where: string }) => one.where === "PATH");
    expect(told.message).toContain("Only this shell has /opt/new/bin.");
    expect(told.message).not.toContain("/usr/bin");
  });

  test("doctor tells another shell, and a human's --fix keeps that one", { tags: ["proof"] }, async ({
    project,
  }) => {
    await ok(project.pawl("install", "--profile", "hooks", "--yes"));
    const env = { JAVA_HOME: "/opt/jdk" };
    const look = async (more: Record<string, string>, ...argv: string[]) => {
      const { json } = await project.pawlIn(project.path, { ...env, ...more }, "doctor", "--json", ...argv);
      return json.data.doctor.diagnoses.map(
        (one: { code: string; where: string }) => `${one.code} ${one.where}`,
      );
    };
    expect(await look({})).toContain("environment_differs JAVA_HOME");
    expect(await look(AGENT, "--fix"), "an agent keeps nothing").toContain("environment_differs JAVA_HOME");
    expect(await look({}, "--fix")).not.toContain("environment_differs JAVA_HOME");
    expect(await look({})).not.toContain("environment_differs JAVA_HOME");
  });
});

describe("env: of the policy", () => {
  test("adds variables, by value or from the caller, as the base has it committed", async ({ project }) => {
    await begin(project, 'env:\n  STAGE: test\n  TOKEN: ""\n');
    writeFileSync(join(worktree(project), ".pawl/config.yaml"), "env:\n  NODE_OPTIONS: --evil\n");
    const { output } = await check(project, { TOKEN: "t", OTHER: "o" }, "env");
    expect(output).toMatch(/^STAGE=test$/m);
    expect(output).toMatch(/^TOKEN=t$/m);
    expect(output).not.toMatch(/OTHER|evil/);
  });
});

describe("a check", () => {
  test.runIf(existsSync("/proc/self/stat"))(
    "has no terminal, and leaves nothing behind",
    async ({ project }) => {
      await ok(project.pawl("task", "new", "One"));
      const pid = outside(project, "pid");
      const script = `read -r _ _ _ _ _ session tty _ < /proc/$$/stat; sleep 300 & echo $! > '${pid}'; test $session = $$ && test $tty = 0`;
      const found = await check(project, {}, "sh", "-c", script);
      expect(found.exit_code).toBe(0);
      const left = Number(readFileSync(pid, "utf8"));
      const isGone = () => {
        const stat = existsSync(`/proc/${left}/stat`) ? readFileSync(`/proc/${left}/stat`, "utf8") : "";
        return stat === "" || / [ZX] /.test(stat);
      };
      await expect.poll(isGone, { timeout: 50_000 }).toBe(true);
    },
  );

  test("runs in the task's worktree, wherever it is asked for (B4)", async ({ project }) => {
    await begin(project);
    const top = await check(project, {}, "pwd");
    expect(realpathSync(top.output)).toBe(realpathSync(worktree(project)));
    const done = await check(project, {}, "test", "-f", "done");
    expect([done.exit_code, done.branch]).toEqual([0, "task/T0001-one"]);
    expect(done.tree).toBe(project.git("rev-parse", "task/T0001-one^{tree}"));
    expect(await finish(project)).toEqual([]);
  });

  test("is refused where that worktree is not there", async ({ project }) => {
    await begin(project);
    rmSync(worktree(project), { recursive: true });
    const { code, json } = await project.pawl("verify", "T1", "--json", "--", "test", "-f", "done");
    expect([code, json.error.code]).toEqual([1, "worktree_missing"]);
    expect(json.error.hint).toBe("pawl start T0001 --claim");
  });

  test("that is obviously none is recorded as what it is, and stands for none", async ({ project }) => {
    await begin(project);
    const found = await check(project, {}, "sh", "-c", "echo all tests passed");
    expect([found.exit_code, found.tests_nothing]).toEqual([0, true]);
    expect(found.warnings.join("\n")).toMatch(/tests nothing/);
    expect(await finish(project)).toEqual(["check_missing"]);
    await check(project, {}, "test", "-f", "done");
    expect(await finish(project)).toEqual([]);
  });
});

test("a check that a branch gives another command runs as the base has it, and says so", async ({
  project,
}) => {
  await begin(project, "checks:\n  test: test -f done\n");
  const own = "checks:\n  test: test -f nope\n  more: test -d .pawl\n";
  writeFileSync(join(worktree(project), ".pawl/config.yaml"), own);
  gitIn(project, worktree(project), "commit", "-q", "-am", "Another test");
  const { code, json } = await project.pawlIn(worktree(project), {}, "verify", "--json");
  expect([
    code,
    json.data.evidence.map((one: { check: string; argv: string[] }) => [one.check, one.argv]),
  ]).toEqual([
    0,
    [
      ["test", ["sh", "-c", "test -f done"]],
      ["more", ["sh", "-c", "test -d .pawl"]],
    ],
  ]);
  expect(json.warnings.join("\n")).toContain(
    'The check "test" ran as main has it: `test -f done`. Your .pawl/config.yaml says `test -f nope`, which counts once it is on main',
  );
  expect(await finish(project)).toEqual([]);
});

describe("checks: none", () => {
  test("closes a task of a project without tests, and the approval says so", async ({ project }) => {
    await begin(project, "checks: none\n");
    expect(await finish(project)).toEqual([]);
    const human = { root: project.path, env: project.env, repos: [project] };
    const { code, err } = await typing(human, { typed: "T0001" }, "approve", "T1");
    expect([code, err]).toEqual([0, expect.stringMatching(/! The policy of my project requires no checks/)]);
  });

  test("is not for a copy in a worktree to say", async ({ project }) => {
    await begin(project, "checks:\n  test: test -f done\n");
    writeFileSync(join(worktree(project), ".pawl/config.yaml"), "checks: none\n");
    gitIn(project, worktree(project), "commit", "-q", "-am", "No checks");
    expect(await finish(project)).toEqual(["check_missing"]);
  });
});

test("recheck: what was true when the evidence was taken has to be true when a human approves", {
  tags: ["proof"],
}, async ({ project }) => {
  const ready = put(outside(project, "ready"), "");
  await begin(project, `recheck: true\nchecks:\n  test: test -f '${ready}' && test -f done\n`);
  await ok(project.pawl("verify", "T1"));
  expect(await finish(project)).toEqual([]);
  const human = { root: project.path, env: project.env, repos: [project] };
  rmSync(ready);
  const refused = await typing(human, { typed: "T0001" }, "approve", "T1");
  expect([refused.code, refused.json.error.code]).toEqual([1, "check_failed"]);
  put(ready, "");
  const { code, err } = await typing(human, { typed: "T0001" }, "approve", "T1");
  expect([code, err]).toEqual([0, expect.stringMatching(/Run again by this approval: .*passed on tree/)]);
  expect(project.git("show", "main:done")).toBe("yes");
});
