// Walks one task through the real program in a throw-away repository, and leaves the repository to look at.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";

if (!installIfNeeded() || !step("build", process.execPath, ["scripts/build.mjs"])) process.exit(1);

const project = mkdtempSync(join(tmpdir(), "pawl demo "));
const identity = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" };
// The demo is one agent's session, whoever runs it.
const agents = /^(?:CLAUDE|CODEX_|COPILOT_|GEMINI_CLI|OPENCODE|CURSOR_|AI_AGENT)/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !agents.test(name)));
const env = { ...inherited, ...identity, ...committer, PAWL_ACTOR: "agent:demo:1" };

function run(command, args, extra = {}) {
  return spawnSync(command, args, { cwd: project, env: { ...env, ...extra }, encoding: "utf8" });
}

function git(...args) {
  const done = run("git", args);
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
}

function show(why, args, extra) {
  const words = args.map((word) => (/^[\w./=-]+$/.test(word) ? word : `"${word}"`)).join(" ");
  console.log(`\n# ${why}\n$ pawl ${words}`);
  const done = run(process.execPath, [join(root, "dist", "pawl.cjs"), ...args], extra);
  process.stdout.write((done.stdout + done.stderr).replace(/^(?=.)/gm, "  "));
  return done.status;
}

git("init", "-q", "-b", "main");
writeFileSync(join(project, "sum.mjs"), "export const sum = (a, b) => a;\n");
writeFileSync(
  join(project, "test.mjs"),
  'import { sum } from "./sum.mjs";\nif (sum(2, 2) !== 4) throw new Error("2 + 2 is not 4");\n',
);
git("add", "-A");
git("commit", "-q", "-m", "A sum that does not add up");

show("A piece of work becomes a durable task.", [
  "task",
  "new",
  "Make sum add up",
  "--objective",
  "sum(2, 2) is 4",
]);
show("Work begins.", ["task", "update", "T1", "--status", "active"]);
show("One small step at a time.", ["slice", "open", "Add the second number"]);
show("The test fails first; pawl ran it, nobody claims it.", [
  "verify",
  "--slice",
  "S1",
  "--red",
  "--",
  "node",
  "test.mjs",
]);
writeFileSync(join(project, "sum.mjs"), "export const sum = (a, b) => a + b;\n");
git("commit", "-qam", "Add the second number");
show("Then it passes, on exactly this tree.", ["verify", "--slice", "S1", "--", "node", "test.mjs"]);
show("The step is closed with the decision behind it.", [
  "slice",
  "close",
  "S1",
  "--decision",
  "Plain addition",
  "--why",
  "no overflow to fear here",
]);
show(
  "A reviewer with fresh eyes leaves a finding.",
  ["finding", "add", "Strings are glued together", "--severity", "low", "--file", "sum.mjs"],
  { PAWL_ACTOR: "agent:reviewer:2" },
);
show("The author cannot wave it away.", ["finding", "wontfix", "F1", "--note", "nobody passes strings"]);
show("Whoever stops leaves a handoff.", [
  "handoff",
  "--what",
  "sum adds up; strings are open",
  "--validation",
  "node test.mjs: passed",
  "--next",
  "decide what strings should do",
]);
show("Anybody can go on, cold, from any worktree.", ["session"]);
show("Everything can be found again.", ["search", "strings"]);
console.log(
  `\nLook around: the project is ${project}\nIts memory is Markdown in .pawl/state, with a history: git -C "${project}/.pawl/state" log --stat`,
);
