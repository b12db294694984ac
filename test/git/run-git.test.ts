import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { isBlob } from "../../src/git/blobs.ts";
import { readBlobs } from "../../src/git/cat-file.ts";
import { environmentFor, POLICIES, type PolicyName } from "../../src/git/policies.ts";
import { Git } from "../../src/git/run-git.ts";
import { aimsGit, overridesSettings } from "../../src/model/git-variables.ts";
import { AIMED } from "../helpers/aimed-environment.ts";
import { type Project, test } from "../helpers/command-line.ts";

const names = Object.keys(POLICIES) as PolicyName[];
const all = <T>(of: (name: PolicyName) => T) => Object.fromEntries(names.map((name) => [name, of(name)]));
const only = (...chosen: PolicyName[]) => all((name) => chosen.includes(name));

describe("what a git of ours takes over from the environment, by its policy", () => {
  test("never where it acts", () => {
    for (const name of names)
      expect(Object.keys(environmentFor(name, { ...AIMED, PATH: "/bin" }, {})).sort(), name).toEqual(
        Object.keys(environmentFor(name, { PATH: "/bin" }, {})).sort(),
      );
    expect(environmentFor("user", AIMED, { GIT_DIR: "/here/.git" }).GIT_DIR).toBe("/here/.git");
  });

  test("git itself calls no more variables a repository's own than we do", ({ project }) => {
    const own = project.git("rev-parse", "--local-env-vars").split("\n");
    expect(own).toContain("GIT_DIR");
    expect(own.filter((name) => !aimsGit(name) && !overridesSettings(name))).toEqual([]);
  });

  test("commits as they are, and no questions", () => {
    const asked = {
      GIT_TERMINAL_PROMPT: "1",
      GIT_GRAFT_FILE: "/x",
      GIT_NO_REPLACE_OBJECTS: "",
      LC_ALL: "de",
    };
    for (const name of names) {
      const env = environmentFor(name, asked, {});
      expect(env, name).toMatchObject({ GIT_TERMINAL_PROMPT: "0", GIT_NO_REPLACE_OBJECTS: "1", LC_ALL: "C" });
      expect(env.GIT_GRAFT_FILE, name).toMatch(/none$/);
    }
  });

  test("settings for single commands: not where it is asked what everybody's git does", () => {
    const overrides = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b", GIT_CONFIG_PARAMETERS: "'a.b'='c'" };
    const keeps = all((name) => "GIT_CONFIG_COUNT" in environmentFor(name, overrides, {}));
    expect(keeps).toEqual(only("user", "brief", "author", "quiet", "records"));
    const parameters = all((name) => "GIT_CONFIG_PARAMETERS" in environmentFor(name, overrides, {}));
    expect(parameters).toEqual(keeps);
    for (const name of names)
      expect(environmentFor(name, { GIT_CONFIG_GLOBAL: "/g" }, {}).GIT_CONFIG_GLOBAL).toBe("/g");
  });

  test("objects of a push that is not decided yet: for an audit only", () => {
    const quarantine = { GIT_OBJECT_DIRECTORY: "/q", GIT_QUARANTINE_PATH: "/q" };
    expect(all((name) => environmentFor(name, quarantine, {}).GIT_OBJECT_DIRECTORY === "/q")).toEqual(
      only("history"),
    );
  });

  test("whose commit it is", () => {
    const env = { GIT_AUTHOR_NAME: "somebody else" };
    expect(all((name) => environmentFor(name, env, {}).GIT_AUTHOR_NAME)).toEqual({
      ...all(() => undefined),
      author: "somebody else",
      records: "pawl",
    });
  });
});

describe("git, run", () => {
  const overriding = (project: Project) => ({
    ...project.env,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.hooksPath",
    GIT_CONFIG_VALUE_0: "/dev/null/off",
  });

  test("a shell that switches hooks off is seen by the user's git, and not by everybody's", ({ project }) => {
    project.git("config", "core.hooksPath", "own hooks");
    const asked = ["config", "core.hooksPath"];
    const at = (policy: PolicyName) => Git.in(policy, overriding(project), project.path).lineSync(asked);
    expect([at("user"), at("shared"), at("history")]).toEqual(["/dev/null/off", "own hooks", "own hooks"]);
  });

  test("our plumbing runs no hook", async ({ project }) => {
    mkdirSync(join(project.path, ".git/hooks"), { recursive: true });
    writeFileSync(join(project.path, ".git/hooks/reference-transaction"), "#!/bin/sh\nexit 1\n", {
      mode: 0o755,
    });
    const move = ["update-ref", "refs/test/one", "HEAD"];
    const at = async (policy: PolicyName) => (await Git.in(policy, project.env, project.path).ask(move)).code;
    expect(await at("user")).not.toBe(0);
    expect([await at("quiet"), await at("records")]).toEqual([0, 0]);
  });

  test("each place is where it says, wherever the environment points", async ({ project }) => {
    const env = { ...project.env, ...AIMED };
    const commonDir = join(project.path, ".git");
    project.write("below/file", "x\n");
    const top = (git: Git) => git.line(["rev-parse", "--show-toplevel"]);
    expect(await top(Git.in("user", env, join(project.path, "below")))).toBe(project.path);
    expect(await top(Git.at("user", env, { commonDir, mainRoot: project.path }))).toBe(project.path);
    expect(await top(Git.on("quiet", env, { root: project.path, gitDir: commonDir }))).toBe(project.path);
    const bare = Git.at("user", env, { commonDir, mainRoot: undefined });
    for (const git of [bare, Git.of("quiet", env, commonDir)])
      expect(await git.line(["rev-parse", "--absolute-git-dir"])).toBe(commonDir);
  });

  test("answers, lines, names, bytes and blobs", async ({ project }) => {
    const bytes = Buffer.from([0xff, 0, 10, 0xc3, 13, 10]);
    writeFileSync(join(project.path, "odd name"), bytes);
    project.git("add", "-A");
    const git = Git.in("quiet", project.env, project.path);
    expect(await git.names("files", ["ls-files", "-z"])).toContain("odd name");
    expect((await git.askBytes(["cat-file", "blob", ":odd name"])).out).toEqual(bytes);
    const blob = (await git.line(["rev-parse", ":odd name"])) ?? "";
    expect(isBlob(blob, bytes)).toBe(true);
    expect(await readBlobs(git, "blobs", [blob])).toEqual(new Map([[blob, bytes]]));
    expect(await git.line(["rev-parse", "-q", "--verify", "nothing"])).toBeUndefined();
    expect(git.lineSync(["config", "not.there"])).toBeUndefined();
    const text = (await git.ask(["hash-object", "--stdin"], "text\n")).out.trim();
    expect([isBlob(text, "text\n"), isBlob(text, "text")]).toEqual([true, false]);
    expect(git.askSync(["hash-object", "--stdin"], "text\n").out.trim()).toBe(text);
    await expect(git.expect("It went wrong", ["cat-file", "-e", "nothing"])).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringContaining("It went wrong: git said"),
    });
  });

  test("which commit a name means, and whether one contains the other", async ({ project }) => {
    const first = project.git("rev-parse", "HEAD");
    const second = project.commit("a", "a\n");
    const git = Git.in("user", project.env, project.path);
    expect([await git.commitOf("main"), await git.commitOf("main~1")]).toEqual([second, first]);
    expect([await git.commitOf("HEAD^{tree}"), await git.commitOf("--all")]).toEqual([undefined, undefined]);
    expect([await git.isAncestor(first, second), await git.isAncestor(second, first)]).toEqual([true, false]);
    expect(await git.isAncestor("1".repeat(40), second)).toBe(false);
  });

  test("a git that ends before it has read everything has answered all the same", async ({ project }) => {
    const git = Git.in("user", project.env, project.path);
    const much = "x".repeat(1_000_000);
    expect((await git.ask(["rev-parse", "HEAD"], much)).code).toBe(0);
    expect(git.askSync(["rev-parse", "HEAD"], much)).toMatchObject({ code: 0 });
  });

  test("no git at all is told as that", async ({ project }) => {
    const git = Git.in("user", { ...project.env, PATH: "/nowhere" }, project.path);
    const missing = expect.objectContaining({ code: "git_missing", kind: "unavailable" });
    await expect(git.ask(["version"])).rejects.toEqual(missing);
    expect(() => git.askSync(["version"])).toThrow(missing);
    // With git at hand, but nowhere to run it.
    const gone = Git.in("user", project.env, join(project.path, "gone"));
    const noFolder = expect.objectContaining({ code: "no_folder" });
    await expect(gone.ask(["version"])).rejects.toEqual(noFolder);
    expect(() => gone.askSync(["version"])).toThrow(noFolder);
  });
});

test("more than anybody could hold is an error, never half an answer", async ({ project }) => {
  const git = Git.in("user", project.env, project.path);
  const prints = (bytes: number) => git.ask(["-c", `alias.prints=!head -c ${bytes} /dev/zero`, "prints"]);
  expect(await prints(10)).toEqual({ code: 0, out: "\0".repeat(10), err: "" });
  await expect(prints(2 ** 28 + 1)).rejects.toThrow(/answered with more than 256 MB/);
});
