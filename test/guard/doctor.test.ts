import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { Git } from "../../src/git/run-git.ts";
import { settingIn } from "../../src/guard/probe.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { inTiers } from "../helpers/rows.ts";

const INSTALL = ["install", "--profile", "hooks"];

async function examine(project: Project, env: Record<string, string> = {}, ...argv: string[]) {
  const { code, json } = await project.pawlIn(project.path, env, "doctor", "--json", ...argv);
  const found: { code: string; level: string; command?: string }[] = json.data.doctor.diagnoses;
  return { code, codes: found.map((one) => one.code), found };
}

/** The runtime of the tests is no program; an installed one is where pre-push looks first. */
function giveRuntime({ path }: Project): void {
  mkdirSync(join(path, ".git/pawl/runtime"), { recursive: true });
  writeFileSync(join(path, ".git/pawl/runtime/pawl.cjs"), "");
}

test("a worktree that goes away while it is looked at has nothing to say", ({ project }) => {
  const gone = join(project.path, "gone");
  expect(settingIn(gone, Git.in("user", project.env, gone))).toBeUndefined();
  expect(settingIn(project.path, Git.in("user", project.env, project.path))).toMatchObject({ value: "" });
});

describe("pawl doctor", () => {
  test("says that there is no guard, and takes it for no fault", async ({ project }) => {
    expect(await examine(project)).toMatchObject({ code: 0, codes: ["not_guarded"] });
    expect((await project.pawl("doctor")).out).toMatch(/Nothing is broken, but nothing is guarded\.\n$/);
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  });

  test("offers a fresh clone of a project that has pawl what the project has, not the guard alone", async ({
    project,
  }) => {
    const commandIn = async (path: string) =>
      (await examine({ ...project, path })).found.find((one) => one.code === "not_guarded")?.command;
    expect(await commandIn(project.path)).toBe("pawl install --profile hooks");
    await project.pawl("install", "--profile", "skills");
    // Whoever wanted the skills alone has seen the rest and left it out.
    expect(await commandIn(project.path)).toBe("pawl install --profile hooks");
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "Install pawl");
    project.git("clone", "-q", ".", "../a fresh clone");
    expect(await commandIn(join(project.path, "../a fresh clone"))).toBe("pawl install");
  });

  test("finds nothing in a guarded repository, asks the guard, and leaves nothing behind", async ({
    project,
  }) => {
    await project.pawl(...INSTALL);
    giveRuntime(project);
    project.git("worktree", "add", "-q", "--detach", "../a second one");
    expect(await examine(project)).toMatchObject({ code: 0, codes: [] });
    expect(existsSync(join(project.path, ".git/refs/pawl"))).toBe(false);
    expect(existsSync(join(project.path, ".git/refs/pawl-probe.lock"))).toBe(false);
  });

  const spoil: Record<string, [codes: string[], spoil: (project: Project) => void]> = {
    "hooks that git does not run": [
      ["silent"],
      ({ path }) => {
        appendFileSync(join(path, ".git/config"), '[hook "pawl"]\n\tenabled = false\n');
        chmodSync(join(path, ".git/pawl/hooks/reference-transaction"), 0o644);
      },
    ],
    "a setting that is gone": [
      ["not_active"],
      ({ git }) => {
        git("config", "--unset", "core.hooksPath");
      },
    ],
    "another value after ours": [
      ["not_active"],
      ({ path }) => appendFileSync(join(path, ".git/config"), "[core]\n\thooksPath = /dev/null\n"),
    ],
    "a policy that has changed on the tip": [
      ["policy_changed"],
      (project) => {
        project.write(".pawl/config.yaml", "protected:\n  - main\n  - master\n  - release/*\n");
        project.git("add", "-f", ".pawl/config.yaml");
        project.git("-c", "core.hooksPath=/dev/null", "-c", "hook.pawl.enabled=false", "commit", "-qm", "x");
        const tip = project.git("rev-parse", "HEAD");
        writeFileSync(join(project.path, ".git/pawl/tips/main"), `${tip} refs/heads/main ${tip}\n`);
      },
    ],
    "hooks that no record knows of": [
      ["not_recorded"],
      ({ path }) => rmSync(join(path, ".pawl/state/repos"), { recursive: true }),
    ],
    "a guard that is gone without a word": [
      ["guard_removed"],
      ({ path }) => {
        for (const name of ["hooks", "guard", "before"])
          rmSync(join(path, ".git/pawl", name), { recursive: true });
      },
    ],
  };
  for (const { tags, rows } of inTiers(Object.entries(spoil), (_row, index) => index < 2))
    test.for(rows)("%s: told, and put right with --fix", { tags }, async ([, [codes, act]], { project }) => {
      await project.pawl(...INSTALL);
      giveRuntime(project);
      act(project);
      const told = await examine(project);
      expect(told).toMatchObject({ code: 1, codes: expect.arrayContaining(codes) });
      expect(told.found.every((one) => one.command === "pawl doctor --fix")).toBe(true);
      const planned = await project.pawl("doctor", "--fix", "--dry-run", "--json");
      expect(planned.json.planned.length).toBe(told.found.length);
      expect((await examine(project)).codes).toEqual(told.codes);
      expect(await examine(project, {}, "--fix")).toMatchObject({ code: 0, codes: [] });
      expect(await examine(project)).toMatchObject({ code: 0, codes: [] });
    });

  test("an environment that switches hooks off is told, and cannot be put right from here", async ({
    project,
  }) => {
    await project.pawl(...INSTALL);
    giveRuntime(project);
    const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "" };
    expect(await examine(project, env, "--fix")).toMatchObject({ code: 1, codes: ["override"] });
  });

  test("a worktree's own setting: the command that is named puts it right", async ({ project }) => {
    await project.pawl(...INSTALL);
    giveRuntime(project);
    project.git("config", "extensions.worktreeConfig", "true");
    project.git("config", "--worktree", "core.hooksPath", "/dev/null");
    const { code, found } = await examine(project);
    expect([code, found[0]?.code]).toEqual([1, "override"]);
    const words = (found[0]?.command ?? "").match(/'[^']*'|\S+/g) ?? [];
    project.git(...words.slice(1).map((one) => one.replaceAll("'", "")));
    expect(await examine(project)).toMatchObject({ code: 0, codes: [] });
  });

  test("what pre-push would miss in the moment of a push", async ({ project }) => {
    await project.pawl(...INSTALL);
    const before = join(project.path, ".git/pawl/before");
    const said = JSON.parse(readFileSync(before, "utf8"));
    said.programs = { node: "/nowhere/node", program: "/nowhere/pawl.cjs" };
    writeFileSync(before, JSON.stringify(said));
    expect((await examine(project)).codes).toEqual(
      expect.arrayContaining(["node_missing", "program_missing"]),
    );
  });
});
