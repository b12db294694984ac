// @module-tag proof
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";

const INSTALL = ["install", "--profile", "hooks"];
const HOLDS = "is not guarded properly";

async function prepare(project: Project): Promise<void> {
  expect((await project.pawl("task", "new", "One")).code).toBe(0);
  expect((await project.pawl(...INSTALL)).code).toBe(0);
}

const OFF = ["-c", "core.hooksPath=/dev/null", "-c", "hook.pawl.enabled=false"];

const SPOIL: Record<
  string,
  [words: string, spoil: (project: Project) => Record<string, string> | undefined]
> = {
  "an environment with other hooks, as Gemini CLI makes it": [
    "GIT_CONFIG_COUNT",
    () => ({
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: "core.pager",
      GIT_CONFIG_VALUE_0: "cat",
      GIT_CONFIG_KEY_1: "core.hooksPath",
      GIT_CONFIG_VALUE_1: "",
    }),
  ],
  "parameters in the environment": [
    "GIT_CONFIG_PARAMETERS",
    () => ({ GIT_CONFIG_PARAMETERS: "'core.hooksPath=/dev/null'" }),
  ],
  "a setting of this worktree": [
    "config.worktree",
    (project) => {
      project.git("config", "extensions.worktreeConfig", "true");
      project.git("config", "--worktree", "core.hooksPath", "/dev/null");
      return undefined;
    },
  ],
  "a hook that was changed": [
    "pawl/hooks/reference-transaction",
    ({ path }) => {
      appendFileSync(join(path, ".git/pawl/hooks/reference-transaction"), "exit 0\n");
      return undefined;
    },
  ],
  "a hook that cannot be run": [
    "pawl/hooks/pre-push",
    ({ path }) => {
      chmodSync(join(path, ".git/pawl/hooks/pre-push"), 0o644);
      return undefined;
    },
  ],
  "a setting that is gone": [
    "the configuration names",
    ({ git }) => {
      git("config", "--unset", "core.hooksPath");
      return undefined;
    },
  ],
  "another setting in the place of ours": [
    "the configuration names",
    ({ git }) => {
      git("config", "core.hooksPath", ".githooks");
      return undefined;
    },
  ],
  "a setting after ours": [
    "the configuration names",
    ({ path }) => {
      appendFileSync(join(path, ".git/config"), "[core]\n\thooksPath = /dev/null\n");
      return undefined;
    },
  ],
  "a file that is included after ours": [
    "the configuration names",
    ({ path }) => {
      writeFileSync(join(path, ".git/more"), "[core]\n\thooksPath = /dev/null\n");
      appendFileSync(join(path, ".git/config"), "[include]\n\tpath = more\n");
      return undefined;
    },
  ],
  "a repository that was moved": [
    "the configuration names",
    (project) => {
      renameSync(project.path, `${project.path} moved`);
      project.path += " moved";
      return undefined;
    },
  ],
  "a guard that is gone": [
    "is gone",
    ({ path }) => {
      rmSync(join(path, ".git/pawl/before"));
      return undefined;
    },
  ],
};

describe("status and session", () => {
  test.for(Object.entries(SPOIL))("say it: %s", async ([, [words, spoil]], { project }) => {
    await prepare(project);
    const env = spoil(project) ?? {};
    for (const command of ["status", "session"]) {
      const { code, err } = await project.pawlIn(project.path, env, command);
      expect([code, err]).toEqual([0, expect.stringContaining(HOLDS)]);
      expect(err).toContain(words);
    }
  });

  test("say that a branch moved behind the guard's back", async ({ project }) => {
    await prepare(project);
    project.git(...OFF, "commit", "-q", "--allow-empty", "-m", "x");
    project.git("tag", "next");
    expect((await project.pawl("status")).err).toContain("moved while the guard was switched off");
  });

  const harmless: Record<string, (project: Project) => void> = {
    "nothing happened": () => {},
    "another setting was written": ({ git }) => {
      git("config", "remote.origin.url", "x");
    },
    "another tool, which the project uses, wrote the plain setting": ({ git }) => {
      git("config", "core.hooksPath", ".husky/_");
    },
    "the guard was taken out": () => {},
  };
  test.for(Object.entries(harmless))("are quiet when %s", async ([name, act], { project }) => {
    project.write(".husky/pre-commit", "");
    await prepare(project);
    if (name === "the guard was taken out") await project.pawl("uninstall", "--yes");
    act(project);
    for (const command of ["status", "session"])
      expect((await project.pawl(command)).err, command).not.toMatch(/not guarded properly/);
    expect((await project.pawl("note", "add", "x")).code).toBe(0);
    expect((await project.pawl("doctor")).code).toBe(0);
  });

  const restored: Record<string, (project: Project) => string | undefined> = {
    "another program set core.hooksPath": ({ git }) => {
      git("config", "core.hooksPath", "/dev/null");
      return undefined;
    },
    "somebody unset it": ({ git }) => {
      git("config", "--unset-all", "core.hooksPath");
      return undefined;
    },
    "a second value came after it": ({ path }) => {
      appendFileSync(join(path, ".git/config"), "[core]\n\thooksPath = /dev/null\n");
      return undefined;
    },
    "the repository was copied": ({ path }) => {
      cpSync(path, `${path} copy`, { recursive: true });
      return `${path} copy`;
    },
    "the repository was moved": ({ path }) => {
      renameSync(path, `${path} moved`);
      return `${path} moved`;
    },
  };
  test.for(Object.entries(restored))(
    "%s: the next command that writes puts the guard back, and says so",
    async ([, act], { project }) => {
      await prepare(project);
      const path = act(project) ?? project.path;
      expect((await project.pawlIn(path, {}, "note", "add", "x")).err).toContain("were rewritten");
      expect((await project.pawlIn(path, {}, "doctor")).code).toBe(0);
      const commit = ["commit", "-q", "--allow-empty", "-m", "x"];
      const { stderr } = spawnSync("git", commit, { cwd: path, env: project.env, encoding: "utf8" });
      expect(stderr).toContain("pawl: refused: main is protected");
      expect((await project.pawlIn(path, {}, "note", "add", "y")).err).not.toContain("were rewritten");
    },
  );
});

describe("start", () => {
  test("asks the guard itself, and says what it found", async ({ project }) => {
    await prepare(project);
    await project.pawl("task", "update", "T0001", "--profile", "light");
    chmodSync(join(project.path, ".git/pawl/hooks/reference-transaction"), 0o644);
    const { code, err } = await project.pawl("start", "T0001");
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/not guarded properly.*did not react to a test change/),
    ]);
  });

  test("is quiet where the guard holds", async ({ project }) => {
    await prepare(project);
    const { code, err } = await project.pawl("start", "T0001");
    expect(code).toBe(0);
    expect(err).not.toContain("guard");
  });
});
