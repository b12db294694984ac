import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./helpers/measured-project.ts";

/**
 * What hooks add to a commit, paired and interleaved: in every round each variant commits once in a repository of its
 * own, and its time is compared with that of the commit without hooks in the same round.
 */
const ROUNDS = Number(process.argv[2] ?? 41);
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const pawl = join(process.cwd(), "dist", "pawl.cjs");
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
};

/** Modules of the tools that are compared. */
const tool = (name: string) =>
  ["node_modules", "test/guard/tools/node_modules"]
    .map((dir) => join(process.cwd(), dir, name))
    .find((path) => existsSync(path));

interface Setting {
  name: string;
  files: number;
  refs: number;
}
const SETTINGS: Setting[] = [
  { name: "small", files: 10, refs: 0 },
  { name: "20,000 files", files: 20_000, refs: 0 },
  { name: "1,000 refs", files: 10, refs: 1_000 },
];

const run = (cwd: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });

function hook(repo: string, name: string, text: string): void {
  mkdirSync(join(repo, ".git/hooks"), { recursive: true });
  writeFileSync(join(repo, ".git/hooks", name), text);
  chmodSync(join(repo, ".git/hooks", name), 0o755);
}

/** Hooks that do nothing, so that only the way to them is measured. */
const VARIANTS: Record<string, ((repo: string) => void) | undefined> = {
  "no hooks": () => {},
  "two empty sh hooks": (repo) => {
    for (const name of ["pre-commit", "commit-msg"]) hook(repo, name, "#!/bin/sh\nexit 0\n");
  },
  pawl: (repo) => run(repo, process.execPath, pawl, "install", "--profile", "hooks"),
  husky: tool("husky")
    ? (repo) => {
        mkdirSync(join(repo, ".husky"), { recursive: true });
        writeFileSync(join(repo, ".husky/pre-commit"), ":\n");
        run(repo, process.execPath, join(tool("husky") ?? "", "bin.js"));
      }
    : undefined,
  lefthook: tool("lefthook")
    ? (repo) => {
        writeFileSync(
          join(repo, "lefthook.yml"),
          "pre-commit:\n  commands:\n    nothing:\n      run: 'true'\n",
        );
        run(repo, process.execPath, join(tool("lefthook") ?? "", "bin/index.js"), "install");
      }
    : undefined,
  "a Node hook": (repo) => hook(repo, "pre-commit", `#!/bin/sh\nexec '${process.execPath}' -e 0\n`),
};

function makeRepository(setting: Setting, variant: string): string {
  const repo = join(folder, setting.name, variant);
  mkdirSync(repo, { recursive: true });
  run(repo, "git", "init", "-q", "--template=", "-b", "main");
  for (const [name, value] of Object.entries({
    "user.name": "b",
    "user.email": "b@localhost",
    "gc.auto": "0",
    "maintenance.auto": "false",
  }))
    run(repo, "git", "config", name, value);
  for (let i = 0; i < setting.files; i++) {
    const dir = join(repo, `d${i % 100}`);
    if (i < 100) mkdirSync(dir);
    writeFileSync(join(dir, `f${i}`), `${i}\n`);
  }
  run(repo, "git", "add", "-A");
  run(repo, "git", "commit", "-q", "-m", "Begin");
  const refs = Array.from({ length: setting.refs }, (_, i) => `create refs/heads/b/${i} HEAD\n`).join("");
  if (refs) execFileSync("git", ["update-ref", "--stdin"], { cwd: repo, env, input: refs });
  run(repo, "git", "checkout", "-q", "-b", "work");
  VARIANTS[variant]?.(repo);
  return repo;
}

function commit(repo: string, round: number): number {
  writeFileSync(join(repo, "d0", "f0"), `${round}\n`);
  const started = process.hrtime.bigint();
  const done = spawnSync("git", ["commit", "-q", "-am", "c"], {
    cwd: repo,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const took = Number(process.hrtime.bigint() - started) / 1e6;
  if (done.status !== 0) throw new Error(`${repo}: ${done.stderr}`);
  return took;
}

const rotated = <T>(items: T[], by: number) => [
  ...items.slice(by % items.length),
  ...items.slice(0, by % items.length),
];

function measure(setting: Setting): { rows: string[][]; missed: number } {
  const names = Object.keys(VARIANTS).filter((name) => VARIANTS[name]);
  const repos = new Map(names.map((name) => [name, makeRepository(setting, name)]));
  const took = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = -3; round < ROUNDS; round++)
    // Whoever comes first in a round meets what the last one left behind; everybody is first equally often.
    for (const [name, repo] of rotated([...repos], round + 3)) {
      const time = commit(repo, round);
      if (round >= 0) took.get(name)?.push(time);
    }
  const bare = took.get("no hooks") ?? [];
  const added = (name: string) =>
    median((took.get(name) ?? []).map((time, round) => time - (bare[round] ?? 0)));
  const ratio = (name: string) => median(took.get(name) ?? []) / median(bare);
  const share = added("pawl") / added("husky");
  const broken = [ratio("pawl") > 2, share > 1 / 3];
  const rows = names.map((name) => [
    setting.name,
    name,
    `${median(took.get(name) ?? []).toFixed(1)} ms`,
    `${added(name) < 0 ? "" : "+"}${added(name).toFixed(1)} ms`,
    `${ratio(name).toFixed(2)} ×`,
    name === "pawl"
      ? `≤ 2 ×: ${broken[0] ? "MISSED" : "ok"}; ${share.toFixed(2)} of husky's, ≤ 0.33: ${Number.isNaN(share) ? "no husky" : broken[1] ? "MISSED" : "ok"}`
      : "",
  ]);
  return { rows, missed: broken.filter(Boolean).length };
}

try {
  const head = ["repository", "hooks", "commit", "added", "ratio", "budget"];
  const results = SETTINGS.map((setting) => {
    process.stderr.write(`${setting.name} …\n`);
    return measure(setting);
  });
  const rows = [head, ...results.flatMap((one) => one.rows)];
  const widths = head.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  const git = execFileSync("git", ["--version"], { encoding: "utf8" }).trim();
  console.log(
    `medians of ${ROUNDS} interleaved rounds, ${git}; "added" is the median of the paired differences`,
  );
  process.exitCode = results.some((one) => one.missed > 0) ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
