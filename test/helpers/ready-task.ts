import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { main } from "../../src/cli/main.ts";
import { stoppedByHuman } from "../../src/model/failure.ts";
import { openProject, type Project, type Result } from "./command-line.ts";
import { makeRepository, stateOf, stayTheSameClone } from "./temporary-repository.ts";

/** One or two repositories with a task that a human may approve at once. */
export interface Ready {
  root: string;
  env: Record<string, string>;
  /** The one with the state first. */
  repos: Project[];
}

const NAMES = ["shop", "api"];
const BRANCH = "task/T0001-change-it-all";
export const worktreeOf = (repo: Project) => join(repo.path, ".worktrees/T0001-change-it-all");

export function gitIn(ready: Pick<Ready, "env">, cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, env: ready.env, encoding: "utf8", stdio: "pipe" }).trim();
}

export async function ok(result: Promise<Result>): Promise<Result> {
  const done = await result;
  if (done.code !== 0) throw new Error(`exit ${done.code}: ${done.out}${done.err}`);
  return done;
}

/** A base with all that a merge can do something to: files, folders, links, executables, and what git ignores. */
function fillBase(repo: Project, env: Record<string, string>): void {
  repo.write("README.md", "# A project\n\nfirst\nsecond\nthird\nfourth\nfifth\n");
  repo.write("src/kept.txt", "kept\n");
  repo.write("src/changed.txt", "before\n");
  repo.write("gone/old.txt", "old\n");
  repo.write("folder-to-file/inside.txt", "inside\n");
  repo.write("file-to-folder", "a file\n");
  repo.write("run.sh", "#!/bin/sh\nexit 0\n");
  repo.write(".gitignore", "*.log\nsecret/\n.pawl/\n");
  symlinkSync("README.md", join(repo.path, "link"));
  gitIn({ env }, repo.path, "add", "-A");
  gitIn({ env }, repo.path, "commit", "-q", "-m", "Fill the base");
}

function work(repo: Project, env: Record<string, string>): void {
  const at = worktreeOf(repo);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), text);
  };
  put("README.md", "# A project\n\nfirst\nsecond\nthird\nfourth\nfifth, changed\n");
  put("src/changed.txt", "after\n");
  put("added/new file.txt", "new\n");
  put("added/déjà.txt", "vu\n");
  rmSync(join(at, "gone"), { recursive: true });
  rmSync(join(at, "folder-to-file"), { recursive: true });
  put("folder-to-file", "now a file\n");
  rmSync(join(at, "file-to-folder"));
  put("file-to-folder/inside.txt", "now inside\n");
  chmodSync(join(at, "run.sh"), 0o755);
  rmSync(join(at, "link"));
  symlinkSync("src/kept.txt", join(at, "link"));
  gitIn({ env }, at, "add", "-A");
  gitIn({ env }, at, "commit", "-q", "-m", "Change it all");
}

/** Makes it from nothing, through the commands that a team would use. */
export async function makeReady(root: string, count: 1 | 2): Promise<Ready> {
  const repos = NAMES.slice(0, count).map((name) => openProject(makeRepository(root, name)));
  const [home] = repos as [Project];
  const { env } = home;
  for (const repo of repos) fillBase(repo, env);
  if (count === 2) await ok(home.pawl("repo", "add", "../api"));
  const named = repos.flatMap((_repo, index) => ["--repo", NAMES[index] ?? ""]);
  await ok(home.pawl("task", "new", "Change it all", "--profile", "light", ...named));
  await ok(home.pawl("start", "T1"));
  await ok(home.pawl("finding", "add", "odd", "--severity", "low", "--kind", "branch", "--task", "T1"));
  for (const repo of repos) work(repo, env);
  for (const repo of repos) await ok(repo.pawlIn(worktreeOf(repo), {}, "verify", "--", "test", "-d", "."));
  await ok(repos[0]?.pawlIn(worktreeOf(home), {}, "finding", "resolve", "F1") as Promise<Result>);
  await ok(home.pawl("handoff", "T1", "--what", "All changed", "--next", "Approve it"));
  await ok(home.pawl("snapshot", "T1"));
  await ok(home.pawl("check", "T1", "--stage", "close"));
  // What a user has lying around, tracked by nobody.
  for (const repo of repos) {
    repo.write("notes.txt", "my own notes\n");
    repo.write("debug.log", "my own log\n");
    repo.write("secret/key", "my own key\n");
  }
  return { root, env, repos };
}

/** A copy whose worktrees are its own: git writes absolute paths into them. */
export function copyReady(ready: Ready, root: string): Ready {
  cpSync(ready.root, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const env = { ...ready.env, HOME: root };
  const repos = ready.repos.map((repo) => {
    const path = join(root, repo.path.slice(ready.root.length + 1));
    stayTheSameClone(path);
    for (const name of readdirOr(join(path, ".git/worktrees"))) {
      const file = join(path, ".git/worktrees", name, "gitdir");
      const link = readFileSync(file, "utf8").replace(ready.root, root).trim();
      writeFileSync(file, `${link}\n`);
      writeFileSync(link, `gitdir: ${join(path, ".git/worktrees", name)}\n`);
    }
    return openProject({ path, env });
  });
  return { root, env, repos };
}

const readdirOr = (path: string) => (existsSync(path) ? readdirSync(path) : []);

export interface Said {
  /** What the human types, to whatever is asked or to each question; undefined: there is no terminal. */
  typed?: string | ((question: string) => string) | undefined;
  env?: Record<string, string>;
  cwd?: string;
  /** What happens while the human thinks. */
  meanwhile?: () => void;
}

/** What a terminal's question answers to Ctrl-C. */
export const pressesCtrlC = (): never => {
  throw stoppedByHuman("nothing was changed.");
};

/** Runs pawl in this process with a human at its terminal: the test is the outside. */
export async function typing(ready: Ready, said: Said, ...argv: string[]): Promise<Result> {
  let [out, err] = ["", ""];
  const code = await main([...argv, "--json"], {
    cwd: said.cwd ?? (ready.repos[0]?.path as string),
    env: { ...ready.env, ...said.env },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += String(text);
    },
    outIsTerminal: () => false,
    errIsTerminal: () => false,
    atTerminal: () => true,
    ask: async (question) => {
      if (!("typed" in said) || said.typed === undefined) return undefined;
      if (question === "") return "";
      said.meanwhile?.();
      return typeof said.typed === "function" ? said.typed(question) : said.typed;
    },
    readText: (path) => readFileSync(path, "utf8"),
  });
  return { code, out, err, json: JSON.parse(out) };
}

export const approveIt = (ready: Ready, ...argv: string[]) =>
  typing(ready, { typed: "T0001" }, "approve", "T1", ...argv);

/** Where the base branch is checked out when the merge comes. */
export type Target = "main worktree" | "linked worktree" | "nowhere";

export function placeTarget(ready: Ready, target: Target): void {
  for (const repo of ready.repos) {
    if (target === "main worktree") continue;
    repo.git("switch", "-q", "-c", "elsewhere");
    if (target === "nowhere") continue;
    const path = `${repo.path} target`;
    repo.git("worktree", "add", "-q", path, "main");
    writeFileSync(join(path, "notes.txt"), "my own notes\n");
    writeFileSync(join(path, "debug.log"), "my own log\n");
  }
}

const targetOf = (repo: Project, target: Target) =>
  target === "main worktree" ? repo.path : target === "linked worktree" ? `${repo.path} target` : undefined;

/** What must be true of every repository whenever no approval is under way; answers whether it is merged. */
export function inspect(ready: Ready, target: Target): { merged: boolean; complaints: string[] } {
  const complaints: string[] = [];
  const merged = ready.repos.map((repo) => isMerged(repo));
  if (new Set(merged).size > 1) complaints.push(`half-merged: ${merged.join(" ")}`);
  for (const repo of ready.repos) {
    const say = (what: string) => complaints.push(`${repo.path}: ${what}`);
    for (const file of leftovers(join(repo.path, ".git"))) say(`left over: ${file}`);
    const at = targetOf(repo, target);
    for (const place of new Set([repo.path, worktreeOf(repo), ...(at ? [at] : [])]))
      if (existsSync(place)) for (const line of unclean(ready, place)) say(`${place}: ${line}`);
    if (at) checkFiles(at, isMerged(repo), say);
    if (readFileSync(join(repo.path, "notes.txt"), "utf8") !== "my own notes\n") say("notes lost");
    if (readFileSync(join(repo.path, "debug.log"), "utf8") !== "my own log\n") say("log lost");
    if (readFileSync(join(repo.path, "secret/key"), "utf8") !== "my own key\n") say("key lost");
  }
  const [home] = ready.repos as [Project];
  const journals = readdirOr(join(stateOf(home), ".local/merging"));
  if (journals.length > 0) complaints.push(`journals: ${journals.join(" ")}`);
  return { merged: merged[0] ?? false, complaints };
}

/** By a commit of the approval's own, or because the branch's own tip is the base's now. */
const isMerged = (repo: Project) =>
  repo.git("log", "-1", "--format=%B", "main").includes("Pawl-Approval: ") ||
  repo.git("rev-parse", "main") === repo.git("rev-parse", BRANCH);

/** Tracked files as HEAD has them; of the rest only what the user had there. */
function unclean(ready: Ready, place: string): string[] {
  return gitIn(ready, place, "status", "--porcelain", "-uall")
    .split("\n")
    .filter((line) => line !== "" && line !== "?? notes.txt");
}

function checkFiles(at: string, merged: boolean, say: (what: string) => void): void {
  const has = (path: string) => existsSync(join(at, path));
  const expected = merged
    ? {
        "added/new file.txt": true,
        gone: false,
        "file-to-folder/inside.txt": true,
        "folder-to-file/inside.txt": false,
      }
    : {
        added: false,
        "gone/old.txt": true,
        "file-to-folder/inside.txt": false,
        "folder-to-file/inside.txt": true,
      };
  for (const [path, there] of Object.entries(expected)) if (has(path) !== there) say(`${path}: ${!there}`);
  if (readlinkSync(join(at, "link")) !== (merged ? "src/kept.txt" : "README.md")) say("link");
  if (((statSync(join(at, "run.sh")).mode & 0o100) !== 0) !== merged) say("run.sh");
  if (readFileSync(join(at, "notes.txt"), "utf8") !== "my own notes\n") say("notes in the target");
}

/** Locks, private indexes and grants; all of them are only for the moment of a merge. */
function leftovers(gitDir: string): string[] {
  return readdirSync(gitDir, { recursive: true, encoding: "utf8" }).filter(
    (path) =>
      !path.startsWith("objects") &&
      statSync(join(gitDir, path)).isFile() &&
      (path.startsWith("pawl/") ? path.startsWith("pawl/grants/update/") : /\.lock|pawl-index/.test(path)),
  );
}

export const TASK_BRANCH = BRANCH;
