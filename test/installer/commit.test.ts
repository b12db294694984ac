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
import { type Project, test } from "../helpers/command-line.ts";
import { bundlePawl, inDialogue, onTerminal } from "../helpers/pseudo-terminal.ts";
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
  test("commits exactly what it wrote, before the guard, so that it is part of the baseline", async ({
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

  test("is what install and start lead to, where the branch is guarded", async ({ project }) => {
    const next = { command: "pawl install --commit", reason: expect.stringMatching(/terminal.*main/) };
    expect((await project.pawl("install", "--json")).json.next).toEqual(next);
    expect((await project.pawl("upgrade", "--json")).json.next).toEqual(next);
    await project.pawl("task", "new", "One");
    expect((await project.pawl("start", "T1", "--json")).json.error.hint).toContain("pawl install --commit");
    project.git("switch", "-q", "-c", "setup");
    await commit(project);
    expect((await project.pawl("install", "--json")).json.next).toBe(undefined);
  });

  test("that git refuses says what is written and how to go on", async ({ project }) => {
    project.git("config", "commit.gpgsign", "true");
    project.git("config", "gpg.program", "false");
    const { error } = (await project.pawl("install", "--commit", "--json")).json;
    expect(error.hint).toMatch(/files are written but not committed.*pawl install --commit/);
    project.git("config", "commit.gpgsign", "false");
    expect((await commit(project)).commit.branch).toBe("main");
  });

  test("leaves staged, changed and untracked work of the user's exactly as it was", async ({ project }) => {
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

  test("a file that the user has not added yet is not committed with the user's words", async ({
    project,
  }) => {
    project.write("CLAUDE.md", "My own words.\n");
    await commit(project);
    expect(at(project, "CLAUDE.md")).not.toContain("My own words.");
    expect(readFileSync(join(project.path, "CLAUDE.md"), "utf8")).toContain("My own words.");
    expect(status(project)).toBe("M CLAUDE.md");
  });

  test("a policy of the user's own stays the user's to commit", async ({ project }) => {
    project.write(".pawl/config.yaml", "profile: light\n");
    await commit(project);
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("config.yaml");
    expect(status(project)).toBe("?? .pawl/config.yaml");
  });

  test("what the project ignores is left out and told; an ignored ledger is refused", async ({ project }) => {
    project.commit(".gitignore", ".claude/\n");
    const { commit: made } = await commit(project);
    expect(made.left).toContainEqual({
      path: ".claude/settings.json",
      why: "this project's .gitignore names it",
    });
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain(".claude/");
  });

  test("an ignored ledger stops everything before anything is written", async ({ project }) => {
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

  test("nobody to commit as", async ({ project }) => {
    writeFileSync(join(project.path, "../.gitconfig"), "[user]\n\tuseConfigOnly = true\n");
    const { json } = await project.pawl("install", "--commit", "--json");
    expect(json.error.code).toBe("no_identity");
    expect(existsSync(join(project.path, ".pawl"))).toBe(false);
  });

  test("the first commit of an empty repository holds pawl's files alone", async ({ project }) => {
    rmSync(join(project.path, ".git"), { recursive: true });
    project.git("init", "-q", "--template=", "-b", "main");
    project.git("add", "README.md");
    await commit(project);
    expect(project.git("rev-list", "--count", "HEAD")).toBe("1");
    expect(project.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("README");
    expect(status(project)).toBe("A  README.md");
    expect((await project.pawl("audit")).code).toBe(0);
  });

  test("a link to another file is committed as the file that it leads to", async ({ project }) => {
    project.write("CLAUDE.md", "# Mine\n");
    symlinkSync("CLAUDE.md", join(project.path, "AGENTS.md"));
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "Link");
    await commit(project);
    expect(at(project, "AGENTS.md")).toBe("CLAUDE.md");
    expect(at(project, "CLAUDE.md")).toContain("pawl:begin");
    expect(status(project)).toBe("");
  });

  test("in a linked worktree it is that worktree's branch", async ({ project }) => {
    const path = join(project.path, "../linked");
    project.git("worktree", "add", "-q", "-b", "other", path);
    const { code } = await project.pawlIn(path, {}, "install", "--commit");
    expect(code).toBe(0);
    expect(project.git("log", "-1", "--format=%s", "other")).toBe("Install pawl 0.1.0");
    expect(project.git("log", "-1", "--format=%s", "main")).toBe("Begin");
    expect(project.git("-C", path, "status", "--porcelain")).toBe("");
  });

  test("what was installed before and not committed is committed later; then there is nothing", async ({
    project,
  }) => {
    await project.pawl("install", "--profile", "skills");
    const { written, commit: made } = await commit(project, "--profile", "skills");
    expect(written).toEqual([]);
    expect(made.branch).toBe("main");
    expect(status(project)).toBe("");
    expect((await commit(project, "--profile", "skills")).commit).toBe(null);
  });
});

describe("on a branch that is guarded already", () => {
  test("only a human may, by typing its name; the record explains the move", async ({ project }) => {
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

  test("another branch may be committed on by anybody", async ({ project }) => {
    await project.pawl("install", "--profile", "hooks");
    project.git("checkout", "-q", "-b", "feature");
    expect((await commit(project)).commit.branch).toBe("feature");
  });
});

describe("at a terminal", () => {
  test("it shows the files, offers to commit them, and takes no for an answer", async ({ project }) => {
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
