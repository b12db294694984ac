import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import Handlebars from "handlebars";
import * as prettier from "prettier";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { ADAPTERS } from "../../../src/installer/adapters.ts";
import { SKILLS } from "../../../src/installer/render/templates.ts";
import { toolIds, toolName } from "../../../src/mcp/tools.ts";
import { commandsIn, readCommand, shellWords } from "./commands.ts";
import { everyFile, RENDERINGS, renderAll, renderReferences } from "./rendered.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const golden = fileURLToPath(new URL("golden", import.meta.url));

/** The twelve commands that are the same on every agent, and the one that a session begins with. */
const NAMES = [
  ...["pawl", "scope", "plan-analyze", "planning-review", "branch-lifecycle", "tdd"],
  ...["incremental-implementation", "branch-review", "review-parallel", "auto-fix", "investigate"],
  ...["manage", "handoff-lifecycle"],
];

/** Gates' reasons have the form of a tool's name. */
const REASONS = [
  ...[
    "review_missing",
    "review_stale",
    "plan_not_reviewed",
    "plan_changed_since_review",
    "slice_without_red",
  ],
  ...["base_moved", "pass_with_findings", "envelope_full", "envelope_spent"],
];

/** Tools by the names that only their own agent knows. */
const TOOL_NAMES: Record<string, RegExp> = {
  claude: /\b(?:AskUserQuestion|TodoWrite|NotebookEdit|MultiEdit|WebFetch|`Agent`|`Task`|`Bash`|mcp__)/,
  codex: /\b(?:spawn_agent|apply_patch|exec_command|update_plan|request_user_input)\b/,
  copilot: /\b(?:runSubagent|run_in_terminal|str_replace_editor|ask_user|report_intent)\b|#tool:/,
  gemini: /\b(?:activate_skill|run_shell_command|write_todos)\b/,
};

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

describe.each(renderAll())("$rendering/$name", ({ rendering, name, path, text }) => {
  const [, header = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  const front = parseYaml(header) as Record<string, unknown>;
  const description = String(front.description);

  test("matches the reviewed golden file", async () => {
    await expect(text).toMatchFileSnapshot(`golden/${rendering}/${name}/SKILL.md`);
  });

  test("has a header that every agent accepts", () => {
    const own = rendering === "claude" ? ["argument-hint", "allowed-tools"] : [];
    expect(Object.keys(front)).toEqual(["name", "description", ...own]);
    expect(front.name).toBe(name);
    expect(name).toMatch(/^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/);
    expect(path).toBe(`${RENDERINGS[rendering].skills.dir}/${name}/SKILL.md`);
    expect(description.length).toBeLessThanOrEqual(1024);
    expect(description).not.toMatch(/[<>]/);
    expect(header.split("\n").every((line) => /^[a-z-]+: "(?:[^"\\])*"$/.test(line))).toBe(true);
  });

  test("briefly describes its subject and when to use it", () => {
    expect(wordsOf(description)).toBeLessThan(60);
    expect(description).toMatch(/^[A-Z][^.]+\. Use (?:when|at) .+\. Not .+\.$/);
    expect(description).not.toMatch(/\bpawl |\bstep|\bthen\b/i);
  });

  test("is short", () => {
    // Which calls are allowed is read by a program.
    const read = name === "pawl" ? body : text.replace(/^allowed-tools: .*$/m, "");
    expect(wordsOf(read)).toBeLessThanOrEqual(name === "pawl" ? 150 : 500);
  });

  test("names only operations and options that exist", async () => {
    const commands = commandsIn(text);
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) await expect(readCommand(command), command).resolves.toBeTruthy();
    const tools = [...body.matchAll(/`([a-z]+_[a-z]+)`/g)].map((match) => match[1] ?? "");
    expect(tools.length).toBeGreaterThan(0);
    const known = [...[...toolIds("core"), ...toolIds("manager")].map(toolName), ...REASONS];
    for (const tool of tools) expect(known, tool).toContain(tool);
  });

  test("has no example that does something if run as it stands", async () => {
    for (const command of commandsIn(text)) {
      const words = shellWords(command);
      expect(command, "values are placeholders").not.toMatch(/npm|src\/|\.ts\b/);
      for (const word of words.filter((one) => / /.test(one))) expect(word, command).toMatch(/^<[^<>]+>$/);
    }
  });

  test("links every reference beside it, and nothing else", () => {
    const beside = renderReferences().filter((one) => one.rendering === rendering && one.name === name);
    const named = [...body.matchAll(/`references\/([\w.-]+)`/g)].map((match) => match[1] ?? "");
    expect([...new Set(named)].sort()).toEqual(beside.map((one) => one.path.split("/").pop()).sort());
  });

  test("answers the most common excuses, here or in a reference", () => {
    if (name === "pawl") return;
    const beside = renderReferences().filter((one) => one.rendering === rendering && one.name === name);
    const answers = [body, ...beside.map((one) => one.text)].join("\n");
    expect(answers).toMatch(/^## Excuses$/m);
    const rows = answers.split(/^## Excuses$/m)[1]?.match(/^(?:\| (?!you think|-)|- ").+$/gm) ?? [];
    expect(rows.length).toBeGreaterThanOrEqual(3);
  });

  test("names only skills and files that exist", () => {
    for (const [, skill] of text.matchAll(/skills? `([a-z-]+)`/g)) expect(NAMES).toContain(skill);
    for (const [, link = ""] of text.matchAll(/\]\(([^)]+)\)/g))
      expect(existsSync(`${root}/${link}`), link).toBe(true);
    expect(text).not.toMatch(/(?:^|[\s(`])\/(?:home|work|tmp|usr|Users)\b/);
  });

  test("mentions no tools of other agents, and contains no template syntax", () => {
    for (const [agent, names] of Object.entries(TOOL_NAMES))
      if (agent !== rendering) expect(text, agent).not.toMatch(names);
    expect(text).not.toContain("{{");
    expect(text).not.toContain("$ARGUMENTS");
  });

  test("has a purpose, an occasion, consecutively numbered steps, a gate and a stop", () => {
    const numbers = [...body.matchAll(/^(\d+)\. /gm)].map((match) => Number(match[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThanOrEqual(3);
    if (name === "pawl") return;
    const [, purpose = "", when = ""] = body.trim().split("\n\n");
    expect(purpose, "one sentence of purpose").toMatch(/^[A-Z][^.]+\.$/);
    expect(when, "when to use it, and what else there is").toMatch(/\b(?:[Uu]se|unless|attempts)\b/);
    expect([...body.matchAll(/^## (.+)$/gm)].map((match) => match[1]).slice(-2)).toEqual(["Gate", "Stop"]);
  });

  test.each([{}, { tabWidth: 4 }, { useTabs: true }])(
    "prettier does not change it, with %o",
    async (options) => {
      expect(text).toMatch(/[^\n]\n$/);
      expect(await prettier.format(text, { parser: "markdown", ...options })).toBe(text);
    },
  );
});

describe.each(renderReferences())("$path", ({ rendering, path, text }) => {
  const file = path.split("/skills/")[1] ?? "";

  test("matches the reviewed golden file", async () => {
    await expect(text).toMatchFileSnapshot(`golden/${rendering}/${file}`);
  });

  test("covers one topic and can be read in a few minutes", () => {
    expect(wordsOf(text)).toBeLessThanOrEqual(1_700);
    expect([...text.matchAll(/^# /gm)].length).toBe(1);
    expect(text).not.toContain("{{");
    for (const names of Object.values(TOOL_NAMES)) expect(text).not.toMatch(names);
  });

  test("names only commands that exist", async () => {
    for (const command of commandsIn(text)) await expect(readCommand(command), command).resolves.toBeTruthy();
  });

  test.each([{}, { tabWidth: 4 }, { useTabs: true }])(
    "prettier does not change it, with %o",
    async (options) => {
      expect(await prettier.format(text, { parser: "markdown", ...options })).toBe(text);
    },
  );
});

test("rendering twice gives the same result", () => {
  expect(everyFile()).toEqual(everyFile());
});

test("every skill, partial and golden file is used", () => {
  const folders = readdirSync(`${root}/skills`).filter((one) => one !== "_partials");
  expect(folders.sort()).toEqual([...NAMES].sort());
  expect(Object.keys(SKILLS)).toEqual(NAMES);
  const index = ["templates", "references"]
    .map((one) => readFileSync(`${root}/src/installer/render/${one}.ts`, "utf8"))
    .join("");
  const files = readdirSync(`${root}/skills`, { recursive: true, encoding: "utf8" }).filter((one) =>
    one.endsWith(".hbs"),
  );
  expect(files.filter((file) => !index.includes(`"../../../skills/${file}"`))).toEqual([]);
  const goldens = readdirSync(golden, { recursive: true, encoding: "utf8" }).filter((one) =>
    one.endsWith(".md"),
  );
  expect(goldens.sort()).toEqual(
    everyFile()
      .map(({ rendering, path }) => `${rendering}/${path.split("/skills/")[1]}`)
      .sort(),
  );
});

test("reviewers read earlier findings first, and record instead of chatting", () => {
  for (const name of ["planning-review", "branch-review", "review-parallel"])
    for (const { text } of renderAll().filter((one) => one.name === name)) {
      const at = (words: string) => text.indexOf(words);
      expect(at("pawl review start <task> --kind")).toBeGreaterThan(0);
      expect(text).toMatch(/earlier findings/);
      expect(at("pawl review start <task> --kind")).toBeLessThan(at('pawl finding add "'));
      expect(at('pawl finding add "')).toBeLessThan(at("pawl review record <task> --kind"));
      expect(text).toContain("no gate counts your review");
    }
});

describe("templates contain text, not logic", () => {
  const partials = readdirSync(`${root}/skills/_partials`).map((file) => file.replace(/\.hbs$/, ""));
  const actions = Object.keys(ADAPTERS.generic.words).map((word) => `act/${word}`);
  const templates = [`${root}/skills`, `${root}/adapters`].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".hbs"))
      .map((file) => ({ file, text: readFileSync(`${folder}/${file}`, "utf8") })),
  );
  const uses = new Map<string, number>();

  test.each(templates)("$file", ({ file, text }) => {
    const isPartial = file.startsWith("_partials/");
    const given = isPartial ? ["command", "kind"] : [];
    for (const node of Handlebars.parse(text).body) {
      expect(["ContentStatement", "MustacheStatement", "PartialStatement"]).toContain(node.type);
      if (node.type === "MustacheStatement") {
        const { path, params, hash } = node as hbs.AST.MustacheStatement;
        expect(["launcher", "skill", "description", ...given]).toContain(
          (path as hbs.AST.PathExpression).original,
        );
        expect([params.length, hash?.pairs.length ?? 0]).toEqual([0, 0]);
      }
      if (node.type !== "PartialStatement") continue;
      const { name, params } = node as hbs.AST.PartialStatement;
      const partial = (name as hbs.AST.PathExpression).original;
      expect([...partials, ...actions]).toContain(partial);
      expect(params).toEqual([]);
      expect(isPartial, "partials are one level deep").toBe(false);
      uses.set(partial, (uses.get(partial) ?? 0) + 1);
    }
    if (isPartial) expect(text.split("\n").length).toBeLessThanOrEqual(13);
  });

  test("every partial is shared by several skills", () => {
    expect(partials.filter((name) => (uses.get(name) ?? 0) < 2)).toEqual([]);
    expect(actions.filter((name) => !uses.has(name))).toEqual([]);
  });

  test("a template that names something missing fails", async () => {
    const { fill } = await import("../../../src/installer/render/engine.ts");
    expect(() => fill("{{nothing}}", {})).toThrow(/nothing/);
    expect(() => fill("{{> nothing}}", {})).toThrow(/nothing/);
    expect(fill('a & "b" {{> one}}\n{{> one}}\n', { one: "<c>\n" })).toBe('a & "b" <c>\n<c>\n');
  });
});
