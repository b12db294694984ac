// @module-tag proof
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { notRun } from "../helpers/optional-program.ts";

/** What would install hooks into this very project lies in a folder of its own: scripts/install-test-tools.mjs. */
const FOLDERS = ["../../node_modules", "tools/node_modules"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const packageOf = (name: string) => FOLDERS.map((dir) => join(dir, name)).find((path) => existsSync(path));
const programOf = (name: string) =>
  (process.env.PATH ?? "")
    .split(":")
    .map((dir) => join(dir, name))
    .find((path) => existsSync(path));

interface Tool {
  name: string;
  /** Where it is; absent tools are skipped. */
  found: string | undefined;
  /** What a project that uses it has. */
  configure(project: Project): void;
  install(project: Project, run: Run): void;
  /** Installing it while our setting is there. */
  installAfter?(project: Project, run: Run): void;
  uninstall(project: Project, run: Run): void;
  /** It passes arguments and standard input of `git push` on. */
  push: boolean;
}
type Run = (
  command: string,
  args: string[],
  env?: Record<string, string>,
) => { status: number | null; said: string };

const node =
  (path: string) =>
  (script: string, ...args: string[]) =>
    [process.execPath, [join(path, script), ...args]] as const;

const TOOLS: Tool[] = [
  {
    name: "plain hooks",
    found: "git",
    configure: () => {},
    install(project) {
      mkdirSync(join(project.path, ".git/hooks"), { recursive: true });
      for (const name of ["pre-commit", "pre-push", "commit-msg", "reference-transaction"]) {
        const path = join(project.path, ".git/hooks", name);
        writeFileSync(path, `#!/bin/sh\nexec sh hook.sh ${name} "$@"\n`);
        chmodSync(path, 0o755);
      }
    },
    uninstall(project) {
      for (const name of ["pre-commit", "pre-push", "commit-msg", "reference-transaction"])
        rmSync(join(project.path, ".git/hooks", name), { force: true });
    },
    push: true,
  },
  {
    name: "husky 9",
    found: packageOf("husky"),
    configure(project) {
      for (const name of ["pre-commit", "pre-push", "commit-msg"])
        project.write(`.husky/${name}`, `sh hook.sh ${name} "$@"\n`);
    },
    install(_project, run) {
      const [command, args] = node(packageOf("husky") ?? "")("bin.js");
      expect(run(command, [...args])).toMatchObject({ status: 0 });
    },
    uninstall(project, run) {
      run("git", ["config", "--local", "--unset", "core.hooksPath"]);
      rmSync(join(project.path, ".husky"), { recursive: true, force: true });
    },
    push: true,
  },
  {
    name: "simple-git-hooks",
    found: packageOf("simple-git-hooks"),
    configure(project) {
      const hooks = Object.fromEntries(
        ["pre-commit", "pre-push"].map((name) => [name, `sh hook.sh ${name} "$@"`]),
      );
      project.write("package.json", JSON.stringify({ name: "x", "simple-git-hooks": hooks }));
    },
    install(_project, run) {
      const [command, args] = node(packageOf("simple-git-hooks") ?? "")("cli.js");
      expect(run(command, [...args])).toMatchObject({ status: 0 });
    },
    uninstall(_project, run) {
      const [command, args] = node(packageOf("simple-git-hooks") ?? "")("uninstall.js");
      run(command, [...args]);
    },
    push: true,
  },
  {
    name: "lefthook 2",
    found: packageOf("lefthook"),
    configure(project) {
      const hook = (name: string, more: string) =>
        `${name}:\n  commands:\n    log:\n${more}      run: sh hook.sh ${name} {0}\n`;
      project.write("lefthook.yml", hook("pre-commit", "") + hook("pre-push", "      use_stdin: true\n"));
    },
    install(_project, run) {
      const [command, args] = node(packageOf("lefthook") ?? "")("bin/index.js", "install", "--force");
      expect(run(command, [...args])).toMatchObject({ status: 0 });
    },
    uninstall(_project, run) {
      const [command, args] = node(packageOf("lefthook") ?? "")("bin/index.js", "uninstall");
      run(command, [...args]);
    },
    push: true,
  },
  {
    name: "pre-commit",
    found: programOf("pre-commit"),
    configure(project) {
      const hook =
        "      - {id: log, name: log, language: system, entry: sh hook.sh pre-commit, pass_filenames: false, always_run: true}\n";
      project.write(".pre-commit-config.yaml", `repos:\n  - repo: local\n    hooks:\n${hook}`);
    },
    install(_project, run) {
      expect(run(programOf("pre-commit") ?? "", ["install"])).toMatchObject({ status: 0 });
    },
    installAfter(_project, run) {
      // It refuses while any hooks path is set, be it ours or husky's, and says how to go on. Whoever does that stays guarded.
      const refused = run(programOf("pre-commit") ?? "", ["install"]);
      expect(refused).toMatchObject({ status: 1, said: expect.stringContaining("git config --unset-all") });
      expect(run("git", ["config", "--unset-all", "core.hooksPath"]).status).toBe(0);
      expect(run(programOf("pre-commit") ?? "", ["install"])).toMatchObject({ status: 0 });
    },
    uninstall(_project, run) {
      run(programOf("pre-commit") ?? "", ["uninstall"]);
    },
    push: false,
  },
];

const HOOK = `printf '%s|%s\\n' "$1" "$*" >> "$LOG"
case $1 in pre-push) cat >> "$LOG" ;; esac
exit "\${HOOK_EXIT:-0}"
`;

function open(project: Project) {
  const log = join(project.path, "..", "log");
  const env = {
    ...project.env,
    LOG: log,
    NO_COLOR: "1",
    XDG_CACHE_HOME: join(project.path, "../cache"),
    // It looks for itself in the worktree's own packages, which a worktree does not have before `npm install`.
    LEFTHOOK_BIN: join(packageOf("lefthook") ?? "", "bin/index.js"),
  };
  const runIn = (cwd: string, command: string, args: string[], extra: Record<string, string> = {}) => {
    const done = spawnSync(command, args, { cwd, env: { ...env, ...extra }, encoding: "utf8" });
    return { status: done.status, said: `${done.stdout}${done.stderr}` };
  };
  const run: Run = (...call) => runIn(project.path, ...call);
  let tries = 0;
  const commit = (extra: Record<string, string> = {}, ...flags: string[]) => {
    project.write("tries", `${++tries}\n`);
    expect(run("git", ["add", "tries"]).status).toBe(0);
    const done = run("git", ["commit", "-q", "-m", "try", ...flags], extra);
    if (done.status !== 0) expect(run("git", ["reset", "-q", "--hard"]).status).toBe(0);
    return done;
  };
  const logged = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  const origin = join(project.path, "..", "origin.git");

  /** The tool's hooks run, with everything that git tells them, and can say no. */
  const expectHooks = (tool: Tool) => {
    rmSync(log, { force: true });
    expect(run("git", ["checkout", "-q", "-B", "feature"]).status).toBe(0);
    expect(commit()).toMatchObject({ status: 0 });
    expect(logged()).toContain("pre-commit|");
    expect(commit({ HOOK_EXIT: "3" }).status).not.toBe(0);
    if (!tool.push) return;
    rmSync(log, { force: true });
    expect(run("git", ["push", "-q", "-f", origin, "feature"])).toMatchObject({ status: 0 });
    const id = project.git("rev-parse", "feature");
    expect(logged()).toMatch(/^pre-push\|.*origin\.git/m);
    expect(logged()).toContain(`refs/heads/feature ${id} refs/heads/feature`);
    expect(commit()).toMatchObject({ status: 0 });
    expect(run("git", ["push", "-q", "-f", origin, "feature"], { HOOK_EXIT: "3" }).status).not.toBe(0);
  };
  const expectGuard = () => {
    expect(run("git", ["checkout", "-q", "main"]).status).toBe(0);
    for (const flags of [[], ["--no-verify"]]) {
      const { status, said } = commit({}, ...flags);
      expect([status === 0, said]).toEqual([
        false,
        expect.stringContaining("pawl: refused: main is protected"),
      ]);
    }
  };
  /** In a task's own worktree, and in one that another program made: the tool's hooks run, and the guard holds. */
  const expectWorktrees = (task: string) => {
    const other = join(project.path, "..", "other");
    if (!existsSync(other)) expect(run("git", ["worktree", "add", "-q", "--detach", other]).status).toBe(0);
    for (const cwd of [task, other]) {
      rmSync(log, { force: true });
      const commitThere = (extra: Record<string, string> = {}) => {
        writeFileSync(join(cwd, "tries"), `${cwd} ${++tries}\n`);
        runIn(cwd, "git", ["add", "tries"]);
        return runIn(cwd, "git", ["commit", "-q", "-m", "there"], extra);
      };
      expect(commitThere()).toMatchObject({ status: 0 });
      expect(logged(), cwd).toContain("pre-commit|");
      expect(commitThere({ HOOK_EXIT: "3" }).status).not.toBe(0);
      const moved = runIn(cwd, "git", ["update-ref", "refs/heads/main", "HEAD"]);
      expect(moved).toMatchObject({ status: 128, said: expect.stringContaining("pawl: refused") });
    }
  };
  const start = async () => {
    expect((await project.pawl("task", "new", "Try", "--profile", "light")).code).toBe(0);
    const { json } = await project.pawl("start", "T0001", "--json");
    return { said: json.warnings.join("\n"), path: join(project.path, json.data.run.repos[0].worktree) };
  };
  const prepare = (tool: Tool) => {
    project.write("hook.sh", HOOK);
    tool.configure(project);
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "Tools");
    run("git", ["init", "-q", "--bare", origin]);
    // Tools look for themselves below the project.
    if (tool.found && tool.found !== "git" && tool.found.includes("node_modules")) {
      symlinkSync(dirname(tool.found), join(project.path, "node_modules"));
    }
  };
  return {
    run,
    prepare,
    start,
    expectWorktrees,
    expectHooks,
    expectGuard,
    config: () => readFileSync(join(project.path, ".git/config"), "utf8"),
  };
}

for (const tool of TOOLS) {
  describe.skipIf(!tool.found)(
    `${tool.name}${notRun(tool.found !== undefined, tool.name)}`,
    { timeout: 120_000 },
    () => {
      test("was there before us", async ({ project }) => {
        const { run, prepare, start, expectWorktrees, expectHooks, expectGuard, config } = open(project);
        prepare(tool);
        tool.install(project, run);
        const before = config();
        expect((await project.pawl("install", "--profile", "hooks")).code).toBe(0);
        expectHooks(tool);
        expectGuard();
        const task = await start();
        expect(task.said.includes(".husky/_ was copied into the worktree")).toBe(tool.name === "husky 9");
        expectWorktrees(task.path);

        // Run again, as every `npm install` does: the guard holds at once, and both do after the next look.
        if (tool.installAfter) tool.installAfter(project, run);
        else tool.install(project, run);
        expectGuard();
        expectWorktrees(task.path);
        expect((await project.pawl("note", "add", "The next command")).code).toBe(0);
        expectHooks(tool);
        expectGuard();
        expectWorktrees(task.path);
        expect((await project.pawl("doctor")).out).not.toMatch(/not_active|override|silent|not_chained/);

        expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
        expect(config()).toBe(before);
        expectHooks(tool);
      });

      test("comes after us, and goes", async ({ project }) => {
        const { run, prepare, expectHooks, expectGuard, config } = open(project);
        prepare(tool);
        const before = config();
        expect((await project.pawl("install", "--profile", "hooks")).code).toBe(0);
        (tool.installAfter ?? tool.install)(project, run);
        if (tool.name !== "plain hooks") expectGuard();
        expect((await project.pawl("install", "--profile", "hooks")).code).toBe(0);
        expectHooks(tool);
        expectGuard();

        tool.uninstall(project, run);
        expect(run("git", ["checkout", "-q", "-B", "feature"]).status).toBe(0);
        expect(run("git", ["commit", "-q", "--allow-empty", "-m", "without it"])).toMatchObject({
          status: 0,
        });
        expectGuard();
        expect((await project.pawl("install", "--profile", "hooks")).code).toBe(0);
        expectGuard();
        expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
        expect(config()).toBe(before);
      });
    },
  );
}
