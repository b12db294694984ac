// @module-tag proof
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SKILLS } from "../../src/installer/render/templates.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { DISK, makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";
import { askCodexServer, askProgram, trustFolder } from "./ask-program.ts";
import { installedRepository } from "./installed-repository.ts";
import { PROGRAMS_TIMEOUT_MS, type Programs, realPrograms } from "./programs.ts";
import { runAgent } from "./run-agent.ts";

/** What each real program says that it sees in a repository into which pawl was installed, and nowhere else. */

const NAMES = Object.keys(SKILLS).sort();
const EVENTS = ["PostToolUse", "PreCompact", "PreToolUse", "SessionStart", "Stop"];

const base = makeTemporaryFolder("listings", DISK);
let programs: Programs;
let built: BuiltProgram;
let installed: string;
let plain: string;

beforeAll(async () => {
  programs = await realPrograms();
  built = buildProgram();
  installed = installedRepository(built.pawl, join(base, "one")).path;
  plain = makeRepository(join(base, "two")).path;
}, PROGRAMS_TIMEOUT_MS);

afterAll(() => {
  built.remove();
  rmSync(base, { recursive: true, force: true });
});

function newHome(name: string, trusted?: string): string {
  const home = join(base, "homes", name);
  mkdirSync(home, { recursive: true });
  if (trusted) trustFolder(home, trusted);
  return home;
}

test("there are thirteen skills, one of which begins a session", () => {
  expect(NAMES).toHaveLength(13);
  expect(NAMES).toContain("pawl");
});

describe("Claude Code", () => {
  interface Init {
    skills: string[];
    slash_commands: string[];
    mcp_servers: { name: string; status: string }[];
    tools: string[];
  }

  async function ask(folder: string, home: string) {
    const { out } = await runAgent(programs, "claude", {
      ...{ folder, home, prompt: "hello", script: [{ say: "hello" }] },
      args: ["--output-format", "stream-json", "--verbose", "--include-hook-events"],
    });
    const lines = out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    const init = lines.find(({ type, subtype }) => type === "system" && subtype === "init") as Init;
    const started = lines.filter(({ subtype }) => subtype === "hook_started");
    return { init, started: started.map(({ hook_event }) => hook_event as string) };
  }

  test("lists every skill, the server and the hooks once, besides its own", async () => {
    const without = await ask(plain, newHome("claude plain"));
    const { init, started } = await ask(installed, newHome("claude"));
    const added = (list: string[], known: string[]) => list.filter((one) => !known.includes(one)).sort();
    expect(added(init.skills, without.init.skills)).toEqual(NAMES);
    expect(added(init.slash_commands, without.init.slash_commands)).toEqual(NAMES);
    expect(init.mcp_servers).toEqual([
      expect.objectContaining({ name: "pawl", status: expect.stringMatching(/^(connected|pending)$/) }),
    ]);
    expect(without.started).toEqual([]);
    expect(started.sort()).toEqual(["SessionStart", "Stop"]);
  });

  test("asks to approve the server, then connects to it, also from a sub-folder", async () => {
    const home = newHome("claude servers");
    const sub = join(installed, "sub folder");
    mkdirSync(sub);
    const list = (folder: string) => askProgram(programs, "claude", { folder, home }, "mcp", "list");
    expect((await list(installed)).out).toMatch(/^pawl: node .* Pending approval/m);
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(join(home, ".claude", "settings.json"), '{"enableAllProjectMcpServers":true}');
    for (const folder of [installed, sub]) {
      const { out } = await list(folder);
      expect(out.match(/^\S.*: .* - .*/gm)).toEqual([expect.stringMatching(/^pawl: node .*Connected$/)]);
    }
  });
});

describe("Codex", () => {
  test("lists every skill once and reports no error", async () => {
    const ask = (folder: string, home: string) =>
      askCodexServer<{ skills: { name: string }[]; errors: unknown[] }>(
        programs,
        { folder, home },
        "skills/list",
      );
    const without = await ask(plain, newHome("codex plain"));
    const { skills, errors } = await ask(installed, newHome("codex skills", installed));
    const known = without.skills.map(({ name }) => name);
    const added = skills.map(({ name }) => name).filter((name) => !known.includes(name));
    expect(added.sort()).toEqual(NAMES);
    expect(errors).toEqual([]);
  });

  test("lists each hook once, waiting for the user's trust", async () => {
    const { hooks, errors, warnings } = await askCodexServer<{
      hooks: { eventName: string; sourcePath: string; trustStatus: string }[];
      errors: unknown[];
      warnings: unknown[];
    }>(programs, { folder: installed, home: newHome("codex hooks", installed) }, "hooks/list");
    const events = hooks.map(({ eventName }) => eventName.toLowerCase()).sort();
    expect(events).toEqual(EVENTS.map((event) => event.toLowerCase()));
    expect(new Set(hooks.map(({ trustStatus }) => trustStatus))).toEqual(new Set(["untrusted"]));
    expect(new Set(hooks.map(({ sourcePath }) => sourcePath))).toEqual(
      new Set([join(installed, ".codex/hooks.json")]),
    );
    expect([errors, warnings]).toEqual([[], []]);
  });

  test("lists the server only once the project is trusted", async () => {
    const list = async (home: string) => {
      const question = { folder: installed, home };
      return JSON.parse((await askProgram(programs, "codex", question, "mcp", "list", "--json")).out);
    };
    expect(await list(newHome("codex untrusted"))).toEqual([]);
    expect(await list(newHome("codex trusted", installed))).toEqual([
      expect.objectContaining({ name: "pawl", enabled: true }),
    ]);
  });

  test("tells the model about every skill and our text in AGENTS.md once", async () => {
    const question = { folder: installed, home: newHome("codex prompt", installed) };
    const { out } = await askProgram(programs, "codex", question, "debug", "prompt-input", "hello");
    expect(out).toContain(`= \`${join(installed, ".agents/skills")}\``);
    for (const name of NAMES) expect(out.split(`/${name}/SKILL.md)`), name).toHaveLength(2);
    expect(out.split("<!-- pawl:begin -->")).toHaveLength(2);
  });

  test.each([
    ["forbidden", "git commit --no-verify -m x"],
    ["forbidden", "git push --no-verify"],
    ["forbidden", "node .pawl/pawl.cjs approve T0001"],
    ["forbidden", "node .pawl/pawl.cjs unlock main"],
    [undefined, "git commit -m x"],
    [undefined, "git push"],
    [undefined, "node .pawl/pawl.cjs check --stage close"],
  ])("answers %s by our rules to: %s", async (decision, command) => {
    const question = { folder: installed, home: newHome("codex rules") };
    const rules = ["--rules", join(installed, ".codex/rules/pawl.rules")];
    const { out } = await askProgram(
      programs,
      "codex",
      question,
      "execpolicy",
      "check",
      ...rules,
      ...command.split(" "),
    );
    expect(JSON.parse(out).decision).toBe(decision);
  });
});

describe("Copilot", () => {
  const ask = (folder: string, home: string, ...args: string[]) =>
    askProgram(programs, "copilot", { folder, home }, ...args).then(({ out }) => out);

  test("lists every skill once, before the folder is trusted", async () => {
    const listed = await ask(installed, newHome("copilot skills"), "skill", "list");
    const project = /^Project skills:\n((?: {2}.*\n)+)/m.exec(listed)?.[1] ?? "";
    expect([...project.matchAll(/^ {2}(\S+) - /gm)].map(([, name]) => name).sort()).toEqual(NAMES);
    for (const name of NAMES) expect(listed.match(new RegExp(`^ {2}${name} - `, "gm")), name).toHaveLength(1);
  });

  test("lists the server only once the folder is trusted", async () => {
    expect(await ask(installed, newHome("copilot untrusted"), "mcp", "list")).not.toContain("pawl");
    const listed = await ask(installed, newHome("copilot trusted", installed), "mcp", "list");
    expect(listed.match(/^ {2}\S.*$/gm)).toEqual(["  pawl (local)"]);
  });

  test("reads our text once from each file that contains it", async () => {
    const listed = await ask(installed, newHome("copilot words"), "instruction", "list");
    expect([...listed.matchAll(/^ {2}• (.*)$/gm)].map(([, file]) => file)).toEqual([
      "AGENTS.md",
      "CLAUDE.md",
    ]);
  });
});
