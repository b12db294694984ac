// Walks one task from the idea to the merge with the real program, in two throw-away repositories, with a scripted author,
// a scripted reviewer and a human at a pseudo-terminal; and leaves the repositories to look at. With --ui it fills a project
// instead and opens the page on it.
import {
  ada,
  begin,
  claude,
  codex,
  commitIn,
  folder,
  makeRepository,
  pathOf,
  play,
  worktreeOf,
  writeFiles,
} from "./demo/stage.mjs";
import { installIfNeeded, step } from "./install-if-needed.mjs";

const built = process.argv.includes("--built");
if (!built && (!installIfNeeded() || !step("build", process.execPath, ["scripts/build.mjs"])))
  process.exit(1);
if (process.argv.includes("--ui")) {
  await (await import("./demo/open-room.mjs")).openRoom();
  process.exit();
}

const CHECKS = "checks:\n  test: node test.mjs\nagents:\n  scripted:\n    command: [node, agent.mjs]\n";
/** What an agent would do: read its packet, work, commit, check, hand over. */
const AGENT = `import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
const run = (...words) => execFileSync(words[0], words.slice(1), { stdio: "inherit" });
const pawl = (...words) => run("node", ".pawl/pawl.cjs", ...words);
console.log("I read:", readFileSync(0, "utf8").split(". ")[0]);
writeFileSync("README.md", "sum(a, b) adds two numbers.\\n");
run("git", "add", "README.md");
run("git", "commit", "-q", "-m", "Say what sum does");
pawl("verify");
pawl("handoff", "--what", "README.md says what sum does", "--changed", "README.md", "--next", "read it, then approve");
`;
const test = (a, b, wanted) =>
  `import { sum } from "./sum.mjs";\nif (sum(${a}, ${b}) !== ${wanted}) {\n  console.log("sum(${a}, ${b}) is", sum(${a}, ${b}));\n  process.exit(1);\n}\n`;
const sum = (text) => ({ "sum.mjs": `export const sum = (a, b) => ${text};\n` });
const [shop, api] = ["shop", "api"].map(pathOf);
const [inShop, inApi] = ["shop", "api"].map((repo) => worktreeOf(repo));

/** An act is a command with its reason, or something that happens on the way. */
const acts = [
  {
    why: "One command installs pawl: skills and settings for every agent, and hooks that guard main.",
    ...{ who: ada, where: shop, run: ["pawl", "install", "--yes", "--commit"] },
  },
  {
    why: "A second repository shares the same records.",
    ...{ who: ada, where: shop, run: ["pawl", "repo", "add", "../api"] },
  },
  {
    why: "It is guarded too.",
    ...{ who: ada, where: api, run: ["pawl", "install", "--yes", "--profile", "hooks"] },
  },
  {
    does() {
      begin(codex, shop);
      begin(claude, shop);
    },
  },
  {
    why: "A piece of work becomes a task. This one is strict: plan and code are reviewed, and every step starts with a failing test.",
    ...{ who: ada, where: shop },
    run: [
      ...["pawl", "task", "new", "Make sum add up", "--objective", "sum(2, 2) is 4, in both repositories"],
      ...["--profile", "strict", "--repo", "shop", "--repo", "api", "--plan-file", "../plan.md"],
    ],
  },
  {
    why: "May the work begin? Not until somebody else has reviewed the plan.",
    ...{ who: codex, where: shop, run: ["pawl", "check", "T1", "--stage", "plan"], expected: 1 },
  },
  {
    why: "A reviewer reads it.",
    ...{ who: claude, where: shop },
    run: ["pawl", "review", "record", "T1", "--kind", "plan", "--verdict", "pass", "--looked-at", "the plan"],
  },
  {
    why: "The author starts: a branch and a worktree in each repository. Your own checkouts stay as they are.",
    ...{ who: codex, where: shop, run: ["pawl", "start", "T1"] },
  },
  { does: () => writeFiles(shop, sum("a + b")) },
  {
    why: "An agent forgets all this, commits to main, and skips the hooks that can be skipped.",
    ...{
      who: codex,
      where: shop,
      run: ["git", "commit", "--no-verify", "-am", "Quick fix"],
      expected: "refused",
    },
  },
  { does: () => writeFiles(shop, sum("a")) },
  {
    why: "One small step at a time, in the worktree.",
    ...{ who: codex, where: inShop, run: ["pawl", "slice", "open", "Add the second number"] },
  },
  { does: () => writeFiles(inShop, { "test.mjs": test(2, 2, 4) }) },
  {
    why: "The new test fails. pawl ran it itself, so nobody has to take the agent's word for it.",
    ...{
      who: codex,
      where: inShop,
      run: ["pawl", "verify", "--slice", "S1", "--red", "--", "node", "test.mjs"],
    },
  },
  { does: () => commitIn(inShop, sum("a + b"), "Add the second number") },
  {
    why: "Then it passes, on exactly this tree.",
    ...{ who: codex, where: inShop, run: ["pawl", "verify", "--slice", "S1", "--", "node", "test.mjs"] },
  },
  {
    why: "The step is closed, with the decision that was made.",
    ...{ who: codex, where: inShop },
    run: ["pawl", "slice", "close", "S1", "--decision", "Plain addition", "--why", "no overflow to fear"],
  },
  { does: () => commitIn(inApi, sum("b + b"), "Add in the api") },
  {
    why: "The reviewer looks at both repositories and leaves a finding.",
    ...{ who: claude, where: inApi },
    run: [
      ...["pawl", "finding", "add", "This adds b to itself", "--severity", "high", "--kind", "branch"],
      ...["--file", "sum.mjs", "--line", "1"],
    ],
  },
  {
    why: "The author cannot wave it away.",
    ...{
      who: codex,
      where: inApi,
      run: ["pawl", "finding", "wontfix", "F1", "--note", "it is fine"],
      expected: 1,
    },
  },
  { does: () => commitIn(inApi, { ...sum("a + b"), "test.mjs": test(2, 2, 4) }, "Add both numbers") },
  {
    why: "Only a commit settles it.",
    ...{ who: codex, where: inApi, run: ["pawl", "finding", "resolve", "F1"] },
  },
  {
    why: "What is still missing before a human can approve?",
    ...{ who: codex, where: inShop, run: ["pawl", "check", "--stage", "close"], expected: 1 },
  },
  ...[inShop, inApi].map((where) => ({
    why: "The project's own checks run on the final tree.",
    ...{ who: codex, where, run: ["pawl", "verify"] },
  })),
  {
    why: "Before stopping, the author says what was done and what comes next.",
    ...{ who: codex, where: inShop },
    run: ["pawl", "handoff", "--what", "sum adds up in both", "--changed", "sum.mjs", "--next", "approve it"],
  },
  {
    why: "The diff of both repositories is saved, so that you can read it when the worktrees are gone.",
    ...{ who: codex, where: inShop, run: ["pawl", "snapshot"] },
  },
  {
    why: "The reviewer looks again.",
    ...{ who: claude, where: shop },
    run: [
      "pawl",
      "review",
      "record",
      "T1",
      "--kind",
      "branch",
      "--verdict",
      "pass",
      "--looked-at",
      "sum.mjs",
    ],
  },
  {
    why: "Now the gate is open, for exactly these commits.",
    ...{ who: codex, where: inShop, run: ["pawl", "check", "--stage", "close"] },
  },
  {
    why: "No agent can approve.",
    ...{ who: codex, where: inShop, run: ["pawl", "approve", "T1"], expected: 1 },
  },
  {
    why: "A human reads it and types the task's id. Both repositories are merged, or neither.",
    ...{ who: ada, where: shop, run: ["pawl", "approve", "T1"], types: "T0001" },
  },
  {
    why: "The worktrees are no longer needed.",
    ...{ who: ada, where: shop, run: ["pawl", "finish", "T1", "--remove", "--reason", "merged"] },
  },
  {
    why: "Every commit on main is explained.",
    ...{ who: ada, where: shop, run: ["pawl", "audit"] },
  },
  {
    why: "pawl can also start agents. Here a script plays the agent; --agent claude would start Claude Code.",
    ...{ who: ada, where: shop },
    run: ["pawl", "task", "new", "Say what sum does", "--profile", "light", "--repo", "shop"],
  },
  {
    why: "It works unattended in its own worktree, and would keep going if you closed this terminal.",
    ...{
      who: ada,
      where: shop,
      run: ["pawl", "run", "T2", "--agent", "scripted", "--time", "5m", "--follow"],
    },
  },
  {
    why: "How it ended, and which checks ran.",
    ...{ who: ada, where: shop, run: ["pawl", "run", "list", "T2"] },
  },
  {
    why: "Is anything left for an agent to do?",
    ...{ who: ada, where: shop, run: ["pawl", "check", "T2", "--stage", "close"] },
  },
  {
    why: "All that is left is your approval.",
    ...{ who: ada, where: shop, run: ["pawl", "approve", "T2"], types: "T0002" },
  },
  {
    why: "Its worktree is no longer needed either.",
    ...{ who: ada, where: shop, run: ["pawl", "finish", "T2", "--remove", "--reason", "merged"] },
  },
  {
    why: "Whoever comes next, human or agent, finds all of it.",
    ...{ who: ada, where: shop, run: ["pawl", "search", "itself"] },
  },
];

for (const name of ["shop", "api"])
  makeRepository(name, {
    ...sum("a"),
    "test.mjs": test(0, 0, 0),
    "agent.mjs": AGENT,
    ".pawl/config.yaml": CHECKS,
  });
writeFiles(folder, { "plan.md": "Write the failing test, add the second number, do the same in the api.\n" });
const total = acts.filter(({ run }) => run).length;
for (const act of acts)
  if (act.does) act.does();
  else if ((await play(act, total)) === undefined) {
    console.log(
      `  This machine has no way to make a terminal. Type it yourself in ${shop}, then go on from there.`,
    );
    break;
  }

console.log(`\nLook around in ${folder}:
  cd ${shop}
  git log --graph --oneline --stat        what was merged
  git -C .pawl/state log --stat           the memory: Markdown, with a history
  node .pawl/pawl.cjs task show T1        the task, from the copy of pawl that was installed`);
