import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openProject, type Project } from "../helpers/command-line.ts";
import { inTiers } from "../helpers/rows.ts";
import { makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { changeTimes, gitBytes, treeBytes } from "../helpers/tree-bytes.ts";
import { FIXTURES } from "./fixtures.ts";

/** Every agent that we have an adapter for. */
const SIX = ["claude", "codex", "copilot", "gemini", "opencode", "cursor"];

let root: string;
beforeEach(() => {
  root = makeTemporaryFolder("round trip");
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));

async function done(project: Project, ...argv: string[]) {
  const { code, json, err } = await project.pawl(...argv, "--json");
  expect([code, err, json.error?.message], argv.join(" ")).toEqual([0, "", undefined]);
  return json;
}

/** Taking a lock changes its folder and the one around it. */
const ofALock = (path: string) => /(?:^\.git|^\.git\/pawl|[./]lock|\/journal|\/tmp)$/.test(path);

/** What people have most; the others are rarer. */
const USUAL = ["empty but for a README", "settings of all agents, with comments", "a linked worktree"];
const isUsual = ({ name }: { name: string }) => USUAL.some((one) => name.startsWith(one));
for (const { tags, rows } of inTiers(FIXTURES, isUsual))
  describe.each(rows)("$name", { tags }, ({ make }) => {
    test("installing twice and uninstalling restores everything byte for byte", async () => {
      const { gitDir, ...repository } = make(root);
      const project = openProject(repository);
      const dotGit = gitDir ?? join(project.path, ".git");
      const before = { tree: treeBytes(project.path), git: gitBytes(dotGit) };

      const first = await done(project, "install", "--agents", SIX.join(","), "--with", "allow");
      expect(first.data.install.written).toContain(".pawl/lock.json");
      expect(first.data.install.written.length).toBeLessThan(75);
      const installed = treeBytes(project.path);
      for (const [path, bytes] of Object.entries(before.tree))
        expect(installed[path]?.split(" ")[0], path).toBe(bytes.split(" ")[0]);

      const times = changeTimes(project.path, ofALock);
      const second = await done(project, "install");
      expect(second.data.install).toMatchObject({ written: [], removed: [], guard: { changed: [] } });
      expect(changeTimes(project.path, ofALock)).toEqual(times);

      await done(project, "uninstall", "--yes");
      expect(treeBytes(project.path)).toEqual(before.tree);
      expect(gitBytes(dotGit)).toEqual(before.git);
    });

    test("what the user writes meanwhile survives", async () => {
      const { gitDir: _, ...repository } = make(root);
      const project = openProject(repository);
      await done(project, "install");
      const at = (path: string) => join(project.path, path);
      appendFileSync(at("AGENTS.md"), "\nAdded by the user.\n");
      appendFileSync(at(".claude/skills/scope/SKILL.md"), "\nEdited by the user.\n");
      writeFileSync(at(".claude/skills/scope/notes.md"), "Beside it.\n");
      appendFileSync(at(".pawl/config.yaml"), "profile: light\n");
      const { data } = await done(project, "uninstall", "--yes");
      expect(readFileSync(at("AGENTS.md"), "utf8")).toContain("Added by the user.");
      expect(readFileSync(at("AGENTS.md"), "utf8")).not.toContain("pawl");
      expect(readFileSync(at(".claude/skills/scope/SKILL.md"), "utf8")).toContain("Edited by the user.");
      expect(readFileSync(at(".claude/skills/scope/notes.md"), "utf8")).toBe("Beside it.\n");
      expect(readFileSync(at(".pawl/config.yaml"), "utf8")).toContain("profile: light");
      const left = data.uninstall.left.map((one: { path: string }) => one.path);
      expect(left).toContain(".pawl/config.yaml");
      expect(left.some((path: string) => path.endsWith("skills/scope/SKILL.md"))).toBe(true);
      expect(existsSync(at(".pawl/lock.json"))).toBe(false);
      for (const path of [".claude/settings.json", ".mcp.json", ".codex/config.toml", ".codex/hooks.json"])
        if (existsSync(at(path))) expect(readFileSync(at(path), "utf8"), path).not.toContain("pawl");
    });
  });

test("no byte of git's own files is lost that is not UTF-8, and a link stays one", async () => {
  const repository = FIXTURES.find((one) => one.name === "empty but for a README")?.make(root);
  if (!repository) throw new Error("no fixture");
  const project = openProject(repository);
  const [common, shared] = [join(project.path, ".git"), join(root, "shared exclude")];
  const bytes = (path: string) => readFileSync(path, "latin1");
  appendFileSync(join(common, "config"), "[user]\n\tname = J\u00f6rg\n[core]\n\teditor = vim\\\n", "latin1");
  writeFileSync(shared, "caf\u00e9/", "latin1");
  mkdirSync(join(common, "info"), { recursive: true });
  rmSync(join(common, "info/exclude"), { force: true });
  symlinkSync(shared, join(common, "info/exclude"));
  const before = { git: gitBytes(common), exclude: bytes(shared) };
  await done(project, "install");
  expect(bytes(join(common, "config"))).toContain("name = J\u00f6rg\n");
  expect(bytes(shared)).toBe("caf\u00e9/\n/.pawl/state/\n");
  expect(project.git("config", "core.editor")).toBe("vim");
  expect(project.git("config", "core.hooksPath")).toBe(join(common, "pawl/hooks"));
  const second = await done(project, "install");
  expect(second.data.install.guard.changed).toEqual([]);
  await done(project, "uninstall", "--yes");
  expect([gitBytes(common), bytes(shared)]).toEqual([before.git, before.exclude]);
  expect(lstatSync(join(common, "info/exclude")).isSymbolicLink()).toBe(true);
});

/** Versions before 0.2 named their hooks in a file that the configuration included under a condition. */
test.each([
  ["", undefined],
  [", whose last line has no end", undefined],
  [", with husky", ".husky/_"],
])(
  "the next command migrates what an older pawl installed%s, and uninstall leaves no trace",
  async (how, husky) => {
    const repository = FIXTURES.find(
      (one) => one.name === (husky ? "husky" : "empty but for a README"),
    )?.make(root);
    if (!repository) throw new Error("no fixture");
    const project = openProject(repository);
    const [common, config] = [join(project.path, ".git"), join(project.path, ".git/config")];
    if (how.includes("no end")) writeFileSync(config, readFileSync(config, "utf8").trimEnd());
    const before = { tree: treeBytes(project.path), git: gitBytes(common) };
    await done(project, "install");
    const pattern = common.replace(/[[\]*?\\]/g, "\\$&");
    const sections = [pattern, `${pattern}/`].map(
      (one) => `[includeIf "gitdir:${one}"]\n\tpath = pawl/hooks.config\n`,
    );
    const broken = !before.git.config?.endsWith("\n");
    writeFileSync(config, `${before.git.config}${broken ? "\n" : ""}${sections.join("")}`);
    rmSync(join(common, "config.worktree"), { force: true });
    writeFileSync(join(common, "pawl/hooks.config"), `[core]\n\thooksPath = "${common}/pawl/hooks"\n`);
    const file = join(common, "pawl/before");
    const {
      line: _line,
      extension: _extension,
      remotes: _remotes,
      ...older
    } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...older, brokenLine: broken, hooksPath: husky ?? null }));
    rmSync(join(common, "pawl/stamps"));
    expect(project.git("config", "core.hooksPath")).toBe(`${common}/pawl/hooks`);

    await project.pawl("note", "add", "x");
    expect(readFileSync(config, "utf8")).not.toContain("includeIf");
    expect(project.git("config", "core.hooksPath")).toBe(`${common}/pawl/hooks`);
    expect(existsSync(join(common, "pawl/hooks.config"))).toBe(false);
    rmSync(join(project.path, ".pawl/state"), { recursive: true });
    rmSync(join(common, "pawl/state.git"), { recursive: true });
    await project.pawl("uninstall", "--delete-state", "--yes", "--json");
    await project.pawl("uninstall", "--yes", "--json");
    expect(readFileSync(config, "utf8")).toBe(before.git.config);
    expect(treeBytes(project.path, [".pawl/state"])).toEqual(before.tree);
  },
);

test("a link stays a link, and its file is edited once", async () => {
  const fixture = FIXTURES.find((one) => one.name === "a symlinked AGENTS.md");
  const project = openProject(fixture?.make(root) as never);
  const { data } = await done(project, "install");
  expect(lstatSync(join(project.path, "AGENTS.md")).isSymbolicLink()).toBe(true);
  const text = readFileSync(join(project.path, "CLAUDE.md"), "utf8");
  expect(text.match(/pawl:begin/g)).toHaveLength(1);
  expect(data.install.left).toEqual([{ path: "CLAUDE.md", why: "it is the same file as AGENTS.md" }]);
});

test("folders behind a link that a ledger names stay, even if empty", async () => {
  const repository = FIXTURES[0]?.make(root);
  if (!repository) throw new Error("no fixture");
  const project = openProject(repository);
  await done(project, "install");
  const outside = join(root, "outside/empty");
  mkdirSync(outside, { recursive: true });
  symlinkSync(join(root, "outside"), join(project.path, "link"));
  const file = join(project.path, ".pawl/lock.json");
  const ledger = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...ledger, directories: [...ledger.directories, "link/empty"] }));
  await done(project, "uninstall", "--yes");
  expect(existsSync(outside)).toBe(true);
});

describe("uninstall reports what it could not restore as expected", () => {
  async function installed(files: Record<string, string>, ...argv: string[]) {
    const repository = FIXTURES[0]?.make(root);
    if (!repository) throw new Error("no fixture");
    const project = openProject(repository);
    for (const [path, text] of Object.entries(files)) project.write(path, text);
    await done(project, "install", ...argv);
    return project;
  }

  test("an entry that the user changed stays", async () => {
    const project = await installed({});
    const file = join(project.path, ".claude/settings.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"matcher": "', '"matcher": "Mine|'));
    const { noted } = (await done(project, "uninstall", "--yes")).data.uninstall;
    expect(noted).toEqual([{ path: ".claude/settings.json", why: "it was changed around pawl's part" }]);
    expect(readFileSync(file, "utf8")).toContain("Mine|");
  });

  test("a replaced file is restored beside one that was edited", async () => {
    const skill = ".claude/skills/tdd/SKILL.md";
    const project = await installed({ [skill]: "mine\n" }, "--force");
    appendFileSync(join(project.path, skill), "edited\n");
    const { left } = (await done(project, "uninstall", "--yes")).data.uninstall;
    expect(left).toEqual([{ path: skill, why: `what was there before is ${skill}.pawl-orig now` }]);
    expect(readFileSync(join(project.path, `${skill}.pawl-orig`), "utf8")).toBe("mine\n");
  });

  test("a replaced file that the user brought back is left as it is, without a second copy", async () => {
    const skill = ".claude/skills/tdd/SKILL.md";
    const project = await installed({ [skill]: "mine\n" }, "--force");
    writeFileSync(join(project.path, skill), "mine\n");
    await done(project, "uninstall", "--yes");
    expect(readFileSync(join(project.path, skill), "utf8")).toBe("mine\n");
    expect(existsSync(join(project.path, `${skill}.pawl-orig`))).toBe(false);
  });
});

test("the named command restores a ledger with merge conflicts", { tags: ["proof"] }, async () => {
  const repository = FIXTURES[0]?.make(root);
  if (!repository) throw new Error("no fixture");
  const project = openProject(repository);
  project.git("switch", "-q", "-c", "one");
  await done(project, "install", "--agents", "claude", "--commit");
  project.git("switch", "-q", "-c", "two");
  await done(project, "install", "--agents", "codex", "--commit");
  project.git("switch", "-q", "one");
  await done(project, "install", "--agents", "copilot", "--with", "vscode-local", "--commit");
  expect(() => project.git("merge", "two")).toThrow();
  const { error } = (await project.pawl("uninstall", "--yes", "--json")).json;
  expect(error.code).toBe("broken_ledger");
  // What was refused has not taken the guard away.
  expect(project.git("config", "core.hooksPath")).toContain("pawl/hooks");
  const [, command = ""] = /: git (.*)$/.exec(error.hint) ?? [];
  project.git(...command.split(" "));
  await done(project, "uninstall", "--yes");
});

test("install refuses to write a tracked file that a sparse checkout leaves out", async () => {
  const repository = FIXTURES[0]?.make(root);
  if (!repository) throw new Error("no fixture");
  const project = openProject(repository);
  project.commit(".claude/settings.json", '{ "model": "mine" }\n');
  project.commit("src/a.txt", "a\n");
  project.git("sparse-checkout", "set", "src");
  const before = treeBytes(project.path);
  const { code, json } = await project.pawl("install", "--json");
  expect([code, json.error.code]).toEqual([1, "files_in_the_way"]);
  expect(json.error.message).toMatch(/settings\.json: it is tracked, but this sparse checkout leaves it out/);
  expect(treeBytes(project.path)).toEqual(before);
  project.git("sparse-checkout", "add", ".claude");
  await done(project, "install");
});

test("nothing is written to the folder around a bare repository and its worktrees", async () => {
  const repository = FIXTURES[0]?.make(root);
  if (!repository) throw new Error("no fixture");
  const around = join(root, "around");
  mkdirSync(around);
  openProject(repository).git("clone", "-q", "--bare", repository.path, join(around, ".bare"));
  writeFileSync(join(around, ".git"), "gitdir: ./.bare\n");
  const project = openProject({ ...repository, path: around });
  const { code, json } = await project.pawl("install", "--json");
  expect([code, json.error?.code]).toEqual([1, "no_worktree"]);
  expect(readdirSync(around).sort()).toEqual([".bare", ".git"]);
});
