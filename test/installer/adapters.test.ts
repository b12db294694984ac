import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AdapterFile, type AgentName, readAdapter } from "../../src/installer/adapter.ts";
import { ADAPTERS, isOurPlace, SHARED, wantedFiles } from "../../src/installer/adapters.ts";
import {
  applySurfaceOverrides,
  readSurfaceOverride,
  type SurfaceOverride,
  surfaceUpstream,
} from "../../src/installer/overrides/surface-overrides.ts";
import { digestOf } from "../../src/installer/render/overrides.ts";
import { upstreamSkills } from "../../src/installer/render/skills.ts";
import { TOOLS, toolIds, toolName } from "../../src/mcp/tools.ts";
import { operations } from "../../src/ops/index.ts";
import { commandsIn, readCommand } from "./render/commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const AGENTS = Object.keys(ADAPTERS) as AgentName[];
const ALL = Object.values(ADAPTERS);
const skills = upstreamSkills(SHARED);

/** Every choice of agents that a person can make. */
const CHOICES = [...Array(2 ** AGENTS.length).keys()].map((bits) =>
  AGENTS.filter((_agent, index) => bits & (1 << index)),
);

interface HookEntry {
  matcher?: string;
  hooks: { type: string; command: string; timeout: number }[];
}

function entriesIn(path: string) {
  const file = wantedFiles(AGENTS, ["vscode-local"], skills).find((one) => one.path === path);
  if (file?.mode !== "entry") throw new Error(`${path} has no entries`);
  return file.entries;
}

function entryIn(path: string): unknown {
  const [entry] = entriesIn(path);
  if (!entry) throw new Error(`${path} has no entry`);
  return entry.value;
}

const hooksIn = (path: string) =>
  entriesIn(path).map(({ at, value }) => ({ event: at[1] ?? "", ...(value as unknown as HookEntry) }));

describe("adapters are strict data", () => {
  test.each(AGENTS)("%s", (agent) => {
    const data: unknown = JSON.parse(readFileSync(`${root}/adapters/${agent}/adapter.json`, "utf8"));
    expect(ADAPTERS[agent]).toEqual(readAdapter(data, SHARED.words));
    expect(ADAPTERS[agent].agent).toBe(agent);
    expect(ADAPTERS[agent].next.length).toBeGreaterThan(0);
    expect(() => readAdapter({ ...(data as object), colour: "red" })).toThrow();
  });

  test.each(["/etc/x", "../x", "a/../b", "a//b", "a\\b", "", "./a"])(
    "no file may be written to %j",
    (path) => {
      const file = { mode: "own", path, template: "codex/pawl.rules.hbs" };
      expect(() => readAdapter({ ...SHARED, files: [file] })).toThrow();
      expect(() => readAdapter({ ...SHARED, files: [{ ...file, path: "a/b" }] })).not.toThrow();
    },
  );

  test("every folder and template is used", () => {
    expect(readdirSync(`${root}/adapters`).sort()).toEqual([...AGENTS, "README.md"].sort());
    const index = readFileSync(`${root}/src/installer/adapters.ts`, "utf8");
    const templates = AGENTS.flatMap((agent) =>
      readdirSync(`${root}/adapters/${agent}`)
        .filter((file) => file.endsWith(".hbs"))
        .map((file) => `${agent}/${file}`),
    );
    const named = ALL.flatMap(({ files }) =>
      files.flatMap((file) => (file.mode === "entry" ? [] : [file.template])),
    );
    expect([...new Set(named)].sort()).toEqual(templates.sort());
    expect(templates.filter((file) => !index.includes(`"../../adapters/${file}"`))).toEqual([]);
  });

  test("adapters with the same rendering share the same words, and none is missing", () => {
    for (const { skills: place, words } of ALL) {
      expect(Object.keys(words)).toEqual(Object.keys(SHARED.words));
      if (place.rendering === "portable") expect(words).toEqual(SHARED.words);
    }
  });
});

describe("what is written", () => {
  test("agents that share a file agree about it, in any combination", () => {
    for (const one of ALL)
      for (const other of ALL)
        for (const file of one.files) {
          const kindOf = (one: AdapterFile) => (one.mode === "entry" ? one.surface : one.mode);
          const same = other.files.find((one) => one.path === file.path && kindOf(one) === kindOf(file));
          if (same) expect(same, `${one.agent} and ${other.agent}: ${file.path}`).toEqual(file);
        }
  });

  test("every hook is registered exactly once", () => {
    for (const agents of CHOICES) {
      const files = wantedFiles(agents, [], skills);
      const parts = files.map((file) => `${file.path} ${file.mode === "entry" ? file.surface : ""}`);
      expect(new Set(parts).size).toBe(parts.length);
      const paths = files.map(({ path }) => path);
      // Copilot and VS Code read both of these.
      const both = files.filter(
        (file) =>
          file.mode === "entry" &&
          file.surface === "hooks" &&
          [".claude/settings.json", ".github/hooks/pawl.json"].includes(file.path),
      );
      expect(both.length, agents.join()).toBe(
        agents.includes("claude") || agents.includes("copilot") ? 1 : 0,
      );
      expect(paths.includes(".codex/hooks.json")).toBe(agents.includes("codex"));
    }
  });

  test("commands allowed without asking only read or record, and run nothing of the project's", () => {
    const files = wantedFiles(["claude"], ["allow"], skills);
    const values = files.flatMap((file) =>
      file.mode === "entry" && file.surface === "allow" ? file.entries.map(({ value }) => String(value)) : [],
    );
    const runs = ["verify", "start", "finish", "refresh"];
    const tools = values.flatMap((value) => /^mcp__pawl__(\w+)$/.exec(value)?.[1] ?? []);
    expect(tools.toSorted()).toEqual(
      [
        ...toolIds("core")
          .map(toolName)
          .filter((name) => !runs.includes(name)),
        "dry_run",
      ].toSorted(),
    );
    const commands = values.flatMap(
      (value) => /^Bash\(node \.pawl\/pawl\.cjs ([a-z ]+):\*\)$/.exec(value)?.[1] ?? [],
    );
    expect(tools.length + commands.length).toBe(values.length);
    for (const command of commands) {
      const ids = Object.keys(operations).filter((id) =>
        `${id} `.replaceAll(".", " ").startsWith(`${command} `),
      );
      expect(ids.length, command).toBeGreaterThan(0);
      for (const id of ids) expect([...runs, "approve", "unlock", "run", "rescue"], id).not.toContain(id);
    }
    expect(
      wantedFiles(["claude"], [], skills).some((file) => JSON.stringify(file).includes("permissions")),
    ).toBe(false);
  });

  test("writes few files, all inside the repository, the same every time", () => {
    const files = wantedFiles(AGENTS, ["vscode-local"], skills);
    expect(files.length + 2 * skills.length).toBeLessThan(66);
    expect(wantedFiles(AGENTS, ["vscode-local"], skills)).toEqual(files);
    expect(JSON.stringify(files)).not.toMatch(/\/(?:home|work|root|Users)\//);
    for (const file of files) expect(isOurPlace(file), file.path).toBe(true);
    const usual = wantedFiles(["claude", "codex", "copilot"], [], skills).map(({ path }) => path);
    expect([...new Set(usual)]).toEqual([
      ...[".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".codex/rules/pawl.rules"],
      ...[".mcp.json", "AGENTS.md", "CLAUDE.md"],
    ]);
  });

  test("the block for AGENTS.md is short, and its commands exist", async () => {
    const block = wantedFiles(["generic"], [], skills).find(({ path }) => path === "AGENTS.md");
    const text = block?.mode === "block" ? block.text : "";
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(150);
    expect(commandsIn(text).length).toBeGreaterThan(4);
    for (const command of commandsIn(text)) await readCommand(command);
    for (const [, name = ""] of text.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g))
      expect(["pawl", ...skills.map((skill) => skill.name)]).toContain(name);
    await expect(text).toMatchFileSnapshot("golden/AGENTS.md");
  });

  test("prompt files point to the skills", () => {
    const prompts = wantedFiles(["copilot"], ["vscode-local"], skills).filter(({ path }) =>
      path.includes("prompts"),
    );
    expect(prompts.map(({ path }) => path)).toContain(".github/prompts/tdd.prompt.md");
    expect(prompts.length).toBe(skills.length);
    const odd = { name: "odd", text: '---\nname: "odd"\ndescription: "Say \\"hi\\": now"\n---\n', own: true };
    const [prompt] = wantedFiles(["copilot"], ["vscode-local"], [odd]).filter(({ path }) =>
      path.includes("odd"),
    );
    expect(prompt).toMatchObject({ text: expect.stringContaining('\ndescription: "Say \\"hi\\": now"\n') });
    for (const prompt of prompts) expect(prompt.mode === "own" && prompt.text).not.toContain("{{");
  });

  test("Codex runs without asking only what writes our records", async () => {
    const ids = Object.keys((entryIn(".codex/config.toml") as { tools: object }).tools).map((tool) =>
      tool.replace("_", "."),
    );
    expect(ids.length).toBeGreaterThan(8);
    // It runs any command, outside the sandbox.
    expect(ids).not.toContain("verify");
    for (const id of ids) {
      const operation = await operations[id]?.();
      expect(operation?.access, id).toBe("write");
      expect(Object.keys(TOOLS), "offered over MCP").toContain(id);
      // A snapshot adds objects and a ref of ours; every other procedure moves something of the user's.
      if (id !== "snapshot") expect(operation, id).toHaveProperty("decide");
    }
  });
});

describe("command lines", () => {
  let home = "";
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "pawl adapters "));
    mkdirSync(join(home, ".pawl"));
    mkdirSync(join(home, "a", "b c"), { recursive: true });
    writeFileSync(
      join(home, ".pawl/pawl.cjs"),
      "console.log(JSON.stringify([__filename, ...process.argv.slice(1)]));\n",
    );
    writeFileSync(join(home, ".pawl/hook.cjs"), "console.log(process.argv[2]); process.exitCode = 7;\n");
    spawnSync("git", ["init", "-q", home]);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));

  const run = (command: string, cwd: string, env: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
      ...{ cwd, encoding: "utf8" as const, input: "{}" },
      env: { PATH: process.env.PATH ?? "", ...env },
    });
    return { status, stdout: stdout.trim(), stderr };
  };

  test.each([".mcp.json", ".codex/config.toml", ".vscode/mcp.json"])(
    "%s finds the program from a sub-folder",
    (path) => {
      const { command, args } = entryIn(path) as { command: string; args: string[] };
      // Claude Code would put variables in here.
      expect(args.join(" ")).not.toContain("${");
      for (const cwd of [home, join(home, "a", "b c")]) {
        const { stdout } = spawnSync(command, args, { cwd, encoding: "utf8" });
        const words = path === ".codex/config.toml" ? ["mcp", "--agent", "codex"] : ["mcp"];
        expect(JSON.parse(stdout)).toEqual([join(home, ".pawl/pawl.cjs"), ...words]);
      }
      expect(spawnSync(command, args, { cwd: tmpdir(), encoding: "utf8" }).status).not.toBe(0);
    },
  );

  test.each([
    [".claude/settings.json", "claude"],
    [".codex/hooks.json", "codex"],
  ])("%s runs our hook, and never fails if it cannot", (path, agent) => {
    const hooks = hooksIn(path);
    expect(hooks.map(({ event }) => event)).toEqual([
      "SessionStart",
      "PreToolUse",
      "PostToolUse",
      "PreCompact",
      "Stop",
    ]);
    const commands = new Set(hooks.flatMap((one) => one.hooks.map(({ command }) => command)));
    expect(commands.size).toBe(1);
    const [command = ""] = commands;
    const env = { CLAUDE_PROJECT_DIR: home };
    expect(run(command, join(home, "a"), env)).toMatchObject({ status: 7, stdout: agent });
    expect(run(command, tmpdir(), agent === "claude" ? { CLAUDE_PROJECT_DIR: tmpdir() } : {})).toMatchObject({
      ...{ status: 0, stdout: "", stderr: "" },
    });
    // Only git is there, no node.
    const bin = join(home, "bin");
    mkdirSync(bin, { recursive: true });
    spawnSync("sh", ["-c", 'ln -sf "$(command -v git)" "$0/git"', bin]);
    expect(run(command, home, { ...env, PATH: bin })).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });

  test("hooks see each agent's shell and file-writing tools, and no tool that only reads", () => {
    const matches = (path: string, event: string, tool: string) => {
      const { matcher = "" } = hooksIn(path).find((one) => one.event === event) ?? {};
      return new RegExp(`^(?:${matcher})$`).test(tool);
    };
    for (const tool of [
      "Bash",
      "Edit",
      "Write",
      "MultiEdit",
      "NotebookEdit",
      "create",
      "edit",
      "apply_patch",
    ])
      expect(matches(".claude/settings.json", "PreToolUse", tool), tool).toBe(true);
    for (const tool of ["Bash", "apply_patch"])
      expect(matches(".codex/hooks.json", "PreToolUse", tool)).toBe(true);
    for (const tool of ["Read", "Grep", "mcp__pawl__session"])
      for (const path of [".claude/settings.json", ".codex/hooks.json"])
        expect(matches(path, "PreToolUse", tool), tool).toBe(false);
  });
});

describe("overrides of the MCP registration and the hooks", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const files = wantedFiles(["claude", "codex"], [], skills);
  const upstream = digestOf(surfaceUpstream("mcp", ALL), sha256);
  const mine = { at: ["mcpServers", "pawl"], kind: "key" as const, value: { command: "my-node" } };
  const apply = (one: object) =>
    applySurfaceOverrides(files, [readSurfaceOverride("mcp", JSON.stringify(one), ALL)], ALL, sha256);
  const entriesOf = (result: { files: typeof files }, path: string) => {
    const file = result.files.find((one) => one.path === path);
    return file?.mode === "entry" ? file.entries : undefined;
  };

  test("disable writes no registration, and changes nothing else", () => {
    const result = apply({ mode: "disable", upstream });
    expect(result.files).toEqual(files.filter((file) => file.mode !== "entry" || file.surface !== "mcp"));
    expect(result.files.length).toBe(files.length - 3);
    expect(result.reports).toMatchObject([{ surface: "mcp", mode: "disable", state: "applied" }]);
  });

  test("replace writes the user's version to the files it names, and reports when ours changed", () => {
    const result = apply({ mode: "replace", upstream, files: { ".mcp.json": [mine] } });
    expect(entriesOf(result, ".mcp.json")).toEqual([mine]);
    expect(entriesOf(result, ".codex/config.toml")).toEqual(entriesOf({ files }, ".codex/config.toml"));
    expect(result.reports[0]?.state).toBe("applied");
    const later = apply({
      mode: "replace",
      upstream: digestOf("older", sha256),
      files: { ".mcp.json": [mine] },
    });
    expect(later.reports[0]).toMatchObject({
      state: "upstream_changed",
      upstream: surfaceUpstream("mcp", ALL),
    });
    expect(later.files).toEqual(result.files);
    expect(
      entriesOf(apply({ mode: "replace", upstream, files: { ".mcp.json": [] } }), ".mcp.json"),
    ).toBeUndefined();
  });

  test.each<[string, string, RegExp]>([
    ["no JSON", "{", /mcp\.json cannot be used/],
    ["unknown mode", JSON.stringify({ mode: "patch", upstream }), /"mode" is missing or malformed/],
    ["unknown key", JSON.stringify({ mode: "disable", upstream, why: "x" }), /"why" is not an option/],
    ["no digest", JSON.stringify({ mode: "disable" }), /"upstream" is missing/],
    [
      "a file of another surface",
      JSON.stringify({ mode: "replace", upstream, files: { "package.json": [] } }),
      /"package\.json" is not one of/,
    ],
  ])("%s is refused", (_title, text, why) => {
    expect(() => readSurfaceOverride("mcp", text, ALL)).toThrow(why);
  });

  test("several overrides at once", () => {
    const both: SurfaceOverride[] = [
      { surface: "mcp", mode: "disable", upstream },
      { surface: "hooks", mode: "disable", upstream },
    ];
    const result = applySurfaceOverrides(files, both, ALL, sha256);
    expect(result.files.some((file) => file.mode === "entry")).toBe(false);
    expect(result.reports.map(({ state }) => state)).toEqual(["applied", "upstream_changed"]);
  });
});
