// @module-tag proof
import { execFileSync, type StdioOptions, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { allCommands } from "../helpers/all-commands.ts";
import { type BuiltProgram, buildProgram } from "../helpers/built-program.ts";
import {
  makeRepository,
  makeTemporaryFolder,
  scrubbedEnvironment,
  stayTheSameClone,
} from "../helpers/temporary-repository.ts";

/** A finding is settled by a commit that came after it. */
const FIX = "echo fixed > fix.txt; git add fix.txt; git commit -qm Fix";

/** What has to be done in the project before an example means something. */
const BEFORE: Record<string, string> = {
  "pawl task archive T0001": "pawl task update T1 --status dropped",
  "pawl task archive T0001 --undo": "pawl task update T1 --status dropped; pawl task archive T1",
  "pawl finding resolve F1": FIX,
  "pawl finding reopen F1": `${FIX}; pawl finding resolve F1`,
  "pawl review record": `${FIX}; pawl finding resolve F1; pawl finding resolve F2`,
  "pawl note edit": 'pawl note add "How releases are made"; echo "CI publishes" > release.md',
  "pawl note archive": 'pawl note add "How releases are made"',
  "pawl note archive N0001 --undo": 'pawl note add "How releases are made"; pawl note archive N1',
  'pawl note add "How releases are made since May"': 'pawl note add "How releases are made"',
  'pawl decide "Node 20 at least"': 'pawl decide "Node 18" --why "so far" --general',
  "pawl diff": "pawl snapshot T1",
  "pawl finding batch": `echo '[{"text": "Never ends", "severity": "high"}]' > findings.json`,
  "pawl audit --ci":
    "pawl sync --yes; git fetch -q origin +refs/heads/pawl/state:refs/remotes/origin/pawl/state",
  // From the worktree, two folders up is the main checkout.
  "pawl rescue T0001 --file": "mkdir -p ../../src; cp src/upload.ts ../../src/",
  "pawl upgrade": "pawl install --yes",
  "pawl override": `pawl install --yes
skill() { printf '%s\\n' --- "name: \\"$1\\"" 'description: "With care"' --- '' 'Do it with care.'; }
skill scope > scope.md; skill release-notes > notes.md`,
  "pawl override skill tdd --from-edit":
    "pawl install --yes; echo 'With care.' >> .claude/skills/tdd/SKILL.md",
  "pawl override settle tdd": "pawl install --yes; pawl override skill tdd --patch",
  "pawl override remove tdd": "pawl install --yes; pawl override skill tdd --patch",
  "pawl override remove mcp": "pawl install --yes; pawl override surface mcp",
  "pawl start T0001 --restore": "pawl finish T1 --remove --reason aside",
  "pawl finish T0001": "git merge -q --no-edit task/T0001-retry-failed-uploads",
  "pawl repo remove": "pawl repo add ../api",
  "pawl approver list --repo api": "pawl repo add ../../../api",
  "pawl lane update": "pawl lane add T1 --path src/api",
  "pawl lane close": "pawl lane add T1 --path src/api",
  "pawl mail ack": "pawl mail send T1 Hello",
  "pawl run log": "pawl run T1 --agent claude; pawl run wait T1",
  "pawl run wait": "pawl run T1 T2 --agent claude",
  "pawl run stop": "pawl run T1 --agent claude",
  "pawl run settle": "pawl run T2 --agent claude; pawl run wait T2",
  "pawl run resume": "pawl run T1 --agent claude; pawl run wait T1",
};

/** What goes on when the example has been run, and has to end before the next one. */
const AFTER: Record<string, string> = {
  "pawl run T1 T2 T3 T4": "pawl run wait T1/R2 --for 120s",
  "pawl run T0001": "pawl run wait T1",
  // It does nothing of what a manager has to, which ends it as failed.
  "pawl run T0001 --agent claude --mode manager": "pawl run wait T1 --for 120s || true",
  // Its reviewer says nothing here, which ends it without a pass.
  "pawl run T0001 --agent claude --mode pipeline": "pawl run wait T1 --for 120s || true",
  "pawl run resume": "pawl run wait T1",
};

/** Examples that this project refuses, and why; all others succeed. */
const REFUSED: Record<string, [code: number, why: RegExp]> = {
  "pawl approve": [1, /no terminal/],
  "pawl pr T0001 --sign": [1, /no terminal/],
  "pawl approve look": [1, /are in the way/],
  "pawl ui": [1, /needs a terminal/],
  "pawl unlock main --for": [1, /no terminal/],
  "pawl remote trust": [1, /no terminal/],
  "pawl remote forget": [1, /no terminal/],
  "pawl approver add": [1, /no terminal/],
  "pawl approver remove": [1, /no terminal/],
  "pawl sync": [1, /never published to/],
  "pawl sync --yes": [0, /^/],
  "pawl sync --dry-run": [0, /^/],
  "pawl sync --ours": [1, /no terminal/],
  "pawl unlock main --accept": [1, /no terminal/],
  "pawl finding defer": [1, /no terminal/],
  "pawl finding wontfix": [1, /no terminal/],
  "pawl task edit T0001 --adopt": [1, /no terminal/],
  "pawl run settle": [1, /no terminal/],
  "pawl unlock main --end": [1, /main is not open/],
  "pawl uninstall --delete-state": [1, /T0001 has a worktree/],
  "pawl check": [1, /cannot be approved yet/],
  "pawl diff T7 --since": [2, /does not have the commit 4f1c2e9a/],
  "pawl check --request": [2, /does not have 3f2a9c1/],
  "pawl check T0001": [0, /^/],
  "pawl run stop T0001/R1": [1, /by hand/],
  "pawl run resume T0001/R1": [1, /by hand/],
  "pawl run conduct": [1, /is not conducted from here/],
  "pawl finding resolve T0001/F2 --commit": [4, /no commit "1a2b3c4"/],
};

/** The longest beginning of the example that the table knows. */
function inTable<T>(table: Record<string, T>, example: string): T | undefined {
  const known = Object.keys(table).filter((begin) => example === begin || example.startsWith(`${begin} `));
  return table[known.sort((a, b) => b.length - a.length)[0] ?? ""];
}

/** These are about the repository as a whole; the others are typed where the work is done. */
const AT_THE_TOP = /^pawl (?:(?:un)?install|upgrade|override|repo|start|finish|audit|diff T7|sync)\b/;

let folder: string;
let built: BuiltProgram;
let env: Record<string, string>;

beforeAll(async () => {
  folder = makeTemporaryFolder("examples");
  built = buildProgram();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const commands = {
    pawl: `exec '${process.execPath}' '${built.pawl}' "$@"`,
    npm: "exit 0",
    npx: "exit 1",
    // As these programs end when all went well.
    claude: `cat >/dev/null; echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s"}'`,
    codex: `cat >/dev/null; echo '{"type":"turn.completed","usage":{}}'`,
    copilot: `cat >/dev/null; echo '{"type":"result","exitCode":0,"sessionId":"s"}'`,
  };
  for (const [name, line] of Object.entries(commands)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { HOME: _, ...plain } = scrubbedEnvironment(project());
  env = { ...plain, HOME: project(), EDITOR: "true", PATH: `${bin}:${plain.PATH}` };
  makeProject();
  execFileSync("cp", ["-a", project(), saved()]);
}, 120_000);

afterAll(async () => {
  await untilNothingRuns();
  built.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const project = () => join(folder, "project");
const saved = () => join(folder, "project as it was");
const top = () => join(project(), "my-project");
const worktree = () => join(top(), ".worktrees", "T0001-retry-failed-uploads");
const sh = (cwd: string, script: string) => execFileSync("sh", ["-ec", script], { cwd, env, stdio: "pipe" });

/** A project in the middle of its life, in which the names that examples use mean something. */
function makeProject(): void {
  for (const name of ["my-project", "api", "web-client"]) makeRepository(project(), name);
  sh(top(), TASKS);
  for (const [file, text] of Object.entries({ "src/upload.ts": "retry();\n", "plan.md": "Retry twice.\n" })) {
    mkdirSync(dirname(join(worktree(), file)), { recursive: true });
    writeFileSync(join(worktree(), file), text);
  }
  sh(worktree(), WORK);
}

const TASKS = `
mkdir .pawl; printf 'checks:\\n  test: npm test\\n' > .pawl/config.yaml; git add -A; git commit -qm Policy
for i in 1 2 3 4 5; do git commit -q --allow-empty -m "Change $i"; done
for remote in origin upstream; do git init -q --bare ../$remote.git; git remote add $remote ../$remote.git; done
git push -q origin main; git -C ../web-client branch master
pawl task new "Retry failed uploads"; for i in 2 3 4 5 6 7 8 9; do pawl task new "Task $i" --label bug; done
pawl start T1; pawl start T7; echo seven > .worktrees/T0007-task-7/seven.txt; pawl snapshot T7`;

const WORK = `
git add -A; git commit -qm "Retry"
pawl slice open "Retry twice"; pawl verify --slice S1 --red -- false; pawl verify --slice S1 -- test -d .
for i in 1 2; do pawl finding add "Finding $i" --severity low; done`;

/**
 * A supervisor still has records to write when its agent's run has ended. Everything that examples start has the project
 * as its home, which is how it is found.
 */
async function untilNothingRuns(): Promise<void> {
  const isOurs = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${project()}`);
    } catch {
      return false;
    }
  };
  const running = () =>
    existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOurs(name)) : [];
  await vi.waitFor(() => expect(running()).toEqual([]), { timeout: 30_000, interval: 50 });
}

/** Back to how it was, and still the same clone, which is known by its folder's inode. */
async function restore(): Promise<void> {
  await untilNothingRuns();
  rmSync(project(), { recursive: true, force: true, maxRetries: 3 });
  execFileSync("cp", ["-a", saved(), project()]);
  stayTheSameClone(top());
}

const examples = (await allCommands()).flatMap(({ access, examples }) =>
  examples.map((one) => [one, access] as const),
);
/** Reads change nothing, which other tests show; only after a write the next one needs the project as it was. */
let touched = true;

test.each(examples)("%s", async (example, access) => {
  if (touched) await restore();
  const cwd = AT_THE_TOP.test(example) ? top() : worktree();
  const before = inTable(BEFORE, example);
  touched = before !== undefined || access === "write";
  if (before) sh(cwd, before);
  const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
  const { status, stdout, stderr } = spawnSync("sh", ["-c", example], { cwd, env, encoding: "utf8", stdio });
  const [code, why] = inTable(REFUSED, example) ?? [0, /^/];
  expect({ status, said: stdout + stderr }).toEqual({ status: code, said: expect.stringMatching(why) });
  const after = code === 0 ? inTable(AFTER, example) : undefined;
  if (after) sh(cwd, after);
});
