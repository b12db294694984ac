// @module-tag proof
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import prettier from "prettier";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderPlugin } from "../../src/installer/plugin/render.ts";
import { SKILLS } from "../../src/installer/render/templates.ts";
import { installedRepository } from "../agents/installed-repository.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { makeRepository, makeTemporaryFolder } from "../helpers/temporary-repository.ts";

/** What the plugin's one script does, wherever an agent starts it. */

const base = makeTemporaryFolder("plugin");
const script = join(base, "the plugin", "run.cjs");
const files = renderPlugin("1.2.3");
let built: BuiltProgram;
/** Only the guard and the program: a repository that leaves skills, hooks and server to the plugin. */
let bare: string;
let full: string;
let foreign: string;

beforeAll(() => {
  built = buildProgram();
  bare = installedRepository(built.pawl, join(base, "bare"), "--profile", "hooks").path;
  full = installedRepository(built.pawl, join(base, "full")).path;
  foreign = makeRepository(join(base, "foreign")).path;
  mkdirSync(dirname(script));
  writeFileSync(script, textOf("run.cjs"));
});

afterAll(() => {
  built.remove();
  rmSync(base, { recursive: true, force: true });
});

function textOf(path: string): string {
  const file = files.find((one) => one.path === `plugins/pawl/${path}`);
  if (!file) throw new Error(`the plugin has no ${path}`);
  return file.text;
}

function start(args: string[], folder: string, input: object[], env: Record<string, string> = {}) {
  const lines = input.map((one) => `${JSON.stringify(one)}\n`).join("");
  const result = spawnSync(process.execPath, args, {
    cwd: folder,
    input: lines,
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", HOME: base, ...env },
    timeout: 60_000,
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

const refused = (cwd: string) => ({
  ...{ hook_event_name: "PreToolUse", session_id: "s", cwd, tool_name: "Bash" },
  tool_input: { command: "git commit --no-verify -m x" },
});

const hook = (agent: string, folder: string, env?: Record<string, string>) =>
  start([script, "hook", agent], folder, [refused(folder)], env);

test("has every skill, manifests for three programs, and nothing specific to this machine", () => {
  const paths = files.map(({ path }) => path);
  expect(paths.filter((path) => path.endsWith("SKILL.md"))).toEqual(
    Object.keys(SKILLS).map((name) => `plugins/pawl/skills/${name}/SKILL.md`),
  );
  expect(new Set(paths).size).toBe(paths.length);
  expect(JSON.parse(textOf(".claude-plugin/plugin.json")).version).toBe("1.2.3");
  expect(JSON.parse(textOf(".codex-plugin/plugin.json")).version).toBe("1.2.3");
  for (const { path, text } of files)
    expect(text, path).not.toMatch(/@VERSION@|\{\{|\/home\/|\/root\/|\/tmp\//);
});

test("every file is formatted as prettier would", async () => {
  for (const { path, text } of files) {
    const parser = path.endsWith(".md") ? "markdown" : path.endsWith(".cjs") ? "babel" : "json";
    expect(await prettier.format(text, { parser }), path).toBe(text);
  }
});

test.each(["claude", "codex"])(
  "%s's hook refuses in a repository that leaves hooks to the plugin",
  (agent) => {
    const { code, out } = hook(agent, bare);
    expect(code).toBe(0);
    expect(JSON.parse(out).hookSpecificOutput.permissionDecision).toBe("deny");
  },
);

test.each(["claude", "codex"])(
  "%s's hook is silent in a repository with its own hooks, or without pawl",
  (agent) => {
    for (const folder of [full, foreign, base])
      expect(hook(agent, folder), folder).toEqual({ code: 0, out: "", err: "" });
  },
);

test("the plugin's hook answers in a sub-folder, because Claude Code reads no settings above it", () => {
  const sub = join(full, "sub");
  mkdirSync(sub);
  expect(hook("claude", sub, { CLAUDE_PROJECT_DIR: sub }).out).toContain("deny");
  expect(hook("claude", sub, { CLAUDE_PROJECT_DIR: full }).out).toBe("");
});

test("nothing that a repository tracks is run, because anybody may have written it", () => {
  const trap = join(base, "trap", "sprung");
  const repository = makeRepository(join(base, "trap")).path;
  mkdirSync(join(repository, ".pawl"));
  for (const name of ["hook.cjs", "pawl.cjs"])
    writeFileSync(
      join(repository, ".pawl", name),
      `require("node:fs").writeFileSync(${JSON.stringify(trap)}, "")`,
    );
  expect(hook("claude", repository)).toEqual({ code: 0, out: "", err: "" });
  expect(askServer([script, "mcp", "claude"], repository)).toEqual({ name: "pawl", tools: [] });
  expect(() => rmSync(trap)).toThrow("ENOENT");
});

function askServer(args: string[], folder: string, env?: Record<string, string>) {
  const clientInfo = { name: "test", version: "0" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const { out } = start(
    args,
    folder,
    [
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} },
    ],
    env,
  );
  const answers = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).result);
  const tools: { name: string }[] = answers.find((one) => one.tools)?.tools;
  return { name: answers[0].serverInfo.name, tools: tools.map(({ name }) => name) };
}

const CODEX = JSON.parse(textOf(".mcp.codex.json")).mcpServers.pawl.args as string[];

test("the server offers tools only in a repository that leaves it to the plugin", () => {
  for (const args of [[script, "mcp", "claude"], CODEX]) {
    expect(askServer(args, bare).tools).toContain("session");
    for (const folder of [full, foreign, base])
      expect(askServer(args, folder), folder).toEqual({ name: "pawl", tools: [] });
  }
});

test("Copilot starts a hook in the plugin's folder, which answers for the user's folder", () => {
  const inPlugin = (project: string) =>
    start([script, "hook", "claude"], dirname(script), [refused(project)], { COPILOT_PROJECT_DIR: project });
  expect(JSON.parse(inPlugin(bare).out).hookSpecificOutput.permissionDecision).toBe("deny");
  expect(inPlugin(full).out).toBe("");
});

test("Copilot starts the server in the plugin's folder, which finds the user's in PWD", () => {
  const args = [script, "mcp", "claude"];
  const env = { COPILOT_AGENT_SESSION_ID: "s", PWD: bare };
  expect(askServer(args, dirname(script), env).tools).toContain("session");
  expect(askServer(args, dirname(script), { ...env, PWD: foreign }).tools).toEqual([]);
  expect(askServer(args, dirname(script), { ...env, PWD: full }).tools).toContain("session");
});
