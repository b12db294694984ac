// @module-tag proof
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SKILLS } from "../../src/installer/render/templates.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { DISK, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { askCodexServer, askProgram } from "./ask-program.ts";
import { installedRepository } from "./installed-repository.ts";
import { PROGRAMS_TIMEOUT_MS, type ProgramName, type Programs, realPrograms } from "./programs.ts";
import { dialects, runAgent } from "./run-agent.ts";
import type { ToolCall } from "./scripted-model.ts";

/** The plugin form, installed by each real program, in a repository that leaves skills, hooks and server to it. */

const NAMES = Object.keys(SKILLS).sort();

const base = makeTemporaryFolder("plugins", DISK);
let programs: Programs;
let built: BuiltProgram;
let marketplace: string;
let folder: string;
let full: string;

beforeAll(async () => {
  programs = await realPrograms();
  built = buildProgram();
  marketplace = join(built.folder, "plugin");
  folder = installedRepository(built.pawl, base, "--profile", "hooks").path;
  full = installedRepository(built.pawl, join(base, "full")).path;
}, PROGRAMS_TIMEOUT_MS);

afterAll(() => {
  built.remove();
  rmSync(base, { recursive: true, force: true });
});

function newHome(name: string): string {
  const home = join(base, "homes", name);
  mkdirSync(home, { recursive: true });
  return home;
}

async function ask(name: ProgramName, home: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await askProgram(programs, name, { folder, home }, ...args);
  expect(code, `${name} ${args.join(" ")}\n${out}${err}`).toBe(0);
  return out;
}

/** A refused command, then a tool of our server, which says the same as the hook did when the session began. */
async function expectWork(
  name: ProgramName,
  home: string,
  tool: ToolCall,
  args: string[] = [],
): Promise<void> {
  const script = [
    { call: dialects[name].shell("git commit --no-verify -m x") },
    { call: tool },
    { say: "done" },
  ];
  // Every shell says where it is; a server of a Copilot plugin has nothing else to go by.
  const env = { PWD: folder };
  const { read } = await runAgent(programs, name, { folder, home, prompt: "hello", script, args, env });
  const times = (at: number, words: string) => read(at).split(words).length - 1;
  expect([0, 1, 2].map((at) => times(at, "Refused by pawl. Hooks stay on."))).toEqual([0, 1, 1]);
  expect([0, 1, 2].map((at) => times(at, "No task is active"))).toEqual([1, 1, 2]);
}

/** In a repository that brings hooks and server itself, the plugin adds neither words nor tools. */
async function expectNothingTwice(name: ProgramName, home: string, args: string[] = []): Promise<void> {
  const script = [{ say: "done" }];
  const run = { folder: full, home, prompt: "hello", script, args, env: { PWD: full } };
  const { read, requests } = await runAgent(programs, name, run);
  const [first] = requests;
  expect(read(0).split("No task is active")).toHaveLength(2);
  expect(first && dialects[name].offered(first).filter((tool) => tool === "session")).toEqual(["session"]);
}

describe("Claude Code", () => {
  test("validates the plugin, and rejects a broken one", async () => {
    const home = newHome("claude validate");
    const validate = (path: string) =>
      askProgram(programs, "claude", { folder, home }, "plugin", "validate", "--strict", path);
    for (const path of [marketplace, join(marketplace, "plugins/pawl")])
      expect(await validate(path)).toMatchObject({
        code: 0,
        out: expect.stringContaining("Validation passed"),
      });
    const listed = join(marketplace, "plugins/pawl");
    const words = ["plugin", "validate", "--strict", "--profile", "directory", listed];
    const asListed = await askProgram(programs, "claude", { folder, home }, ...words);
    expect(asListed).toMatchObject({ code: 0, out: expect.not.stringMatching(/MISSING/) });
    const broken = join(base, "broken");
    cpSync(join(marketplace, "plugins/pawl"), broken, { recursive: true });
    const manifest = join(broken, ".claude-plugin/plugin.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"license"', '"licence"'));
    expect((await validate(broken)).code).toBe(1);
  });

  test("installs it and gets its skills, hooks and server", async () => {
    const home = newHome("claude");
    await ask("claude", home, "plugin", "marketplace", "add", marketplace);
    await ask("claude", home, "plugin", "install", "pawl@pawl");
    const listed = JSON.parse(await ask("claude", home, "plugin", "list", "--json"));
    expect(listed).toEqual([expect.objectContaining({ id: "pawl@pawl", enabled: true })]);
    const details = await ask("claude", home, "plugin", "details", "pawl");
    expect(/Skills \(13\) +(.*)/.exec(details)?.[1]?.split(", ").sort()).toEqual(NAMES);
    expect(details).toMatch(/Hooks \(5\) +SessionStart, PreToolUse, PostToolUse, PreCompact, Stop/);
    expect(details).toMatch(/MCP servers \(1\) +pawl/);
    expect(await ask("claude", home, "mcp", "list")).toMatch(/^plugin:pawl:pawl: .*Connected$/m);

    const tool = { name: "mcp__plugin_pawl_pawl__session", input: {} };
    await expectWork("claude", home, tool, ["--allowedTools", tool.name]);
    await expectNothingTwice("claude", home);
  });
});

describe("Codex", () => {
  test("installs it and gets its skills, hooks and server", async () => {
    const home = newHome("codex");
    await ask("codex", home, "plugin", "marketplace", "add", marketplace);
    await ask("codex", home, "plugin", "add", "pawl@pawl");
    expect(await ask("codex", home, "plugin", "list")).toMatch(/^pawl@pawl +installed, enabled/m);
    const question = { folder, home };
    const { skills } = await askCodexServer<{ skills: { name: string }[] }>(
      programs,
      question,
      "skills/list",
    );
    const ours = skills.map(({ name }) => name).filter((name) => name.startsWith("pawl"));
    expect(ours.sort()).toEqual(NAMES.map((name) => `pawl:${name}`));
    const { hooks } = await askCodexServer<{ hooks: { eventName: string }[] }>(
      programs,
      question,
      "hooks/list",
    );
    expect(hooks).toHaveLength(5);
    const servers = JSON.parse(await ask("codex", home, "mcp", "list", "--json"));
    expect(servers).toEqual([expect.objectContaining({ name: "pawl", enabled: true })]);

    // Our runs write the user's settings anew; these two lines are what `codex plugin add` wrote into them.
    const settings = [
      `marketplaces={pawl={source_type="local",source=${JSON.stringify(marketplace)}}}`,
      'plugins={"pawl@pawl"={enabled=true}}',
    ];
    const args = settings.flatMap((one) => ["-c", one]);
    await expectWork("codex", home, dialects.codex.mcp("session", {}), args);
    await expectNothingTwice("codex", home, args);
  });
});

describe("Copilot", () => {
  test("installs it and gets its skills, hooks and server", async () => {
    const home = newHome("copilot");
    await ask("copilot", home, "plugin", "marketplace", "add", marketplace);
    expect(await ask("copilot", home, "plugin", "install", "pawl@pawl")).toContain("Installed 13 skills");
    expect(await ask("copilot", home, "plugin", "list")).toMatch(/pawl@pawl .*\(enabled\)/);
    const listed = await ask("copilot", home, "skill", "list");
    for (const name of NAMES) expect(listed.match(new RegExp(`^ {2}${name} - `, "gm")), name).toHaveLength(1);
    expect(await ask("copilot", home, "mcp", "list")).toMatch(/Plugin servers:\n {2}pawl \(local\)/);

    await expectWork("copilot", home, dialects.copilot.mcp("session", {}));
    await expectNothingTwice("copilot", home);
  });
});
