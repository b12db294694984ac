import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { VERSION } from "../../src/model/version.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { bundlePawl, inDialogue, onTerminal } from "../helpers/pseudo-terminal.ts";
import { ok } from "../helpers/ready-task.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";

let root: string;
let program: string;
beforeAll(async () => {
  root = makeTemporaryFolder("commit");
  program = await bundlePawl(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

const status = (project: Project) => project.git("status", "--porcelain", "-uall");
const at = (project: Project, path: string) => project.git("show", `HEAD:${path}`);

async function commit(project: Project, ...more: string[]) {
  const { code, json } = await project.pawl("install", "--commit", ...more, "--json");
  expect([code, json.error]).toEqual([0, undefined]);
  return json.data.install;
}

describe("pawl install --commit", () => {
  test("ends briefly: what was done, how agents begin, and the one next command", async ({ project }) => {
    project.commit("package.json", '{"scripts":{"test":"node --test"}}\n');
    const dry = (await ok(project.pawl("install", "--dry-run"))).out;
    expect(dry).toContain("would require the check test: npm test (from package.json)\n");
    const { out, err } = await ok(project.pawl("install", "--commit"));
    const last = out.trimEnd().split("\n").slice(-3);
    expect(last[0]).toMatch(/^commit +[0-9a-f]{12} on main$/);
    expect(last[1]).toMatch(
      /^agents +begin with Claude Code: \/pawl, Codex: \$pawl, GitHub Copilot: \/pawl$/,
    );
    expect(last[2]).toMatch(/what each asks you first: pawl doctor --agents/);
    expect(err).toContain('next: pawl start "<title>"');
    const doctor = await project.pawl("doctor", "--agents");
    expect(doctor.out).toMatch(/^Codex +Start `codex`[\s\S]*It asks once whether you trust the project/m);
    expect((await project.pawl("doctor")).out).not.toContain("It asks once");
  });

  test("names the programs of the proposed checks that this machine lacks, before main is guarded", async ({
    project,
  }) => {
    project.commit("Makefile", "test:\n\ttrue\n");
    const path = join(project.path, "../bin");
    mkdirSync(path);
    for (const name of ["git", "node"]) {
      const found = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
      symlinkSync(found, join(path, name));
    }
    const without = await project.pawlIn(project.path, { PATH: path }, "install", "--dry-run");
    expect(without.out).toMatch(/would need make, which is not on your PATH/);
    expect((await project.pawl("install", "--dry-run")).out).not.toContain("would need");
  });

  test("doctor names the program of a configured check that this machine lacks", { tags: ["proof"] }, async ({
    project,
  }) => {
    const notes = async () =>
      (await project.pawl("doctor", "--json")).json.data.doctor.diagnoses.flatMap(
        (one: { code: string; level: string; message: string }) =>
          one.code === "program_missing" ? [`${one.level}: ${one.message}`] : [],
      );
    mkdirSync(join(project.path, ".pawl"));
    project.commit(
      ".pawl/config.yaml",
      "checks:\n  test: cd src && no-such-uv run pytest\n  own: [no-such-make, test]\nsetup: if true; then npm ci; fi\n",
    );
    await ok(project.pawl("install", "--commit"));
    expect(await notes()).toEqual([
      expect.stringMatching(/^note: "no-such-uv" is not on the PATH .* the check "test" cannot run here/),
      expect.stringMatching(/^note: "no-such-make" is not on the PATH .* the check "own" cannot run here/),
    ]);
  });

  test("with a remote, the next step is to publish the commit", { tags: ["proof"] }, async ({ project }) => {
    project.git("init", "-q", "--bare", "-b", "main", join(project.path, "../remote.git"));
    project.git("remote", "add", "origin", join(project.path, "../remote.git"));
    project.git("push", "-q", "-u", "origin", "main");
    const { json } = await project.pawl("install", "--commit", "--json");
    expect(json.next.command).toBe("git push origin main");
    expect((await project.pawl("install", "--json")).json.next).toBeUndefined();
  });

  test("commits exactly what it wrote, before the guard starts, so the baseline contains it", async ({
    project,
  }) => {
    const before = project.git("rev-parse", "HEAD");
    const { written, commit: made } = await commit(project);
    expect(made).toEqual({ branch: "main", id: project.git("rev-parse", "HEAD"), left: [] });
    expect(project.git("rev-parse", "HEAD~1")).toBe(before);
    const changed = project.git("diff", "--name-only", "HEAD~1", "HEAD").split("\n");
    expect(changed).toEqual([...written].sort());
    expect(status(project)).toBe("");
    expect((await project.pawl("audit", "--json")).json.data.audit.findings).toEqual([]);
    expect(project.git("log", "-1", "--format=%an <%ae>")).toBe("Ada <ada@example.com>");
    expect((await project.pawl("task", "new", "One")).code).toBe(0);
    expect((await project.pawl("start", "T1")).code).toBe(0);
  });

  test("is suggested by install, upgrade and start where the branch is guarded", { tags: ["proof"] }, async ({
    project,
  }) => {
    const next = { command: "pawl install --commit", reason: expect.stringMatching(/terminal.*main/) };
    expect((await project.pawl("install", "--json")).json.next).toEqual(next);
    expect((await project.pawl("upgrade", "--json")).json.next).toEqual(next);
    await project.pawl("task", "new", "One");
    expect((await project.pawl("start", "T1", "--json")).json.error.hint).toContain("pawl install --commit");
    project.git("switch", "-q", "-c", "setup");
    await commit(project);
    expect((await project.pawl("install", "--json")).json.next).toBe(undefined);
  });

  test("is suggested everywhere if git does not know who commits, with how to tell it", {
    tags: ["proof"],
  }, async ({ project }) => {
    project.git("config", "user.useConfigOnly", "true");
    const nobody = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const names = [
      "GIT_AUTHOR_NAME",
      "GIT_AUTHOR_EMAIL",
      "GIT_COMMITTER_NAME",
      "GIT_COMMITTER_EMAIL",
      "EMAIL",
    ];
    const env = { ...nobody, ...Object.fromEntries(names.map((name) => [name, ""])) };
    const install = () => project.pawlIn(project.path, env, "install", "--json");
    for (const again of [await install(), await install()]) {
      expect(again.json.next.command).toBe("pawl install --commit");
      expect(again.json.data.install.uncommitted).toBe(true);
      expect(again.json.warnings.join("\n")).toMatch(
        /Pawl's files are not committed\. Git does not know who you are\.\ngit config .*user\.name.*\ngit config .*user\.email/,
      );
    }
    const said = await project.pawlIn(project.path, env, "install");
    expect(said.out).toContain("Everything was already in place, but pawl's files are not committed.");
    expect((await project.pawl("status", "--json")).json.next.command).toBe("pawl install --commit");
    project.git("config", "user.useConfigOnly", "false");
    project.git("switch", "-q", "-c", "setup");
    await commit(project);
    for (const _time of ["asked", "remembered"])
      expect((await project.pawl("status", "--json")).json.next.command).toBe('pawl start "<title>"');
  });

  test("that git refuses says what was written and how to continue", async ({ project }) => {
    project.git("config", "commit.gpgsign", "true");
    project.git("config", "gpg.program", "false");
    const { error } = (await project.pawl("install", "--commit", "--json")).json;
    expect(error.hint).toMatch(/files are written but not committed.*pawl install --commit/);
    project.git("config", "commit.gpgsign", "false");
    expect((await commit(project)).commit.branch).toBe("main");
  });

  test("leaves the user's staged, changed and untracked work exactly as it was", async ({ project }) => {
    project.commit("AGENTS.md", "# Rules\n\nCommitted.\n");
    project.commit(".mcp.json", '{"mcpServers":{}}\n');
    project.commit("other.txt", "1\n");
    // Staged in one file, changed in another, both in files that pawl edits, too.
    project.write("AGENTS.md", "# Rules\n\nCommitted.\n\nStaged.\n");
    project.git("add", "AGENTS.md");
    appendFileSync(join(project.path, "AGENTS.md"), "\nNot staged.\n");
    project.write(".mcp.json", '{"mcpServers":{},"mine":1}\n');
    project.write("other.txt", "2\n");
    project.write("new.txt", "staged\n");
    project.git("add", "other.txt", "new.txt");
    project.write("untracked.txt", "u\n");
    const before = status(project);
    await commit(project);
    expect(status(project)).toBe(before);
    expect(at(project, "AGENTS.md")).toMatch(/^# Rules\n\nCommitted\.\n\n<!-- pawl:begin -->/);
    expect(at(project, "AGENTS.md")).not.toContain("taged.");
    expect(project.git("diff", "--cached", "AGENTS.md").match(/^[+-][^+\n-].*$/gm)).toEqual(["+Staged."]);
    expect(project.git("diff", "AGENTS.md").match(/^[+-][^+\n-].*$/gm)).toEqual(["+Not staged."]);
    expect(JSON.parse(at(project, ".mcp.json"))).toEqual({ mcpServers: { pawl: expect.any(Object) } });
    expect(project.git("diff", "--cached", "--name-only").split("\n").sort()).toEqual([
      "AGENTS.md",
      "new.txt",
      "other.txt",
    ]);
    expect(project.git("show", "--stat", "HEAD")).not.toContain("other.txt");
  });

  test("commits pawl's part of an untracked file without the user's text", async ({ project }) => {
    project.write("CLAUDE.md", "My own words.\n");
    await commit(project);
    expect(at(project, "CLAUDE.md")).not.toContain("My own words.");
    expect(readFileSync(join(project.path, "CLAUDE.md"), "utf8")).toContain("My own words.");
    expect(status(project)).toBe("M CLAUDE.md");
  });

  test("leaves the user's own policy for the user to commit", async ({ project }) => {
    project.write(".pawl/config.yaml", "profile: light\n");
    await commit(project);
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("config.yaml");
    expect(status(project)).toBe("?? .pawl/config.yaml");
  });

  test("leaves the committed policy as it is while the user edits it", { tags: ["proof"] }, async ({
    project,
  }) => {
    await commit(project, "--agents", "claude");
    const before = at(project, ".pawl/config.yaml");
    appendFileSync(join(project.path, ".pawl/config.yaml"), "# mine\n");
    project.git("checkout", "-q", "-b", "feature");
    await commit(project, "--agents", "claude,codex");
    expect(at(project, ".pawl/config.yaml")).toBe(before);
    expect(status(project)).toBe("M .pawl/config.yaml");
  });

  test("leaves out and reports the files that the project ignores", async ({ project }) => {
    project.commit(".gitignore", ".claude/\n");
    const { commit: made } = await commit(project);
    expect(made.left).toContainEqual({
      path: ".claude/settings.json",
      why: "this project's .gitignore names it",
    });
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain(".claude/");
  });

  test("is refused before anything is written if the ledger is ignored", async ({ project }) => {
    project.commit(".gitignore", ".pawl/\n");
    const { code, json } = await project.pawl("install", "--commit", "--json");
    expect([code, json.error.code]).toEqual([1, "ignored"]);
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  });

  test.for([
    ["detached", (project: Project) => project.git("checkout", "-q", "--detach")],
    [
      "operation_in_progress",
      (project: Project) => project.write(".git/MERGE_HEAD", project.git("rev-parse", "HEAD")),
    ],
  ] as const)("%s is refused before anything is written", async ([code, prepare], { project }) => {
    prepare(project);
    const { json } = await project.pawl("install", "--commit", "--json");
    expect(json.error.code).toBe(code);
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  });

  test("is refused if git does not know who commits", async ({ project }) => {
    writeFileSync(join(project.path, "../.gitconfig"), "[user]\n\tuseConfigOnly = true\n");
    const { json } = await project.pawl("install", "--commit", "--json");
    expect(json.error.code).toBe("no_identity");
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  });

  test("in an empty repository, makes a first commit of only pawl's files", { tags: ["proof"] }, async ({
    project,
  }) => {
    rmSync(join(project.path, ".git"), { recursive: true });
    project.git("init", "-q", "--template=", "-b", "main");
    project.git("add", "README.md");
    await commit(project);
    expect(project.git("rev-list", "--count", "HEAD")).toBe("1");
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("README");
    expect(status(project)).toBe("A  README.md");
    expect((await project.pawl("audit")).code).toBe(0);
  });

  test("commits a link as the file that it points to", async ({ project }) => {
    project.write("CLAUDE.md", "# Mine\n");
    symlinkSync("CLAUDE.md", join(project.path, "AGENTS.md"));
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "Link");
    await commit(project);
    expect(at(project, "AGENTS.md")).toBe("CLAUDE.md");
    expect(at(project, "CLAUDE.md")).toContain("pawl:begin");
    expect(status(project)).toBe("");
  });

  test("in a linked worktree, commits to that worktree's branch", async ({ project }) => {
    const path = join(project.path, "../linked");
    project.git("worktree", "add", "-q", "-b", "other", path);
    const { code } = await project.pawlIn(path, {}, "install", "--commit");
    expect(code).toBe(0);
    expect(project.git("log", "-1", "--format=%s", "other")).toBe(`Install pawl ${VERSION}`);
    expect(project.git("log", "-1", "--format=%s", "main")).toBe("Begin");
    expect(project.git("-C", path, "status", "--porcelain")).toBe("");
  });

  test("commits what was installed earlier; the next time there is nothing to commit", {
    tags: ["proof"],
  }, async ({ project }) => {
    await project.pawl("install", "--profile", "skills");
    const { written, commit: made } = await commit(project, "--profile", "skills");
    expect(written).toEqual([]);
    expect(made.branch).toBe("main");
    expect(status(project)).toBe("");
    expect((await commit(project, "--profile", "skills")).commit).toBe(null);
  });
});

describe("on a branch that is guarded already", () => {
  test("only a human may commit, by typing the branch's name, and the record explains the move", {
    tags: ["proof"],
  }, async ({ project }) => {
    expect((await project.pawl("install")).code).toBe(0);
    const tip = project.git("rev-parse", "HEAD");
    const piped = await project.pawl("install", "--commit", "--json");
    expect(piped.json.error.code).toBe("no_terminal");
    const agent = await project.pawlIn(project.path, { CLAUDECODE: "1" }, "install", "--commit", "--json");
    expect(agent.json.error).toMatchObject({ code: "human_only" });
    expect(project.git("rev-parse", "HEAD")).toBe(tip);

    const wrong = await onTerminal(program, project, ["install", "--commit", "--yes"], "yes");
    expect(wrong.code).toBe(1);
    expect(project.git("rev-parse", "HEAD")).toBe(tip);
    expect(status(project)).toContain("?? .pawl/lock.json");

    const typed = await onTerminal(program, project, ["install", "--commit", "--yes"], "main");
    expect([typed.code, typed.out]).toEqual([0, expect.stringContaining("on main")]);
    const now = project.git("rev-parse", "HEAD");
    expect(project.git("rev-parse", "HEAD~1")).toBe(tip);
    expect(status(project)).toBe("");
    const record = project.read("unlocks/U0001.md");
    expect(record).toContain("status: closed");
    expect(record.replaceAll('"', "")).toContain(`- old: ${tip}\n    new: ${now}\n`);
    const audit = await project.pawl("audit", "--json");
    expect(audit.json.data.audit.findings).toEqual([]);
    expect(audit.code).toBe(0);
    mkdirSync(join(project.path, ".git/pawl/grants"), { recursive: true });
    expect(existsSync(join(project.path, ".git/pawl/grants/update/refs/heads/main"))).toBe(false);
  });

  test("anybody may commit on another branch", async ({ project }) => {
    await project.pawl("install", "--profile", "hooks");
    project.git("checkout", "-q", "-b", "feature");
    expect((await commit(project)).commit.branch).toBe("feature");
  });
});

describe("at a terminal", () => {
  test("it shows the files, offers to commit them, and accepts a no", async ({ project }) => {
    const words = [process.execPath, program, "install"];
    const usual = [/For which agents /, /Protected branches /, /How much process /, /Let Claude Code /].map(
      (question): [RegExp, string] => [question, "\n"],
    );
    const no = await inDialogue(words, project, [...usual, [/Type [^\n]+: $/, "no\n"]]);
    expect([no.code, no.out]).toEqual([1, expect.stringContaining("Not confirmed; nothing was changed.")]);
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
    const yes = await inDialogue(words, project, [...usual, [/Type [^\n]+: $/, "commit\n"]]);
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining("on main")]);
    expect(status(project)).toBe("");
  });
});
