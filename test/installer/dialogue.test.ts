import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import { inDialogue } from "../helpers/pseudo-terminal.ts";
import { inTiers } from "../helpers/rows.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  type TemporaryRepository,
} from "../helpers/temporary-repository.ts";
import { treeBytes } from "../helpers/tree-bytes.ts";

let root: string;
let program: BuiltProgram;
let project: TemporaryRepository;
let names = 0;

beforeAll(() => {
  root = makeTemporaryFolder("dialogue");
  program = buildProgram();
}, 120_000);
afterAll(() => {
  program.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});
beforeEach(() => {
  project = makeRepository(join(root, String(++names)), "shop");
  writeFileSync(
    join(project.path, "package.json"),
    JSON.stringify({ name: "shop", scripts: { test: "node --test" }, dependencies: { zod: "4.6.7" } }),
  );
  writeFileSync(join(project.path, "package-lock.json"), "{}");
  git("add", "-A");
  git("commit", "-qm", "A package");
});

const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: project.path, env: project.env, encoding: "utf8", stdio: "pipe" }).trim();
const read = (path: string) => readFileSync(join(project.path, path), "utf8");

const QUESTIONS = {
  agents: /For which agents \[claude,codex,copilot\]: $/,
  checks: /test: npm test\nRequire them for every task \[Y\/n\]: $/,
  setup: /Run `npm ci` in every new worktree \[Y\/n\]: $/,
  protected: /Protected branches \[main, master\]: $/,
  ceremony: /How much process a new task needs: [^\n]+ \[standard\]: $/,
  vendor: /Keep the package itself in \.pawl\/vendor[^\n]+ \[y\/N\]: $/,
  allow: /Let Claude Code [^\n]+ \[y\/N\]: $/,
  last: /Type commit to install and commit it on main, yes to install only, or no \[commit\]: $/,
};

/** Every question in its order, each answered with Enter unless said. */
const answers = (said: Partial<Record<keyof typeof QUESTIONS, string>> = {}) =>
  (Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[]).map((name): [RegExp, string] => [
    QUESTIONS[name],
    said[name] ?? "\n",
  ]);

const install = (typed: [RegExp, string][], ...args: string[]) =>
  inDialogue([process.execPath, program.pawl, "install", ...args], project, typed);

test("Enter accepts the default at every question, and everything is committed", async () => {
  const { code, out } = await install(answers());
  expect([code, out]).toEqual([0, expect.stringContaining("is installed.")]);
  // What was listed before the last question is counted after it, and not listed again.
  for (const once of [".codex/hooks.json", ".claude/skills/", "edit them in .pawl/config.yaml"])
    expect(out.split(once), once).toHaveLength(2);
  expect(out).toMatch(/^wrote +63 files$/m);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("log", "-1", "--format=%s")).toContain("Install pawl");
  expect(read(".pawl/config.yaml")).toMatch(/^# profile: standard$/m);
  expect(read(".pawl/config.yaml")).toMatch(/^checks:\n {2}test: npm test\n[\s\S]*^setup: npm ci$/m);
  expect(read(".pawl/config.yaml")).toMatch(/^# protected: \[main\]$/m);
  expect(existsSync(join(project.path, ".pawl/vendor"))).toBe(false);
  expect(JSON.parse(read(".pawl/lock.json"))).toMatchObject({
    agents: ["claude", "codex", "copilot"],
    flags: [],
  });
  expect(() => git("commit", "-q", "--allow-empty", "-m", "x")).toThrow(/protected/);
  // Nothing is asked where there is nothing to do.
  expect(await install([])).toMatchObject({
    code: 0,
    out: expect.stringContaining("Everything was already in place."),
  });
}, 120_000);

test("the answers are what is written; an invalid answer is asked for again", {
  tags: ["proof"],
  timeout: 120_000,
}, async () => {
  const wrong: [RegExp, string] = [QUESTIONS.agents, "claud\n"];
  const again: [RegExp, string] = [
    /"claud" is not an answer to that\.\n[\s\S]*For which agents [^\n]*: $/,
    "codex, gemini\n",
  ];
  const [, ...rest] = answers({
    ...{ checks: "n\n", setup: "n\n", protected: "main, release/*\n", ceremony: "strict\n", vendor: "y\n" },
    last: "yes\n",
  });
  const asked = rest.filter(([question]) => question !== QUESTIONS.allow);
  const { code, out } = await install([wrong, again, ...asked]);
  expect([code, out]).toEqual([0, expect.stringContaining("is installed.")]);
  const config = read(".pawl/config.yaml");
  expect(config).toMatch(/^profile: strict$/m);
  expect(config).toMatch(/^protected: \[main, "release\/\*"\]$/m);
  expect(config).not.toMatch(/^(?:checks|setup):/m);
  // They were found; what it means that they are not required is said before anything is written.
  expect(out).toMatch(/^checks +none required\. Before its merge each task still needs one that passed/m);
  expect(out).not.toContain("none found");
  expect(JSON.parse(read(".pawl/lock.json"))).toMatchObject({
    agents: ["codex", "gemini"],
    flags: ["vendor"],
  });
  expect(existsSync(join(project.path, ".pawl/vendor"))).toBe(true);
  expect(existsSync(join(project.path, ".claude/skills"))).toBe(false);
  // It is not committed, and the one command that does so is named with why it needs a terminal.
  expect(out).toMatch(
    /next: pawl install --commit {2}\(in a terminal: main is protected, so git commit is refused/,
  );
});

test("the guard alone says what it is before it asks", async () => {
  const shown = /^guard +hooks in this clone's git directory: [^\n]+\nType yes to install, or no \[yes\]: $/m;
  const { code, out } = await install([[shown, "\n"]], "--profile", "hooks");
  expect([code, out]).toEqual([0, expect.stringContaining("is installed.")]);
}, 120_000);

test("flags answer questions in advance", { tags: ["proof"], timeout: 120_000 }, async () => {
  const flags = ["--agents", "claude", "--with", "allow", "--vendor", "--commit"];
  const { code } = await install(
    [
      ...answers().filter(([question]) =>
        [QUESTIONS.checks, QUESTIONS.setup, QUESTIONS.protected, QUESTIONS.ceremony].includes(question),
      ),
      [/Type yes to install and commit, or no \[yes\]: $/, "\n"],
    ],
    ...flags,
  );
  expect(code).toBe(0);
  expect(git("status", "--porcelain")).toBe("");
  expect(JSON.parse(read(".pawl/lock.json"))).toMatchObject({
    agents: ["claude"],
    flags: ["allow", "vendor"],
  });
});

const STOPPED = "pawl: Stopped; nothing was changed.";
const REFUSED = "pawl: Not confirmed; nothing was changed.";

const ENDINGS: [how: string, at: string, typed: string, code: number, said: string][] = [
  ["Ctrl-C at the first question", "agents", "\x03", 130, STOPPED],
  ["Ctrl-C at the last question", "last", "\x03", 130, STOPPED],
  ["Ctrl-C in the middle of an answer", "last", "comm\x03", 130, STOPPED],
  ["Ctrl-D at the last question", "last", "\x04", 1, REFUSED],
  ["no", "last", "no\n", 1, REFUSED],
];
for (const { tags, rows } of inTiers(ENDINGS, ([how]) => how === "no" || how.endsWith("last question")))
  test.for(rows)(
    "%s leaves nothing behind, and says so",
    { tags, timeout: 60_000 },
    async ([, name, typed, wanted, said]) => {
      const before = treeBytes(project.path);
      const all = answers({ [name]: typed });
      const upTo = all.slice(0, Object.keys(QUESTIONS).indexOf(name) + 1);
      const { code, out } = await install(upTo);
      expect([code, out.split("\n").filter((line) => line.startsWith("pawl: "))]).toEqual([wanted, [said]]);
      expect(treeBytes(project.path)).toEqual(before);
    },
  );
