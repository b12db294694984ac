import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { sha256 } from "../../src/files/digest.ts";
import { HOOK_RAN } from "../../src/files/sessions.ts";
import { type Ledger, parseLedger, printLedger } from "../../src/installer/plan/ledger.ts";
import { VERSION } from "../../src/model/version.ts";
import { type Project, test } from "../helpers/command-line.ts";
import { treeBytes } from "../helpers/tree-bytes.ts";
import unmarked from "./edit/toml-entries-0.1.0.json" with { type: "json" };

const at = (project: Project, path: string) => join(project.path, path);
const textAt = (project: Project, path: string) => readFileSync(at(project, path), "utf8");
const SKILL = ".claude/skills/tdd/SKILL.md";

async function done(project: Project, ...argv: string[]) {
  const { code, json } = await project.pawl(...argv, "--json");
  expect([code, json.error], argv.join(" ")).toEqual([0, undefined]);
  return json.data;
}

const codesOf = async (project: Project, level: string) => {
  const { json } = await project.pawl("doctor", "--json");
  const all = json.data.doctor.diagnoses as { code: string; level: string }[];
  return all.filter((one) => one.level === level).map((one) => one.code);
};

/** As if an older version had installed: the ledger says so, and one file is not wanted any more. */
function makeOlder(project: Project, change: (ledger: Ledger) => void): void {
  const ledger = parseLedger(textAt(project, ".pawl/lock.json"));
  ledger.pawl = "0.0.9";
  change(ledger);
  writeFileSync(at(project, ".pawl/lock.json"), printLedger(ledger));
}

/** What 0.1.0 installed: an ES module as the launcher, and words that name it. */
function makeInstalledBy010(project: Project): void {
  const text = "// Written by pawl 0.1.0\nimport { existsSync } from 'node:fs';\n";
  rmSync(at(project, ".pawl/pawl.cjs"));
  writeFileSync(at(project, ".pawl/pawl.mjs"), text);
  const older = textAt(project, SKILL).replaceAll("pawl.cjs", "pawl.mjs");
  writeFileSync(at(project, SKILL), older);
  makeOlder(project, (ledger) => {
    for (const one of ledger.files) {
      if (one.path === ".pawl/pawl.cjs") Object.assign(one, { path: ".pawl/pawl.mjs", sha256: sha256(text) });
      if (one.path === SKILL) one.sha256 = sha256(older);
    }
  });
}

describe("a project that 0.1.0 installed", { tags: ["proof"] }, () => {
  test("gets today's launcher by upgrade and by install, and uninstall leaves no trace", async ({
    project,
  }) => {
    project.commit("AGENTS.md", "# Rules\n");
    const before = treeBytes(project.path);
    for (const command of ["upgrade", "install"]) {
      await done(project, "install");
      const installed = treeBytes(project.path);
      makeInstalledBy010(project);
      await done(project, command);
      expect(treeBytes(project.path), command).toEqual(installed);
    }
    makeInstalledBy010(project);
    await done(project, "uninstall", "--yes");
    expect(treeBytes(project.path)).toEqual(before);
  });

  test("keeps a launcher that somebody edited, and says where the old name is still used", async ({
    project,
  }) => {
    await done(project, "install");
    makeInstalledBy010(project);
    appendFileSync(at(project, ".pawl/pawl.mjs"), "// mine\n");
    const { upgrade } = await done(project, "upgrade");
    expect(JSON.stringify(upgrade)).toContain(".pawl/pawl.mjs");
    expect(textAt(project, ".pawl/pawl.mjs")).toContain("// mine");
    expect(existsSync(at(project, ".pawl/pawl.cjs"))).toBe(true);
    expect(await codesOf(project, "note")).not.toContain("old_launcher");
    rmSync(at(project, ".pawl/pawl.mjs"));
    appendFileSync(at(project, SKILL), "Run `node .pawl/pawl.mjs session`.\n");
    expect(await codesOf(project, "note")).toContain("old_launcher");
  });
});

test("a dry run says so when there is nothing to do", async ({ project }) => {
  await done(project, "install");
  for (const command of ["install", "upgrade"])
    expect((await project.pawl(command, "--dry-run")).out).toContain("Nothing would be done.\n");
});

describe("pawl upgrade", () => {
  test("renews untouched files, removes obsolete ones, keeps and reports edited ones", async ({
    project,
  }) => {
    await done(project, "install");
    const old = { text: "old words\n", sha256: sha256("old words\n") };
    for (const path of [SKILL, ".claude/skills/gone/SKILL.md", ".claude/skills/edited/SKILL.md"]) {
      mkdirSync(join(at(project, path), ".."), { recursive: true });
      writeFileSync(at(project, path), old.text);
    }
    makeOlder(project, (ledger) => {
      const tdd = ledger.files.find((one) => one.path === SKILL);
      if (tdd) tdd.sha256 = old.sha256;
      for (const name of ["gone", "edited"]) {
        const path = `.claude/skills/${name}/SKILL.md`;
        ledger.files.push({ path, mode: "own", created: true, sha256: old.sha256, template: old.sha256 });
        ledger.directories.push(`.claude/skills/${name}`);
      }
    });
    appendFileSync(at(project, ".claude/skills/edited/SKILL.md"), "mine\n");
    const scope = ".agents/skills/scope/SKILL.md";
    makeOlder(project, (ledger) => {
      const record = ledger.files.find((one) => one.path === scope);
      if (record) record.sha256 = old.sha256;
    });
    appendFileSync(at(project, scope), "mine\n");

    const { upgrade } = await done(project, "upgrade");
    expect(upgrade).toMatchObject({ from: "0.0.9", to: VERSION });
    expect(upgrade.written).toEqual([SKILL, ".pawl/lock.json"]);
    expect(upgrade.removed).toEqual([".claude/skills/gone/SKILL.md"]);
    expect(upgrade.left.map((one: { path: string }) => one.path).sort()).toEqual([
      scope,
      ".claude/skills/edited/SKILL.md",
    ]);
    expect(existsSync(at(project, ".claude/skills/gone"))).toBe(false);
    expect(textAt(project, ".claude/skills/edited/SKILL.md")).toBe("old words\nmine\n");
    expect(textAt(project, scope)).toContain("mine");
    expect((await done(project, "upgrade")).upgrade.written).toEqual([]);
  });

  test("an older program changes nothing", async ({ project }) => {
    await done(project, "install");
    const ledger = parseLedger(textAt(project, ".pawl/lock.json"));
    writeFileSync(at(project, ".pawl/lock.json"), printLedger({ ...ledger, pawl: "9.0.0" }));
    const before = treeBytes(project.path);
    for (const command of ["upgrade", "install"]) {
      const { code, json } = await project.pawl(command, "--json");
      expect([code, json.error.code]).toEqual([1, "older_version"]);
    }
    expect(treeBytes(project.path)).toEqual(before);
  });

  test("without an installation there is nothing to upgrade", async ({ project }) => {
    expect((await project.pawl("upgrade", "--json")).json.error).toMatchObject({
      code: "not_installed",
      hint: "pawl install",
    });
  });
});

describe("pawl override", () => {
  test("a patch is rendered for every agent, settled when pawl's text changes, and removed", {
    tags: ["proof"],
  }, async ({ project }) => {
    await done(project, "install");
    const original = textAt(project, SKILL);
    await done(project, "override", "skill", "tdd", "--patch");
    const file = at(project, ".pawl/overrides/skills/tdd/override.md");
    writeFileSync(file, readFileSync(file, "utf8").replace(/$/, "\nOur own last line.\n"));
    expect(await codesOf(project, "problem")).toContain("file_outdated");
    await done(project, "install");
    for (const folder of [".claude", ".agents"])
      expect(textAt(project, `${folder}/skills/tdd/SKILL.md`)).toContain("Our own last line.");
    expect((await done(project, "override", "list")).overrides).toMatchObject([
      { name: "tdd", mode: "patch", state: "applied" },
    ]);

    // As if it had been made against an older text of pawl's: one line was added upstream since.
    const base = at(project, ".pawl/overrides/skills/tdd/upstream.md");
    const newer = readFileSync(base, "utf8");
    const lines = newer.split("\n");
    const older = [...lines.slice(0, 8), ...lines.slice(9)].join("\n");
    writeFileSync(base, older);
    const mine = readFileSync(file, "utf8")
      .replace(lines[8] ?? "", "")
      .replace("\n\n\n", "\n\n");
    writeFileSync(file, mine.replace(/sha256:[0-9a-f]+/, `sha256:${sha256(older)}`));
    expect(await codesOf(project, "note")).toContainEqual(
      expect.stringMatching(/^override_(?:merged|conflict)$/),
    );
    await done(project, "override", "settle", "tdd");
    expect((await done(project, "override", "list")).overrides).toMatchObject([{ state: "applied" }]);
    expect(readFileSync(base, "utf8")).toBe(newer);

    await done(project, "override", "remove", "tdd");
    expect(textAt(project, SKILL)).toBe(original);
    expect(existsSync(at(project, ".pawl/overrides"))).toBe(false);
  });

  test("adds a skill, disables one, and disables the MCP server", { tags: ["proof"] }, async ({
    project,
  }) => {
    await done(project, "install");
    await done(project, "override", "add", "release");
    expect(textAt(project, ".agents/skills/release/SKILL.md")).toContain('name: "release"');
    await done(project, "override", "skill", "auto-fix", "--disable");
    expect(existsSync(at(project, ".claude/skills/auto-fix"))).toBe(false);
    await done(project, "override", "surface", "mcp", "--disable");
    expect(existsSync(at(project, ".mcp.json"))).toBe(false);
    expect(await codesOf(project, "problem")).toEqual(["runtime_missing"]);
    await done(project, "override", "remove", "mcp");
    expect(textAt(project, ".mcp.json")).toContain("pawl.cjs");
    // What the user wrote stays when pawl goes, and is all that stays.
    await done(project, "uninstall", "--yes");
    expect(Object.keys(treeBytes(project.path)).filter((path) => !path.endsWith("/"))).toEqual([
      ".pawl/overrides/skills/auto-fix/override.md",
      ".pawl/overrides/skills/auto-fix/upstream.md",
      ".pawl/overrides/skills/release/override.md",
      "README.md",
    ]);
  });

  test("mistakes are reported and change nothing", async ({ project }) => {
    await done(project, "install");
    const before = treeBytes(project.path);
    const codeOf = async (env: Record<string, string>, ...argv: string[]) =>
      (await project.pawlIn(project.path, env, "override", ...argv, "--json")).json.error?.code;
    expect(await codeOf({}, "skill", "nothing", "--patch")).toBe("no_skill");
    expect(await codeOf({}, "skill", "tdd")).toBe("which_mode");
    expect(await codeOf({}, "add", "tdd")).toBe("skill_exists");
    expect(await codeOf({}, "add", "No Name")).toBe("broken_override");
    expect(await codeOf({}, "remove", "tdd")).toBe("no_override");
    expect(await codeOf({ CLAUDECODE: "1" }, "surface", "hooks", "--disable")).toBe("human_only");
    expect(await codeOf({ CLAUDECODE: "1" }, "skill", "tdd", "--disable")).toBe("human_only");
    expect(treeBytes(project.path)).toEqual(before);
  });
});

describe("pawl doctor", () => {
  test("finds what is missing or damaged, and --fix restores it", async ({ project }) => {
    await done(project, "install");
    // Programs of tests are not built, so there is no copy of them in the clone.
    expect(await codesOf(project, "problem")).toEqual(["runtime_missing"]);
    rmSync(at(project, SKILL));
    rmSync(at(project, ".pawl/hook.cjs"));
    writeFileSync(at(project, ".mcp.json"), "{}\n");
    appendFileSync(at(project, ".agents/skills/tdd/SKILL.md"), "mine\n");
    expect((await codesOf(project, "problem")).sort()).toEqual([
      ...["file_missing", "file_missing", "file_outdated", "launcher_missing", "runtime_missing"],
    ]);
    expect(await codesOf(project, "note")).toContain("file_edited");
    await project.pawl("doctor", "--fix");
    expect(await codesOf(project, "problem")).toEqual(["runtime_missing"]);
    expect(textAt(project, ".agents/skills/tdd/SKILL.md")).toContain("mine");
  });

  test("reports an edited skill and how to keep the edit for every agent", { tags: ["proof"] }, async ({
    project,
  }) => {
    await done(project, "install");
    const none = await project.pawl("override", "skill", "tdd", "--from-edit", "--json");
    expect(none.json.error.code).toBe("not_edited");
    const before = textAt(project, SKILL);
    appendFileSync(at(project, SKILL), "\nMeasure before you optimise.\n");
    appendFileSync(at(project, ".claude/skills/scope/SKILL.md"), "\nAn edit that stays as it is.\n");
    const { json } = await project.pawl("doctor", "--json");
    const told = json.data.doctor.diagnoses.find((one: { where: string }) => one.where === SKILL);
    expect(told).toMatchObject({ code: "file_edited", command: "pawl override skill tdd --from-edit" });
    const kept = await project.pawl("override", "skill", "tdd", "--from-edit", "--json");
    expect([kept.code, kept.json.next.command]).toEqual([0, "pawl install --commit"]);
    const override = textAt(project, ".pawl/overrides/skills/tdd/override.md");
    expect(override).toMatch(/mode: "?patch[\s\S]*Measure before you optimise\.\n$/);
    for (const folder of [".claude", ".agents"])
      expect(textAt(project, `${folder}/skills/tdd/SKILL.md`)).toContain("Measure before you optimise.");
    expect(textAt(project, ".claude/skills/scope/SKILL.md")).toContain("An edit that stays as it is.");
    const after = await project.pawl("doctor", "--json");
    const edited = after.json.data.doctor.diagnoses.filter(
      (one: { code: string }) => one.code === "file_edited",
    );
    expect(edited.map((one: { where: string }) => one.where)).toEqual([".claude/skills/scope/SKILL.md"]);
    await done(project, "override", "remove", "tdd");
    expect(textAt(project, SKILL)).toBe(before);
  });

  test("reports what agents still have to be told, from their own files", async ({ project }) => {
    await done(project, "install");
    expect((await codesOf(project, "note")).filter((one) => one.includes("trusted"))).toEqual([]);
    const home = project.env.HOME ?? "";
    mkdirSync(join(home, ".codex"));
    mkdirSync(join(home, ".copilot"));
    writeFileSync(join(home, ".claude.json"), "{}");
    writeFileSync(join(home, ".copilot/config.json"), "{}");
    writeFileSync(join(home, ".codex/config.toml"), "model = 'x'\n");
    const trust = async () => (await codesOf(project, "note")).filter((one) => one.includes("trusted"));
    expect(await trust()).toEqual(["claude_not_trusted", "codex_not_trusted", "copilot_not_trusted"]);
    const { path } = project;
    writeFileSync(
      join(home, ".claude.json"),
      JSON.stringify({ projects: { [path]: { hasTrustDialogAccepted: true } } }),
    );
    writeFileSync(join(home, ".copilot/config.json"), JSON.stringify({ trustedFolders: [home] }));
    writeFileSync(
      join(home, ".codex/config.toml"),
      `[projects.${JSON.stringify(path)}]\ntrust_level = "trusted"\n`,
    );
    expect(await trust()).toEqual(["codex_hooks_not_trusted"]);
  });

  test("a folder whose name only begins like a trusted one is not trusted", async ({ project }) => {
    await done(project, "install");
    const folder = join(project.env.HOME ?? "", ".copilot");
    mkdirSync(folder);
    const trust = (...trustedFolders: string[]) =>
      writeFileSync(join(folder, "config.json"), JSON.stringify({ trustedFolders }));
    trust(project.path);
    expect(await codesOf(project, "note")).not.toContain("copilot_not_trusted");
    trust(project.path.slice(0, -1));
    expect(await codesOf(project, "note")).toContain("copilot_not_trusted");
  });

  test("reports where an agent would miss our hooks, and a session that began without them", {
    tags: ["proof"],
  }, async ({ project }) => {
    await done(project, "install");
    mkdirSync(join(project.path, "src"));
    const codes = async (folder: string, env: Record<string, string>) => {
      const { json } = await project.pawlIn(join(project.path, folder), env, "doctor", "--json");
      const found: { code: string }[] = json.data.doctor.diagnoses;
      return found.map(({ code }) => code).filter((code) => /start_folder|hooks_not_run/.test(code));
    };
    const agent = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "s/1" };
    expect(await codes(".", {})).toEqual([]);
    expect(await codes("src", {})).toEqual(["claude_start_folder"]);
    expect(await codes("src", agent)).toEqual(["claude_start_folder", "hooks_not_run"]);
    mkdirSync(join(project.path, ".git/pawl/sessions"), { recursive: true });
    // What our server leaves when the agent connects says nothing of the hook.
    writeFileSync(join(project.path, ".git/pawl/sessions/s-1"), "began 1 claude-code\n");
    expect(await codes(".", agent)).toEqual(["hooks_not_run"]);
    appendFileSync(join(project.path, ".git/pawl/sessions/s-1"), `${HOOK_RAN}\n`);
    expect(await codes(".", agent)).toEqual([]);
    await done(project, "install", "--agents", "claude,gemini");
    expect(await codes("src", {})).toEqual(["claude_start_folder", "gemini_start_folder"]);
  });
});

describe("a fresh clone", () => {
  test("has the files, says how to get the program, and can be uninstalled with only the ledger", async ({
    project,
  }) => {
    project.commit("AGENTS.md", "# Rules\n");
    const before = treeBytes(project.path);
    await done(project, "install", "--commit");
    const path = join(project.path, "../a clone");
    execFileSync("git", ["clone", "-q", project.path, path], { env: project.env });
    const said = await new Promise<{ code: unknown; err: string }>((resolve) => {
      try {
        execFileSync(process.execPath, [".pawl/pawl.cjs", "status"], {
          cwd: path,
          env: project.env,
          stdio: "pipe",
        });
      } catch (error) {
        const { status, stderr } = error as { status: number; stderr: Buffer };
        resolve({ code: status, err: stderr.toString() });
      }
    });
    const version = VERSION.replaceAll(".", "\\.");
    expect(said).toEqual({
      code: 2,
      err: expect.stringMatching(
        `^pawl ${version} is not installed in this clone yet\\.\nIt comes as a file: [^\n]+, then\n {2}node \\.pawl/get\\.cjs /path/to/pawl-${version}\\.tgz\n$`,
      ),
    });
    const clean = await project.pawlIn(path, {}, "install", "--json");
    expect(clean.json.data.install.written).toEqual([]);
    expect((await project.pawlIn(path, {}, "uninstall", "--yes")).code).toBe(0);
    expect(treeBytes(path)).toEqual(before);
  });

  test("start refuses a base without the installed files", async ({ project }) => {
    await done(project, "install");
    await done(project, "task", "new", "One");
    const { json } = await project.pawl("start", "T1", "--json");
    expect(json.error.code).toBe("surfaces_not_in_base");
  });

  test("--target names another folder, and one that does not exist is refused", async ({ project }) => {
    const other = join(project.path, "../other");
    cpSync(project.path, other, { recursive: true });
    const elsewhere = join(project.path, "..");
    expect((await project.pawlIn(elsewhere, {}, "install", "--target", "other")).code).toBe(0);
    expect(existsSync(join(other, ".pawl/lock.json"))).toBe(true);
    const wrong = await project.pawl("install", "--target", "nowhere", "--json");
    expect([wrong.code, wrong.json.error.code]).toEqual([4, "no_folder"]);
    expect(existsSync(at(project, ".pawl"))).toBe(false);
  });
});

describe("what is in the way", () => {
  test("stops the install, is shown, and is replaced only with --force, keeping a copy that uninstall restores", async ({
    project,
  }) => {
    project.commit(SKILL, "---\nname: tdd\n---\nmine\n");
    project.commit(".mcp.json", '{"mcpServers":{"pawl":{"command":"mine"}}}\n');
    const before = treeBytes(project.path);
    const { code, json } = await project.pawl("install", "--json");
    expect([code, json.error.code]).toEqual([1, "files_in_the_way"]);
    expect(json.error.details.files).toMatchObject([
      { path: SKILL, diff: expect.stringContaining("-mine") },
      { path: ".mcp.json", diff: expect.stringContaining("mine") },
    ]);
    expect(treeBytes(project.path)).toEqual(before);
    expect((await project.pawl("install", "--dry-run")).code).toBe(1);
    await done(project, "install", "--force");
    expect(textAt(project, ".mcp.json")).toContain("pawl.cjs");
    await done(project, "uninstall", "--yes");
    expect(treeBytes(project.path)).toEqual(before);
  });

  test("a link out of the repository is never followed", async ({ project }) => {
    const outside = join(project.path, "../outside");
    mkdirSync(outside);
    execFileSync("ln", ["-s", outside, at(project, ".claude")]);
    const { json } = await project.pawl("install", "--json");
    expect(json.error.details.files[0]).toMatchObject({
      why: "it is behind a link that points out of the repository",
    });
    expect(treeBytes(outside)).toEqual({});
  });

  test("a dry run says what it would do and does nothing", async ({ project }) => {
    const before = treeBytes(project.path);
    const { json } = await project.pawl("install", "--dry-run", "--json");
    const planned = json.planned.map((one: { do: string; path: string }) => `${one.do} ${one.path}`);
    expect(planned).toContain("create .pawl/lock.json");
    expect(planned).toContain(`create ${SKILL}`);
    expect(treeBytes(project.path)).toEqual(before);
    expect(existsSync(at(project, ".git/pawl"))).toBe(false);
  });
});

describe("Codex' server as 0.1.0 wrote it, without marks", { tags: ["proof"] }, () => {
  const CONFIG = ".codex/config.toml";
  const one = unmarked.cases.find(({ name }) => name === "other settings");

  /** The file and its line in the ledger, as an installation of 0.1.0 left them. */
  async function installedBy010(project: Project): Promise<void> {
    if (!one) throw new Error("no fixture");
    project.write(CONFIG, one.before ?? "");
    await done(project, "install", "--agents", "codex");
    writeFileSync(at(project, CONFIG), one.after);
    const { sha256, template, entries } = unmarked;
    makeOlder(project, (ledger) => {
      const others = ledger.files.filter(({ path }) => path !== CONFIG);
      const record = { path: CONFIG, mode: "entry", format: "toml", sha256, template, entries } as const;
      ledger.files = [...others, { ...record, inserted: one.inserted } as Ledger["files"][number]];
    });
  }

  for (const command of ["install", "upgrade"])
    test(`${command} adds the marks, and uninstall restores the file`, async ({ project }) => {
      await installedBy010(project);
      await done(project, command, ...(command === "install" ? ["--agents", "codex"] : []));
      expect(textAt(project, CONFIG)).toMatch(/^model = "x" # mine\n\n# pawl:begin\n\[mcp_servers\.pawl\]\n/);
      expect(textAt(project, CONFIG)).toContain(".pawl/pawl.cjs");
      expect(textAt(project, CONFIG).match(/mcp_servers\.pawl\]/g)).toHaveLength(1);
      await done(project, "uninstall", "--yes");
      expect(textAt(project, CONFIG)).toBe(one?.before);
    });

  test("uninstall alone restores the file", async ({ project }) => {
    await installedBy010(project);
    await done(project, "uninstall", "--yes");
    expect(textAt(project, CONFIG)).toBe(one?.before);
  });

  test("a server of the user's own is refused with advice, and nothing is written", async ({ project }) => {
    project.write(CONFIG, '[mcp_servers.pawl]\ncommand = "mine"\n');
    const before = treeBytes(project.path);
    const { code, json } = await project.pawl("install", "--force", "--json");
    expect([code, json.error.code]).toEqual([1, "files_in_the_way"]);
    expect(`${json.error.message} ${json.error.hint}`).toMatch(/line 1: `mcp_servers\.pawl` already exists/);
    expect(treeBytes(project.path)).toEqual(before);
  });
});

describe("a power cut just after an install", () => {
  test("leaves empty files that install rewrites, the ledger included, and that uninstall removes", async ({
    project,
  }) => {
    const before = treeBytes(project.path);
    await done(project, "install");
    const whole = treeBytes(project.path);
    const isOurs = (path: string) => !(path in before) && !path.endsWith("/") && !/^\.pawl\/state/.test(path);
    const ours = Object.keys(whole).filter(isOurs);
    expect(ours).toEqual(expect.arrayContaining([SKILL, ".mcp.json", ".pawl/lock.json", "AGENTS.md"]));
    for (const path of ours) writeFileSync(at(project, path), "");
    await done(project, "install");
    expect(treeBytes(project.path)).toEqual(whole);
    await done(project, "uninstall", "--delete-state", "--yes");
    expect(treeBytes(project.path)).toEqual(before);
  });
});
