import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./helpers/measured-project.ts";

/**
 * An install from the packed tarball into a repository of 20,000 files, as a ratio to an empty Node process measured in
 * the same rounds.
 */
const ROUNDS = Number(process.argv[2] ?? 11);
const FILES = 20_000;
const MOST = 10;
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
/** An inherited NODE_EXTRA_CA_CERTS alone doubles the start of Node 20. */
const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
const npmEnv = { ...process.env, npm_config_fund: "false", npm_config_audit: "false" };

function installPackage(): string {
  const out = execFileSync(process.execPath, ["scripts/pack.mjs", folder, "--json"], {
    env: npmEnv,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [packed] = JSON.parse(out.slice(out.indexOf("["))) as { filename: string }[];
  const prefix = join(folder, "package");
  mkdirSync(prefix);
  const install = [
    "install",
    "--prefix",
    prefix,
    "--no-save",
    "--prefer-offline",
    join(folder, packed?.filename ?? ""),
  ];
  execFileSync("npm", install, { cwd: prefix, env: npmEnv, stdio: "ignore" });
  return join(prefix, "node_modules", "pawl", "dist", "pawl.cjs");
}

function makeRepository(): string {
  const repo = join(folder, "a project");
  mkdirSync(repo);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  // Git would tidy up 20,000 new files behind our back while the clock runs.
  for (const name of ["gc.auto", "maintenance.auto"]) git("config", name, "0");
  for (let i = 0; i < FILES; i++) {
    const dir = join(repo, `d${i % 100}`);
    if (i < 100) mkdirSync(dir);
    writeFileSync(join(dir, `f${i}`), `${i}\n`);
  }
  git("add", "-A");
  git("-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-q", "-m", "Begin");
  return repo;
}

function time(cwd: string, args: readonly string[]): number {
  const started = process.hrtime.bigint();
  const run = spawnSync(process.execPath, args, { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const took = Number(process.hrtime.bigint() - started) / 1e6;
  if (run.status !== 0) throw new Error(`${args.join(" ")} ended with ${run.status}: ${run.stderr}`);
  return took;
}

try {
  process.stderr.write("packing and installing the package …\n");
  const pawl = installPackage();
  const repo = makeRepository();
  const [floor, fresh, again]: number[][] = [[], [], []];
  for (let round = -1; round < ROUNDS; round++) {
    // As long a stretch as the budget is: a short one meets less of whatever else the machine does.
    const node = Array.from({ length: MOST }, () => time(repo, ["-e", "0"])).reduce((a, b) => a + b) / MOST;
    const install = time(repo, [pawl, "install"]);
    const second = time(repo, [pawl, "install"]);
    time(repo, [pawl, "uninstall", "--yes"]);
    if (round < 0) continue;
    floor?.push(node);
    fresh?.push(install);
    again?.push(second);
  }
  const ratio = (values: number[] | undefined) => median(values ?? []) / median(floor ?? []);
  const rows = [
    ["what", "median", "ratio", "budget"],
    ["node -e 0", `${median(floor ?? []).toFixed(0)} ms`, "1 ×", ""],
    ["install", `${median(fresh ?? []).toFixed(0)} ms`, `${ratio(fresh).toFixed(2)} ×`, `≤ ${MOST} ×`],
    ["a second install", `${median(again ?? []).toFixed(0)} ms`, `${ratio(again).toFixed(2)} ×`, ""],
  ];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  for (const row of rows)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log(`medians of ${ROUNDS} interleaved rounds, ${FILES} files, Node ${process.version}`);
  process.exitCode = ratio(fresh) > MOST ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
