import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryRepository {
  path: string;
  env: Record<string, string>;
}

/** For what other programs look at closely: their sandboxes may show them no /dev/shm, and nobody works there. */
export const DISK = process.env.PAWL_TEST_DISK ?? tmpdir();

/** A folder of its own with a space in its path, as many users have. */
export function makeTemporaryFolder(name: string, below = tmpdir()): string {
  return realpathSync(mkdtempSync(join(below, `pawl ${name} `)));
}

/** Only what a program needs: nothing that aims git elsewhere, names an agent, or reads this user's settings. */
export function scrubbedEnvironment(home: string): Record<string, string> {
  const { PATH = "", TMPDIR = tmpdir() } = process.env;
  return { PATH, TMPDIR, HOME: home, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C", TZ: "UTC" };
}

export function makeRepository(root: string, name = "my project"): TemporaryRepository {
  const path = join(root, name);
  const env = scrubbedEnvironment(root);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(root, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n");
  writeFileSync(join(path, "README.md"), "# A project\n");
  for (const args of [
    ["init", "-q", "--template=", "-b", "main"],
    ["add", "README.md"],
    ["commit", "-q", "-m", "Begin"],
  ])
    execFileSync("git", args, { cwd: path, env, stdio: "pipe" });
  return { path, env };
}

/** Without this a copied repository is a clone of its own: it begins an event log, and nobody has confirmed anything for it. */
export function stayTheSameClone(path: string): void {
  const local = join(path, ".git/pawl");
  const clone = join(local, "clone");
  if (!existsSync(clone)) return;
  const [id] = readFileSync(clone, "utf8").split(" ");
  writeFileSync(clone, `${id} ${statSync(local).ino}\n`);
}

/** A copy that still counts as the same clone. */
export function copyRepository(from: TemporaryRepository, path: string): TemporaryRepository {
  cpSync(from.path, path, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  stayTheSameClone(path);
  return { path, env: from.env };
}

export const stateOf = (repository: TemporaryRepository) => join(repository.path, ".pawl", "state");
export const stateGitDirOf = (repository: TemporaryRepository) =>
  join(repository.path, ".git", "pawl", "state.git");

/** Asks the state's own git repository, and fails loudly when git does. */
export function askStateGit(repository: TemporaryRepository, ...args: string[]): string {
  return execFileSync(
    "git",
    ["--git-dir", stateGitDirOf(repository), "--work-tree", stateOf(repository), ...args],
    { cwd: stateOf(repository), env: repository.env, encoding: "utf8", stdio: "pipe" },
  ).trim();
}
