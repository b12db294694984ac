import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * What an agent waits for before each of its tools, as a ratio to `node -e 0`: every round measures all of them once,
 * one after the other, and the medians are compared.
 */
const ROUNDS = Number(process.argv[2] ?? 61);
const MOST = 1.4;
const dist = join(process.cwd(), "dist");
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const repo = join(folder, "project");
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
};

const run = (cwd: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd, env, stdio: "pipe" });
const pawl = (cwd: string, ...args: string[]) => run(cwd, process.execPath, join(dist, "pawl.cjs"), ...args);

mkdirSync(repo);
writeFileSync(join(folder, ".gitconfig"), "[user]\n\tname = b\n\temail = b@localhost\n");
run(repo, "git", "init", "-q", "--template=", "-b", "main");
run(repo, "git", "commit", "-q", "--allow-empty", "-m", "Begin");
pawl(repo, "install", "--profile", "hooks");
pawl(repo, "task", "new", "Retry uploads", "--profile", "light");
pawl(repo, "start", "T1");
const worktree = join(repo, ".worktrees", "T0001-retry-uploads");
/** The launcher that a repository tracks, one more file on the way. */
const launcher = join(folder, "launcher.cjs");
writeFileSync(launcher, `require(${JSON.stringify(join(dist, "hook.cjs"))});\n`);

const event = (name: string, tool: string, input: object) =>
  JSON.stringify({
    hook_event_name: name,
    session_id: "bench",
    cwd: worktree,
    tool_name: tool,
    tool_input: input,
  });
const shell = (command: string) => event("PreToolUse", "Bash", { command });

interface Row {
  name: string;
  args: string[];
  input: string;
  most?: number;
}

const hook = (name: string, input: string, most?: number): Row => ({
  ...{ name, args: [launcher, "claude"], input },
  ...(most === undefined ? {} : { most }),
});
const ROWS: Row[] = [
  { name: "node -e 0", args: ["-e", "0"], input: "" },
  hook("a command without git", shell("ls -la src | head -20"), MOST),
  hook("git status", shell("git status --short"), MOST),
  hook("git commit, quoted", shell("git add -A && git commit -m 'Add the retry'"), MOST),
  hook(
    "a long line",
    shell(`cat > docs/a.md <<'EOF'\n${"git and pawl, word after word\n".repeat(200)}EOF`),
    MOST,
  ),
  hook(
    "a file tool",
    event("PreToolUse", "Write", { file_path: join(worktree, "a.ts"), content: "x" }),
    MOST,
  ),
  hook("after a command", event("PostToolUse", "Bash", { command: "ls -la" }), MOST),
  hook(
    "session start",
    JSON.stringify({ hook_event_name: "SessionStart", session_id: "bench", cwd: worktree }),
  ),
  hook("stop", JSON.stringify({ hook_event_name: "Stop", session_id: "bench", cwd: worktree })),
];

const times = new Map(ROWS.map((row) => [row.name, [] as number[]]));
for (let round = 0; round < ROUNDS; round++)
  for (const { name, args, input } of ROWS) {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { cwd: worktree, env, input });
    const took = performance.now() - began;
    if (status !== 0) throw new Error(`${name} ended with ${status}`);
    // The first rounds write what is kept for the later ones.
    if (round > 1) times.get(name)?.push(took);
  }
rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

const median = (name: string) => {
  const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};
const unit = median("node -e 0");
console.log(`agent-side hooks, ${ROUNDS} rounds, Node ${process.versions.node}`);
let missed = false;
for (const { name, most } of ROWS) {
  const ratio = median(name) / unit;
  const over = most !== undefined && ratio > most;
  missed ||= over;
  const budget = most === undefined ? "" : `  budget ${most.toFixed(1)} x${over ? "  MISSED" : ""}`;
  console.log(
    `${name.padEnd(24)}${median(name).toFixed(1).padStart(8)} ms${ratio.toFixed(2).padStart(8)} x${budget}`,
  );
}
process.exitCode = missed ? 1 : 0;
