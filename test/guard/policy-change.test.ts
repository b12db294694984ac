// @module-tag proof
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type Project, test } from "../helpers/command-line.ts";

const INSTALL = ["install", "--profile", "hooks"];
const POLICY = ".pawl/config.yaml";
const AGENT = { CLAUDECODE: "1" };

const made = ({ path }: Project) => readFileSync(join(path, ".git/pawl/policy"), "utf8").trim().split("\n");

/** A change of the protected branch: before the guard's eyes, with an unlock, or with the guard switched off. */
function commitPolicy(project: Project, text: string, how: "seen" | "unseen"): void {
  project.write(POLICY, text);
  project.git("add", "-f", POLICY);
  const off = ["-c", "core.hooksPath=/dev/null", "-c", "hook.pawl.enabled=false"];
  project.git(...off, "commit", "-q", "-m", "Policy");
  const tip = project.git("rev-parse", "HEAD");
  if (how === "seen")
    writeFileSync(join(project.path, ".git/pawl/tips/main"), `${tip} refs/heads/main ${tip}\n`);
}

const TWO = "protected:\n  - main\n  - release/*\n";
const ONE = "protected:\n  - main\n";

describe("a policy that changes on the protected tip", () => {
  test("is in the hooks after the next command that writes, whoever runs it", async ({ project }) => {
    await project.pawl(...INSTALL);
    expect(made(project)).toEqual(["main", "master"]);
    commitPolicy(project, TWO, "unseen");
    expect((await project.pawl("status")).code).toBe(0);
    expect(made(project)).toEqual(["main", "master"]);
    const { err } = await project.pawlIn(project.path, AGENT, "note", "add", "x");
    expect(err).toContain("were rewritten");
    // Nothing was taken away: it was not seen how the branch got there, and this was an agent.
    expect(made(project)).toEqual(["main", "release/*", "master"]);
    project.git("branch", "release/1", "HEAD~1");
    expect(() => project.git("branch", "-f", "release/1", "HEAD")).toThrow(/release\/1 is protected/);
  });

  test("does not get looser because origin's HEAD was pointed at another protected branch", async ({
    project,
  }) => {
    commitPolicy(project, ONE, "unseen");
    project.git("branch", "release/1");
    commitPolicy(project, TWO, "unseen");
    await project.pawl(...INSTALL);
    expect(made(project)).toEqual(["main", "release/*"]);
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/1");
    project.write(POLICY, ONE);
    await project.pawl("note", "add", "x");
    expect(made(project)).toEqual(expect.arrayContaining(["main", "release/*"]));
  });

  test.for([
    ["a human, on a tip that the guard saw come", {}, "seen", ["main"]],
    ["a human, on a tip that came while the guard was off", {}, "unseen", ["main", "release/*"]],
    ["an agent", AGENT, "seen", ["main", "release/*"]],
  ] as const)("gets looser only through a human: %s", async ([, env, how, expected], { project }) => {
    commitPolicy(project, TWO, "unseen");
    await project.pawl(...INSTALL);
    expect(made(project)).toEqual(["main", "release/*"]);
    commitPolicy(project, ONE, how);
    const { err } = await project.pawlIn(project.path, env, "note", "add", "x");
    expect(made(project)).toEqual(expected);
    if (expected.length === 1) return;
    expect(err).toContain("no longer names release/*");
    const asked = await project.pawlIn(project.path, AGENT, ...INSTALL);
    expect([asked.code, made(project)]).toEqual([0, expected]);
    const told = await project.pawl("doctor", "--json");
    const codes = told.json.data.doctor.diagnoses.map((one: { code: string }) => one.code);
    expect(codes.filter((one: string) => one !== "tripped")).toEqual(["policy_stricter"]);
    // A human who asks for it outright has the policy as it is.
    expect((await project.pawl(...INSTALL)).code).toBe(0);
    expect(made(project)).toEqual(["main"]);
  });

  test("an agent cannot talk another branch into being the default one", async ({ project }) => {
    await project.pawl(...INSTALL);
    project.git("branch", "else");
    project.git("update-ref", "refs/remotes/origin/else", "else");
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/else");
    for (const env of [AGENT, {}]) {
      await project.pawlIn(project.path, env, "note", "add", "x");
      expect(made(project)).toEqual(["else", "main", "master"]);
    }
  });

  test("another protected branch with a looser policy does not become the one that counts", async ({
    project,
  }) => {
    commitPolicy(project, TWO, "unseen");
    project.git("branch", "release/1");
    await project.pawl(...INSTALL);
    project.git("update-ref", "refs/remotes/origin/release/1", "release/1~1");
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/1");
    const old = project.git("rev-parse", "release/1~1");
    project.git("-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/release/1", old);
    writeFileSync(join(project.path, ".git/pawl/tips/release~1"), `${old} refs/heads/release/1 ${old}\n`);
    for (const env of [AGENT, {}, {}]) {
      await project.pawlIn(project.path, env, "note", "add", "x");
      expect(made(project)).toEqual(expect.arrayContaining(["main", "release/*"]));
    }
  });

  test("a copy in the worktree adds, and an agent that takes it back changes nothing", async ({
    project,
  }) => {
    commitPolicy(project, ONE, "unseen");
    await project.pawl(...INSTALL);
    project.write(POLICY, TWO);
    await project.pawlIn(project.path, AGENT, "note", "add", "x");
    expect(made(project)).toEqual(["main", "release/*"]);
    project.write(POLICY, "protected: []\n");
    await project.pawlIn(project.path, AGENT, "note", "add", "x");
    rmSync(join(project.path, POLICY));
    await project.pawlIn(project.path, AGENT, "note", "add", "x");
    expect(made(project)).toEqual(["main", "release/*"]);
  });

  test("one that cannot be read leaves the hooks as they are, and is told", async ({ project }) => {
    await project.pawl(...INSTALL);
    commitPolicy(project, "protected: 3\n", "seen");
    project.git("checkout", "-q", "-b", "other");
    const { code, err } = await project.pawl("note", "add", "x");
    expect([code, err]).toEqual([0, expect.stringContaining("could not be rewritten")]);
    expect(made(project)).toEqual(["main", "master"]);
    const told = await project.pawl("doctor", "--json");
    expect([told.code, told.json.data.doctor.diagnoses[0].code]).toEqual([1, "policy_unreadable"]);
  });

  test("what an unlocked branch brings is in force after the command", async ({ project }) => {
    await project.pawl(...INSTALL);
    commitPolicy(project, TWO, "seen");
    const quiet = await project.pawl("note", "add", "x");
    expect(quiet.err).toContain("were rewritten");
    expect((await project.pawl("note", "add", "y")).err).not.toContain("rewritten");
    expect(made(project)).toEqual(["main", "release/*"]);
  });
});
