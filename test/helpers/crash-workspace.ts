import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { runHere } from "./perform-job.ts";
import {
  makeRepository,
  stateOf,
  stayTheSameClone,
  type TemporaryRepository,
} from "./temporary-repository.ts";

export const BRANCH = "task/T0001-make-it-faster";
const WORKTREE = ".worktrees/T0001-make-it-faster";

/** Repositories that a task touches, with work of the user's around; the first is the home of the state. */
export interface Workspace {
  folder: string;
  repositories: TemporaryRepository[];
}

export const gitIn = (repository: TemporaryRepository, cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: repository.env, encoding: "utf8", stdio: "pipe" }).trim();
export const git = (repository: TemporaryRepository, ...args: string[]) =>
  gitIn(repository, repository.path, ...args);
export const homeOf = (workspace: Workspace) => workspace.repositories[0] as TemporaryRepository;
export const placeOf = (repository: TemporaryRepository) => join(repository.path, WORKTREE);

/** A task in one or two repositories; each has modified, staged, untracked and ignored files of the user's. */
export async function makeWorkspace(root: string, names: string[]): Promise<Workspace> {
  const folder = join(root, `prepared ${names.length}`);
  const repositories = names.map((name) => makeRepository(folder, name));
  for (const repository of repositories) {
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(repository.path, path)), { recursive: true });
      writeFileSync(join(repository.path, path), text);
    };
    write(".gitignore", ".env\n");
    write(".worktreeinclude", ".env\n");
    write("src/deep/tracked.txt", "as committed\n");
    git(repository, "add", "-A");
    git(repository, "commit", "-q", "-m", "Files");
    write("src/deep/tracked.txt", "modified by the user\n");
    write("staged.txt", "staged by the user\n");
    git(repository, "add", "staged.txt");
    write("untracked.txt", "untracked by the user\n");
    write(".env", "KEY=of the user\n");
  }
  const [home, ...others] = repositories as [TemporaryRepository, ...TemporaryRepository[]];
  const jobs = [
    ...others.map((one) => ({ operation: "repo.add", input: { path: one.path } })),
    { operation: "task.new", input: { title: "Make it faster", base: "main", repo: names } },
  ];
  for (const job of jobs) expect(await runHere(home, job)).toMatchObject({ ok: true });
  return { folder, repositories };
}

/** A copy that still counts as the same clone, and whose worktrees know where they are now. */
export function copyWorkspace(from: Workspace, folder: string): Workspace {
  cpSync(from.folder, folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const repositories = from.repositories.map(({ path, env }) => ({
    path: folder + path.slice(from.folder.length),
    env,
  }));
  const replace = (file: string) =>
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(from.folder, folder));
  for (const { path } of repositories) {
    stayTheSameClone(path);
    if (!existsSync(join(path, WORKTREE))) continue;
    for (const file of [
      join(path, WORKTREE, ".git"),
      join(path, ".git/worktrees/T0001-make-it-faster/gitdir"),
    ])
      replace(file);
  }
  return { folder, repositories };
}

export const removeWorkspace = ({ folder }: Workspace) =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

/** Every byte of the user's: files, index, branches but the task's, settings. */
export function userBytes({ repositories }: Workspace): unknown {
  return repositories.map((repository) => ({
    files: filesOf(repository.path),
    index: git(repository, "ls-files", "--stage"),
    head: readFileSync(join(repository.path, ".git/HEAD"), "utf8"),
    main: readFileSync(join(repository.path, ".git/refs/heads/main"), "utf8"),
    config: readFileSync(join(repository.path, ".git/config"), "utf8"),
  }));
}

function filesOf(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    if ([".git", ".worktrees", ".pawl/state"].includes(path)) continue;
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) Object.assign(found, filesOf(folder, path));
    else if (stat.isSymbolicLink()) found[path] = readlinkSync(join(folder, path));
    else found[path] = `${stat.mode} ${readFileSync(join(folder, path), "utf8")}`;
  }
  return found;
}

/** Nothing lies about that a later command could stumble over: locks, grants, side folders, half-made entries. */
export function expectTidy({ repositories }: Workspace, wrote = true): void {
  for (const repository of repositories) {
    expect(git(repository, "fsck", "--no-dangling", "--no-progress")).toBe("");
    const dotGit = join(repository.path, ".git");
    const all = readdirSync(dotGit, { recursive: true, encoding: "utf8" });
    expect(all.filter((path) => path.endsWith(".lock") && statSync(join(dotGit, path)).isFile())).toEqual([]);
    const granted = join(dotGit, "pawl/grants/update");
    const grants = existsSync(granted) ? readdirSync(granted, { recursive: true, encoding: "utf8" }) : [];
    expect(grants.filter((path) => statSync(join(granted, path)).isFile())).toEqual([]);
    expect(git(repository, "status", "--porcelain", "-uall")).not.toContain("worktrees");
    for (const side of [".new", ".removing"])
      expect(existsSync(join(repository.path, ".worktrees", side)), side).toBe(false);
    expect(git(repository, "worktree", "prune", "--dry-run", "--verbose", "--expire=now")).toBe("");
  }
  const state = stateOf(repositories[0] as TemporaryRepository);
  // Whoever writes nothing takes no lock of the store, and so does not clear away a dead one either.
  for (const folder of ["journal", "rescued", "held/T0001", ...(wrote ? ["lock"] : [])]) {
    const path = join(state, ".local", folder);
    expect(existsSync(path) ? readdirSync(path) : [], folder).toEqual([]);
  }
}

/** The runs of the task as their records say. */
export function runsOf(workspace: Workspace): { status: string; ended: string | undefined }[] {
  const folder = join(stateOf(homeOf(workspace)), "tasks/T0001/runs");
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.map((name) => {
    const text = readFileSync(join(folder, name, "run.md"), "utf8");
    const field = (key: string) => new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1];
    return { status: field("status") ?? "", ended: field("ended") };
  });
}
