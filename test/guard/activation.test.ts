import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test as plain } from "vitest";
import { openGuard } from "../../src/guard/open.ts";
import { readConfigText } from "../../src/model/config.ts";
import { bundleProgram } from "../helpers/bundle-program.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { systemGit } from "../helpers/optional-program.ts";
import { runHere } from "../helpers/perform-job.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { runJob } from "../helpers/worker-process.ts";

const INSTALL = ["install", "--profile", "hooks"];

function everyFile(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, encoding: "utf8", withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .map((path) => [path, `${statSync(path).mode} ${readFileSync(path, "latin1")}`]),
  );
}

const guardOf = (repository: TemporaryRepository) =>
  openGuard({
    env: repository.env,
    programs: { node: process.execPath, program: "pawl.cjs" },
    readConfig: (where, text) => readConfigText(where, text, undefined),
  });
const siteOf = (path: string) => ({ name: "x", home: true, commonDir: join(path, ".git"), mainRoot: path });
const inspect = (repository: TemporaryRepository) =>
  guardOf(repository)
    .inspect(siteOf(repository.path))
    .problems.map((one) => one.code);

/** Whether a commit on the current branch goes through. */
function canCommit(path: string, env: Record<string, string>): boolean {
  const args = ["commit", "-q", "--allow-empty", "-m", "try"];
  return spawnSync("git", args, { cwd: path, env, encoding: "utf8" }).status === 0;
}

/** The guard holds, and leaves ordinary work alone; or there is no guard. */
function standOf(path: string, env: Record<string, string>): "guarded" | "not guarded" | "broken" {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: path, env }).status === 0;
  const onMain = canCommit(path, env);
  if (onMain) git("-c", "core.hooksPath=/dev/null", "reset", "-q", "--hard", "HEAD~1");
  const elsewhere =
    git("checkout", "-q", "-B", "try") && canCommit(path, env) && git("checkout", "-q", "main");
  return !elsewhere ? "broken" : onMain ? "not guarded" : "guarded";
}

describe("pawl install --profile hooks and pawl uninstall", () => {
  test("leave no trace, whatever the config looked like", async ({ project }) => {
    const config = join(project.path, ".git/config");
    // The state is there before us; what is recorded there of the guard is kept.
    await project.pawl("task", "new", "One");
    for (const end of ["", "[x]\n\ty = z", '[alias]\n\tst = status ; "\n\n\n']) {
      appendFileSync(config, end);
      const before = everyFile(join(project.path, ".git"));
      expect((await project.pawl(...INSTALL)).code).toBe(0);
      expect(standOf(project.path, project.env)).toBe("guarded");
      expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
      project.git("branch", "-q", "-D", "try");
      const after = everyFile(join(project.path, ".git"));
      const kept = (files: Record<string, string>) =>
        Object.fromEntries(
          Object.entries(files).filter(
            ([path]) => !/\/(?:objects|logs|index|COMMIT_EDITMSG|packed-refs|state\.git\/refs)/.test(path),
          ),
        );
      expect(kept(after)).toEqual(kept(before));
      expect(existsSync(join(project.path, ".git/hooks"))).toBe(false);
    }
  });

  test("are recorded: a guard that is gone without it is missed", { tags: ["proof"] }, async ({
    project,
  }) => {
    const audit = async () => {
      const { code, json } = await project.pawl("audit", "--json");
      return { code, found: json.data.audit.findings.map((one: { code: string }) => one.code) };
    };
    await project.pawl("task", "new", "One");
    await project.pawl(...INSTALL);
    expect(await audit()).toEqual({ code: 0, found: [] });
    const config = join(project.path, ".git/config");
    const withGuard = readFileSync(config, "utf8");
    rmSync(join(project.path, ".git/pawl/before"));
    expect(await audit()).toEqual({ code: 1, found: ["guard_removed"] });
    await project.pawl(...INSTALL);
    expect(readFileSync(config, "utf8")).toBe(withGuard);
    expect(await audit()).toEqual({ code: 0, found: [] });
    await project.pawl("uninstall", "--yes");
    expect(await audit()).toEqual({ code: 0, found: [] });
    // What comes in meanwhile is no baseline for the next time.
    project.git("commit", "-q", "--allow-empty", "-m", "meanwhile");
    await project.pawl(...INSTALL);
    expect((await audit()).code).toBe(1);
  });

  test("a hook that there is no more need for is not missed, a changed one is", async ({ project }) => {
    const [own, shim] = ["hooks/post-commit", "pawl/hooks/post-commit"].map((name) =>
      join(project.path, ".git", name),
    ) as [string, string];
    mkdirSync(join(own, ".."), { recursive: true });
    writeFileSync(own, "#!/bin/sh\n", { mode: 0o755 });
    await project.pawl(...INSTALL);
    expect((await project.pawl("audit")).code).toBe(0);
    appendFileSync(shim, "exit 0\n");
    const changed = await project.pawl("audit", "--json");
    expect(changed.json.data.audit.findings).toMatchObject([
      { code: "hook_changed", where: expect.any(String) },
    ]);
    rmSync(own);
    await project.pawl(...INSTALL);
    expect(existsSync(shim)).toBe(false);
    expect((await project.pawl("audit")).code).toBe(0);
  });

  test("keep what another program wrote into the config meanwhile", async ({ project }) => {
    await project.pawl(...INSTALL);
    project.git("config", "remote.origin.url", "x");
    await project.pawl("uninstall", "--yes");
    expect(readFileSync(join(project.path, ".git/config"), "utf8")).toMatch(
      /\[remote "origin"\]\n\turl = x\n$/,
    );
    expect(readFileSync(join(project.path, ".git/config"), "utf8")).not.toMatch(/pawl|hooksPath/);
  });

  test("leave a lock that git has on the config alone, and say so", { tags: ["proof"] }, async ({
    project,
  }) => {
    const lock = join(project.path, ".git/config.lock");
    writeFileSync(lock, "git's");
    const refused = await project.pawl(...INSTALL, "--json");
    expect(refused.json.error.code).toBe("config_locked");
    expect(readFileSync(lock, "utf8")).toBe("git's");
    rmSync(lock);
    expect((await project.pawl(...INSTALL)).code).toBe(0);
  });

  /** A hook of this name where git would look without us, and one that another tool puts into our folder. */
  const twoHooks = (project: Project) => {
    const [mine, tools] = ["hooks/post-merge", "pawl/hooks/post-merge"].map((name) =>
      join(project.path, ".git", name),
    ) as [string, string];
    const put = (path: string, word: string) =>
      writeFileSync(path, `#!/bin/sh\n# ${word}\n`, { mode: 0o755 });
    return { mine, tools, put };
  };

  test("a hook that another tool put into our folder replaces none that the user has written since", async ({
    project,
  }) => {
    const { mine, tools, put } = twoHooks(project);
    await project.pawl(...INSTALL);
    put(tools, "the tool's");
    await project.pawl(...INSTALL);
    expect(readFileSync(mine, "utf8")).toContain("the tool's");
    put(mine, "the user's");
    for (const _ of [1, 2]) {
      put(tools, "the tool's newer one");
      const again = await project.pawl(...INSTALL, "--json");
      expect(JSON.stringify(again.json)).toContain(`the tool's is ${mine}.set-aside now`);
    }
    put(tools, "the tool's newest");
    await project.pawl(...INSTALL);
    expect(readFileSync(mine, "utf8")).toContain("the user's");
    expect(readFileSync(`${mine}.set-aside`, "utf8")).toContain("the tool's newer one");
    expect(readFileSync(`${mine}.set-aside-2`, "utf8")).toContain("the tool's newest");
    expect(existsSync(`${mine}.set-aside-3`)).toBe(false);
    expect(readFileSync(tools, "utf8")).toContain("Written by pawl");
  });

  test.for([
    ["with records", true],
    ["without", false],
  ] as const)(
    "uninstall keeps a tool's hook and the user's of that name: %s",
    async ([, records], { project }) => {
      const { mine, tools, put } = twoHooks(project);
      if (records) await project.pawl("task", "new", "One");
      await project.pawl(...INSTALL);
      mkdirSync(join(mine, ".."), { recursive: true });
      put(mine, "the user's");
      put(tools, "the tool's");
      const gone = await project.pawl("uninstall", "--yes", "--json");
      expect(JSON.stringify(gone.json)).toContain(`the tool's is ${mine}.set-aside now`);
      expect(readFileSync(mine, "utf8")).toContain("the user's");
      expect(readFileSync(`${mine}.set-aside`, "utf8")).toContain("the tool's");
    },
  );

  test("a second one changes nothing, not even a time", async ({ project }) => {
    await project.pawl(...INSTALL);
    const times = () =>
      Object.fromEntries(
        Object.keys(everyFile(join(project.path, ".git")))
          .filter((path) => !path.includes("guard.lock"))
          .map((path) => [path, statSync(path).mtimeMs]),
      );
    const before = times();
    const again = await project.pawl(...INSTALL, "--json");
    expect(again.json.data.install.guard.changed).toEqual([]);
    expect(times()).toEqual(before);
    expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
    expect((await project.pawl("uninstall", "--yes", "--json")).json.data.uninstall.guard.removed).toEqual(
      [],
    );
  });

  test("a dry run names what would be done and does none of it", async ({ project }) => {
    const planned = await project.pawl(...INSTALL, "--dry-run", "--json");
    expect(planned.json.planned.map((one: { path: string }) => one.path)).toContain(
      join(project.path, ".git/pawl/hooks/reference-transaction"),
    );
    expect(existsSync(join(project.path, ".git/pawl/hooks"))).toBe(false);
  });

  test("another profile is told from those that there are", async ({ project }) => {
    const { code, json } = await project.pawl("install", "--profile", "some", "--json");
    expect([code, json.error.code]).toEqual([3, "bad_input"]);
    expect(json.error.message).toBe("--profile must be one of all, hooks, skills, state.");
  });

  test("an agent may not uninstall, whatever it claims to be", async ({ project }) => {
    await project.pawl(...INSTALL);
    for (const argv of [["uninstall"], ["uninstall", "--actor", "human:ada"], ["uninstall", "--dry-run"]]) {
      const { code, err } = await project.pawlIn(project.path, { CLAUDECODE: "1" }, ...argv);
      expect([code, err]).toEqual([1, expect.stringContaining("Only a human may remove the guard")]);
    }
    expect(standOf(project.path, project.env)).toBe("guarded");
  });

  test("a repository with longer names for objects is guarded like any other", async ({ project }) => {
    const path = join(project.path, "..", "sha256");
    execFileSync("git", ["init", "-q", "-b", "main", "--object-format=sha256", path], { env: project.env });
    execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "first"], { cwd: path, env: project.env });
    const config = readFileSync(join(path, ".git/config"), "utf8");
    expect((await project.pawlIn(path, {}, ...INSTALL)).code).toBe(0);
    expect(standOf(path, project.env)).toBe("guarded");
    expect(inspect({ ...project, path })).toEqual([]);
    expect((await project.pawlIn(path, {}, "uninstall", "--yes")).code).toBe(0);
    expect(readFileSync(join(path, ".git/config"), "utf8")).toBe(config);
  });

  test("a format that nobody knows yet is refused", async ({ project }) => {
    project.git("config", "extensions.refStorage", "stones");
    const { code, json } = await project.pawl(...INSTALL, "--json");
    expect([code, json.error.code]).toEqual([1, "unsupported_repository"]);
    expect(existsSync(join(project.path, ".git/pawl/hooks"))).toBe(false);
  });
});

describe("the policy in force", () => {
  test("is the one on the protected tip, and a copy can only add to it", async ({ project }) => {
    project.write(".pawl/config.yaml", "protected:\n  - main\n  - release/*\n");
    project.git("add", "-f", ".pawl/config.yaml");
    project.git("commit", "-q", "-m", "Policy");
    const patterns = async () => (await project.pawl(...INSTALL, "--json")).json.data.install.guard.protected;
    expect(await patterns()).toEqual(["main", "release/*"]);
    project.write(".pawl/config.yaml", "protected:\n  - other\n");
    expect(await patterns()).toEqual(["main", "release/*", "other"]);
    rmSync(join(project.path, ".pawl/config.yaml"));
    expect(await patterns()).toEqual(["main", "release/*"]);
    expect(readFileSync(join(project.path, ".git/pawl/policy"), "utf8")).toBe("main\nrelease/*\n");
  });

  test("protects the remote's default branch when nothing is said", async ({ project }) => {
    project.git("update-ref", "refs/remotes/origin/trunk", "HEAD");
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    project.git("branch", "trunk");
    expect((await project.pawl(...INSTALL, "--json")).json.data.install.guard.protected).toEqual(["trunk"]);
    expect(canCommit(project.path, project.env)).toBe(true);
    project.git("checkout", "-q", "trunk");
    expect(canCommit(project.path, project.env)).toBe(false);
  });
});

describe("wherever the repository is", () => {
  const cases = ["moved", "copied"] as const;
  test.for(cases)("%s", async (how, { project }) => {
    await project.pawl(...INSTALL);
    const path = join(project.path, "..", "else where [x]");
    if (how === "moved") renameSync(project.path, path);
    else cpSync(project.path, path, { recursive: true });
    // A setting of git's names a folder by its whole path; since 2.54 the guard is found from where the repository is.
    const lost = how === "moved" && !systemGit.isSince("2.54");
    expect(standOf(path, project.env)).toBe(lost ? "not guarded" : "guarded");
    expect((await project.pawlIn(path, {}, "note", "add", "x")).code).toBe(0);
    expect(standOf(path, project.env)).toBe("guarded");
    for (const args of [
      ["gc", "-q"],
      ["pack-refs", "--all"],
    ])
      execFileSync("git", args, { cwd: path, env: project.env });
    expect(spawnSync("git", ["branch", "-D", "main"], { cwd: path, env: project.env }).status).not.toBe(0);
    expect((await project.pawlIn(path, {}, ...INSTALL)).code).toBe(0);
    const config = readFileSync(join(path, ".git/config"), "utf8");
    expect(config.match(/hooksPath = .*/g)).toEqual([`hooksPath = "${path}/.git/pawl/hooks"`]);
    expect(inspect({ ...project, path })).toEqual([]);
  });

  test("a bare repository with worktrees around it", async ({ project }) => {
    const bare = join(project.path, "..", "bare", ".bare");
    execFileSync("git", ["clone", "-q", "--bare", project.path, bare], { env: project.env });
    const git = (cwd: string, ...args: string[]) =>
      spawnSync("git", args, { cwd, env: project.env, encoding: "utf8" });
    const [main, other] = [join(bare, "../main"), join(bare, "../other")];
    git(bare, "worktree", "add", "-q", main, "main");
    git(bare, "worktree", "add", "-q", "-b", "other", other);
    expect((await project.pawlIn(main, {}, ...INSTALL)).code).toBe(0);
    expect(canCommit(main, project.env)).toBe(false);
    expect(canCommit(other, project.env)).toBe(true);
    expect(git(bare, "update-ref", "refs/heads/main", "other").stderr).toContain("pawl: refused");
    expect(git(bare, "gc", "-q").status).toBe(0);
  });
});

describe("a re-check", () => {
  const spoil: Record<string, [codes: string[], spoil: (project: Project) => void]> = {
    "nothing is wrong": [[], () => {}],
    "a worktree's own setting": [
      ["override", "override"],
      (project) => {
        project.git("config", "extensions.worktreeConfig", "true");
        project.git("config", "--worktree", "core.hooksPath", "/dev/null");
        project.git("worktree", "add", "-q", "--detach", "../second");
      },
    ],
    "a hook that cannot be run": [
      ["file_changed"],
      ({ path }) => chmodSync(join(path, ".git/pawl/hooks/pre-push"), 0o644),
    ],
    "a hook that says something else": [
      ["file_changed"],
      ({ path }) => appendFileSync(join(path, ".git/pawl/hooks/reference-transaction"), "exit 0\n"),
    ],
    "a hook that is gone": [
      ["file_changed"],
      ({ path }) => rmSync(join(path, ".git/hooks/reference-transaction")),
    ],
    "another program in our folder": [
      ["file_changed", "taken_over"],
      ({ path }) => {
        writeFileSync(join(path, ".git/pawl/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
      },
    ],
    "a hook that nobody calls": [
      ["not_chained"],
      ({ path }) => writeFileSync(join(path, ".git/hooks/commit-msg"), "#!/bin/sh\n", { mode: 0o755 }),
    ],
  };
  test.for(Object.entries(spoil))("%s", async ([name, [codes, act]], { project }) => {
    await project.pawl(...INSTALL);
    act(project);
    expect(inspect(project)).toEqual(codes);
    await project.pawl(...INSTALL);
    expect(inspect(project)).toEqual(name === "a worktree's own setting" ? codes : []);
  });

  test("tells an environment that switches hooks off", async ({ project }) => {
    await project.pawl(...INSTALL);
    const env = {
      ...project.env,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.hooksPath",
      GIT_CONFIG_VALUE_0: "",
    };
    const [problem] = guardOf({ ...project, env }).inspect(siteOf(project.path)).problems;
    expect(problem).toMatchObject({
      code: "override",
      message: expect.stringContaining("in this environment"),
    });
  });

  test("tells a branch that moved behind the guard's back", async ({ project }) => {
    await project.pawl(...INSTALL);
    project.git(
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "hook.pawl.enabled=false",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    project.git("tag", "next");
    expect(inspect(project)).toEqual(["tripped"]);
  });

  test("tells it also in a copy of the repository that is guarded anew", async ({ project }) => {
    await project.pawl(...INSTALL);
    const path = `${project.path} copy`;
    cpSync(project.path, path, { recursive: true });
    const git = (...args: string[]) => execFileSync("git", args, { cwd: path, env: project.env });
    const off = ["-c", "core.hooksPath=/dev/null", "-c", "hook.pawl.enabled=false"];
    git(...off, "commit", "-q", "--allow-empty", "-m", "x");
    expect((await project.pawlIn(path, {}, ...INSTALL)).code).toBe(0);
    git("tag", "next");
    expect(inspect({ ...project, path })).toEqual(["tripped"]);
  });
});

describe("killed or crowded", { tags: ["proof"] }, () => {
  let root: string;
  let worker: string;
  beforeAll(async () => {
    root = makeTemporaryFolder("guard crash");
    worker = await bundleProgram(join(import.meta.dirname, "../helpers/operation-worker.ts"), root, "worker");
  });
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  let count = 0;
  const fresh = () => {
    const repository = makeRepository(join(root, `r${++count}`));
    mkdirSync(join(repository.path, ".git/hooks"));
    writeFileSync(join(repository.path, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    return repository;
  };
  const installJob = { operation: "install", input: { profile: "hooks" } };
  const uninstallJob = { operation: "uninstall", input: { yes: true } };

  plain.each([
    ["install", installJob, uninstallJob],
    ["uninstall", uninstallJob, installJob],
  ] as const)(
    "%s, killed at every step, leaves a guard that holds or none",
    { timeout: 240_000 },
    async (name, job, other) => {
      const prepare = async () => {
        const repository = fresh();
        if (name === "uninstall") await runHere(repository, installJob);
        return repository;
      };
      const whole = await runJob(worker, await prepare(), job);
      const steps = whole?.steps ?? [];
      expect(steps.length).toBeGreaterThan(8);
      for (let at = 1; at <= steps.length; at++) {
        const repository = await prepare();
        const config = readFileSync(join(repository.path, ".git/config"), "utf8");
        expect(await runJob(worker, repository, { ...job, killAtStep: at })).toBeUndefined();
        expect(standOf(repository.path, repository.env), steps[at - 1]).not.toBe("broken");
        // Whoever comes next finishes it, or takes it back.
        const next = at % 2 === 0 ? job : other;
        expect((await runHere(repository, next)).ok, steps[at - 1]).toBe(true);
        const guarded = next === installJob;
        expect(standOf(repository.path, repository.env), steps[at - 1]).toBe(
          guarded ? "guarded" : "not guarded",
        );
        const left = readdirSync(join(repository.path, ".git")).filter((one) =>
          /lock|pawl-|config\./.test(one),
        );
        expect(left, steps[at - 1]).toEqual([]);
        if (!guarded && name === "install")
          expect(readFileSync(join(repository.path, ".git/config"), "utf8")).toBe(config);
      }
    },
  );

  plain("eight at once", { timeout: 120_000 }, async () => {
    const repository = fresh();
    const reports = await Promise.all(
      Array.from({ length: 8 }, () => runJob(worker, repository, installJob)),
    );
    expect(reports.map((one) => one?.ok)).toEqual(Array(8).fill(true));
    expect(standOf(repository.path, repository.env)).toBe("guarded");
    const config = readFileSync(join(repository.path, ".git/config"), "utf8");
    expect(config.match(/hooksPath/g)).toHaveLength(1);
    const all = Array.from({ length: 8 }, (_, at) =>
      runJob(worker, repository, at % 2 ? installJob : uninstallJob),
    );
    expect((await Promise.all(all)).map((one) => one?.ok)).toEqual(Array(8).fill(true));
    expect(standOf(repository.path, repository.env)).not.toBe("broken");
  });
});
