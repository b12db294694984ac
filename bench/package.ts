import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * How big the package is, what it brings with it, and how many files an install adds to a project. Of the files, 13
 * skills with 12 texts that one step of them opens are 25, and stand twice: Claude Code reads .claude/skills alone, Codex
 * and Copilot .agents/skills, and a skill's folder has to be complete. The other 13 are settings, hooks and launchers.
 */
const MOST = { megabytes: 5, packages: 1, files: 2 * 25 + 13 };
const folder = mkdtempSync(join(tmpdir(), "pawl bench "));
const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };

function installedFiles(): number {
  const repo = join(folder, "repository");
  mkdirSync(repo);
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: repo, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  run("git", "init", "-q", "-b", "main");
  run(
    "git",
    "-c",
    "user.name=b",
    "-c",
    "user.email=b@localhost",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "Begin",
  );
  run(process.execPath, join(process.cwd(), "dist", "pawl.cjs"), "install", "--yes");
  return run("git", "ls-files", "--others", "--exclude-standard").trim().split("\n").length;
}

try {
  const [packed] = JSON.parse(
    execFileSync(process.execPath, ["scripts/pack.mjs", folder, "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const rows: [string, number, number, string][] = [
    ["package unpacked", packed.unpackedSize / 1e6, MOST.megabytes, "MB"],
    ["packages installed with it", Object.keys(dependencies).length, MOST.packages, ""],
    ["files that an install adds to a project", installedFiles(), MOST.files, ""],
  ];
  for (const [what, figure, most, unit] of rows) {
    const shown = `${Number.isInteger(figure) ? figure : figure.toFixed(2)} ${unit}`.trim();
    const verdict = figure <= most ? "ok" : "MISSED";
    console.log(`${what.padEnd(40)}  ${shown.padStart(8)}  ≤ ${most} ${unit}  ${verdict}`);
    if (figure > most) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
