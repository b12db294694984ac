import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";
import { systemGit } from "../helpers/optional-program.ts";
import { inTiers } from "../helpers/rows.ts";

const INSTALL = ["install", "--profile", "hooks"];

/** What a project has that uses such a tool, and what the tool does to git's configuration with every `npm install`. */
const TOOLS: Record<string, { files: Record<string, string>; before?: string; rewrites?: string }> = {
  "no other tool": { files: {} },
  husky: {
    files: { ".husky/_/h": "", ".husky/_/.gitignore": "*" },
    before: ".husky/_",
    rewrites: ".husky/_",
  },
  "husky, not installed yet": {
    files: { "package.json": '{"devDependencies":{"husky":"9"}}' },
    rewrites: ".husky/_",
  },
  "a folder of the project's own": {
    files: { ".githooks/x": "" },
    before: ".githooks",
    rewrites: ".githooks",
  },
  lefthook: { files: { "lefthook.yml": "" } },
  "simple-git-hooks": { files: { "package.json": '{"simple-git-hooks":{}}' } },
};

/** Whether main can be moved from there. */
const isGuarded = (cwd: string, env: Record<string, string>) => {
  const git = (...args: string[]) => spawnSync("git", args, { cwd, env, encoding: "utf8" });
  const commit = git("commit-tree", "-p", "main", "-m", `other ${process.hrtime()}`, "main^{tree}").stdout;
  const { status, stderr } = git("update-ref", "refs/heads/main", commit.trim());
  return status !== 0 && stderr.includes("pawl: refused");
};

function prepare(project: Project, tool: (typeof TOOLS)[string]): void {
  for (const [path, text] of Object.entries(tool.files)) project.write(path, text);
  if (tool.before) project.git("config", "core.hooksPath", tool.before);
}

const isMostCommon = ([name]: [string, unknown]) => ["no other tool", "husky"].includes(name);
for (const { tags, rows } of inTiers(Object.entries(TOOLS), isMostCommon))
  describe.each(rows)("with %s, every worktree is guarded", { tags }, (name, tool) => {
    test("whoever made it and when, also after the tool has written its setting again", async ({
      project,
    }) => {
      prepare(project, tool);
      const before = readFileSync(join(project.path, ".git/config"), "utf8");
      const add = (place: string) => project.git("worktree", "add", "-q", "--detach", `../${place}`);
      const at = (place: string) => join(project.path, "..", place);
      const stand = () =>
        Object.fromEntries(
          ["my project", "old", "new", "foreign"]
            .filter((place) => existsSync(at(place)))
            .map((place) => [place, isGuarded(at(place), project.env)]),
        );
      add("old");
      expect((await project.pawl(...INSTALL)).code).toBe(0);
      add("new");
      add("foreign");
      // Programs other than git know nothing of this file.
      rmSync(join(project.path, ".git/worktrees/foreign/config.worktree"), { force: true });
      const all = { "my project": true, old: true, new: true, foreign: true };
      expect(stand()).toEqual(all);

      if (tool.rewrites) {
        project.git("config", "core.hooksPath", tool.rewrites);
        expect(stand()).toEqual({ ...all, foreign: systemGit.isSince("2.54") });
      }
      expect((await project.pawl("note", "add", "x")).code).toBe(0);
      expect(stand()).toEqual(all);
      expect((await project.pawl("doctor")).out).not.toMatch(/not_active|override|silent|outdated/);
      const extension = spawnSync("git", ["config", "extensions.worktreeConfig"], { cwd: project.path });
      expect(extension.status === 0).toBe(name !== "no other tool");

      expect((await project.pawl("uninstall", "--yes")).code).toBe(0);
      expect(readFileSync(join(project.path, ".git/config"), "utf8")).toBe(
        name === "husky, not installed yet" ? `${before}\thooksPath = .husky/_\n` : before,
      );
      expect(Object.values(stand())).toEqual([false, false, false, false]);
      for (const place of ["", "worktrees/old", "worktrees/new", "worktrees/foreign"])
        expect(existsSync(join(project.path, ".git", place, "config.worktree"))).toBe(false);
    });
  });

test("worktrees may differ wherever git takes the switch to be on", async ({ project }) => {
  prepare(project, TOOLS.lefthook ?? { files: {} });
  project.git("config", "extensions.worktreeConfig", "2");
  await project.pawl(...INSTALL);
  expect(readFileSync(join(project.path, ".git/config.worktree"), "utf8")).toContain("/pawl/hooks");
});

test("settings of the user's for one worktree stay, and so does what they rely on", async ({ project }) => {
  prepare(project, TOOLS.lefthook ?? { files: {} });
  await project.pawl(...INSTALL);
  project.git("config", "--worktree", "user.name", "Grace");
  const done = await project.pawl("uninstall", "--yes");
  expect(done.err + done.out).toContain("extensions.worktreeConfig stays on");
  expect(project.git("config", "user.name")).toBe("Grace");
  expect(readFileSync(join(project.path, ".git/config.worktree"), "utf8")).toBe("[user]\n\tname = Grace\n");
});

test("a bare repository keeps the plain setting: what it says of itself would be said of every worktree", async ({
  project,
}) => {
  const bare = join(project.path, "..", "bare.git");
  project.git("clone", "-q", "--bare", project.path, bare);
  const git = (cwd: string, ...args: string[]) =>
    spawnSync("git", args, { cwd, env: project.env, encoding: "utf8" });
  git(bare, "config", "core.hooksPath", ".husky/_");
  git(bare, "worktree", "add", "-q", "../main", "main");
  const worktree = join(bare, "../main");
  mkdirSync(join(worktree, ".husky/_"), { recursive: true });
  writeFileSync(join(worktree, "lefthook.yml"), "");
  expect((await project.pawlIn(worktree, {}, ...INSTALL)).code).toBe(0);
  expect(git(worktree, "commit", "-q", "--allow-empty", "-m", "x").stderr).toContain("pawl: refused");
  expect(git(bare, "config", "extensions.worktreeConfig").status).toBe(1);
  git(worktree, "config", "core.hooksPath", ".husky/_");
  expect((await project.pawlIn(worktree, {}, "note", "add", "x")).code).toBe(0);
  expect(git(worktree, "commit", "-q", "--allow-empty", "-m", "x").stderr).toContain("pawl: refused");
});
