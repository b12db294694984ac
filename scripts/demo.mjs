// Walks one task from the idea to the merge with the real program, in two throw-away repositories, with a scripted author,
// a scripted reviewer and a human at a pseudo-terminal; and leaves the repositories to look at.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installIfNeeded, root, step } from "./install-if-needed.mjs";
import { typeOnTerminal } from "./type-on-terminal.mjs";

if (!installIfNeeded() || !step("build", process.execPath, ["scripts/build.mjs"])) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), "pawl demo "));
const [shop, api] = ["shop", "api"].map((name) => join(folder, name));
const worktree = (repo) => join(repo, ".worktrees", "T0001-make-sum-add-up");
const pawl = [process.execPath, join(root, "dist", "pawl.cjs")];

// Whoever runs the demo, nobody of theirs is in it: neither an agent's environment nor a name.
const names = /^(?:CLAUDE|CODEX_|COPILOT_|GEMINI_CLI|OPENCODE|CURSOR_|AI_AGENT|PAWL_|GIT_)/;
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
const settings = join(folder, "gitconfig");
writeFileSync(settings, "[user]\n\tname = Ada\n\temail = ada@example.com\n");
const env = { ...inherited, GIT_CONFIG_GLOBAL: settings };
const author = { CODEX_SESSION_ID: "author-session" };
const reviewer = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "reviewer-session" };
const human = {};

function git(cwd, ...args) {
  const done = spawnSync("git", args, { cwd, env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
}

const indented = (text) => text.replace(/^(?=.)/gm, "  ");
const wordsOf = (args) => args.map((word) => (/^[\w./=-]+$/.test(word) ? word : `"${word}"`)).join(" ");

/** Says why, shows the command and what it answers; a wrong exit code ends the demo. */
function show(why, who, where, args, expected = 0) {
  console.log(`\n# ${why}\n$ pawl ${wordsOf(args)}`);
  const [program, ...before] = pawl;
  const done = spawnSync(program, [...before, ...args], {
    cwd: where,
    env: { ...env, ...who },
    encoding: "utf8",
  });
  process.stdout.write(indented(done.stdout + done.stderr));
  if (done.status !== expected) throw new Error(`pawl ${args.join(" ")} ended with ${done.status}`);
}

function change(repo, path, text, message) {
  writeFileSync(join(worktree(repo), path), text);
  if (!message) return;
  git(worktree(repo), "add", "-A");
  git(worktree(repo), "commit", "-q", "-m", message);
}

for (const repo of [shop, api]) {
  mkdirSync(join(repo, ".pawl"), { recursive: true });
  git(repo, "init", "-q", "-b", "main");
  writeFileSync(join(repo, ".pawl", "config.yaml"), "checks:\n  test: node test.mjs\n");
  writeFileSync(join(repo, "sum.mjs"), "export const sum = (a, b) => a;\n");
  writeFileSync(
    join(repo, "test.mjs"),
    'import { sum } from "./sum.mjs";\nif (sum(0, 0) !== 0) process.exit(1);\n',
  );
  git(repo, "add", "-A");
  git(repo, "commit", "-q", "-m", "A sum that does not add up");
}

show("Two repositories share one memory.", human, shop, ["repo", "add", "../api"]);
show("A piece of work becomes a durable task.", human, shop, [
  ...["task", "new", "Make sum add up", "--objective", "sum(2, 2) is 4, in both"],
  ...["--repo", "shop", "--repo", "api"],
]);
show("An agent starts it: a branch and a worktree in each, out of everybody's way.", author, shop, [
  "start",
  "T1",
]);
show("One small step at a time.", author, worktree(shop), ["slice", "open", "Add the second number"]);
change(shop, "test.mjs", 'import { sum } from "./sum.mjs";\nif (sum(2, 2) !== 4) process.exit(1);\n');
show("The test fails first. pawl ran it; nobody claims it.", author, worktree(shop), [
  ...["verify", "--slice", "S1", "--red", "--", "node", "test.mjs"],
]);
change(shop, "sum.mjs", "export const sum = (a, b) => a + b;\n", "Add the second number");
show("Then it passes, on exactly this tree.", author, worktree(shop), [
  ...["verify", "--slice", "S1", "--", "node", "test.mjs"],
]);
show("The step is closed with the decision behind it.", author, worktree(shop), [
  ...["slice", "close", "S1", "--decision", "Plain addition", "--why", "no overflow to fear here"],
]);
change(api, "sum.mjs", "export const sum = (a, b) => b + b;\n", "Add in the api");
show("A reviewer with fresh eyes leaves a finding.", reviewer, worktree(api), [
  ...[
    "finding",
    "add",
    "This adds b to itself",
    "--severity",
    "high",
    "--kind",
    "branch",
    "--file",
    "sum.mjs",
  ],
]);
show(
  "The author cannot wave it away.",
  author,
  worktree(api),
  ["finding", "wontfix", "F1", "--note", "it is fine"],
  1,
);
show(
  "What is missing before anybody may approve it?",
  author,
  worktree(shop),
  ["check", "--stage", "close"],
  1,
);
change(api, "sum.mjs", "export const sum = (a, b) => a + b;\n", "Add both numbers");
show("It is fixed by a commit.", author, worktree(api), ["finding", "resolve", "F1"]);
for (const repo of [shop, api])
  show("The project's checks run on the final tree.", author, worktree(repo), ["verify"]);
show("Whoever stops leaves a handoff.", author, worktree(shop), [
  ...["handoff", "--what", "sum adds up in both", "--changed", "sum.mjs", "--next", "approve it"],
]);
show(
  "The diff of both repositories is saved, to be seen when the worktrees are gone.",
  author,
  worktree(shop),
  ["snapshot"],
);
show("The reviewer looks again.", reviewer, shop, [
  ...["review", "record", "T1", "--kind", "branch", "--verdict", "pass", "--looked-at", "sum.mjs"],
]);
show("Now the gate is open, for exactly these commits.", author, worktree(shop), [
  "check",
  "--stage",
  "close",
]);
show("But not for an agent.", author, worktree(shop), ["approve", "T1"], 1);

console.log(
  "\n# A human looks, and types the task's id. Both repositories are merged, or none.\n$ pawl approve T1",
);
const code = await typeOnTerminal(
  [...pawl, "approve", "T1"],
  "T0001",
  { cwd: shop, env: { ...env, ...(process.stdout.isTTY ? {} : { NO_COLOR: "1" }) } },
  (text) => process.stdout.write(indented(text)),
);
if (code === undefined)
  console.log(`  This machine has no way to make a terminal; type it yourself in ${shop}.`);
else if (code !== 0) throw new Error(`pawl approve ended with ${code}`);
else {
  show("The worktrees have done their work.", human, shop, [
    "finish",
    "T1",
    "--remove",
    "--reason",
    "merged",
  ]);
  show("And everything can be found again.", human, shop, ["search", "itself"]);
}
console.log(
  `\nLook around: ${folder}\nThe memory of both is Markdown with a history: git -C "${shop}/.pawl/state" log --stat`,
);
