import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { pause } from "../../files/pause.ts";
import { textIfPresent } from "../../files/read.ts";
import { configValue, isOn } from "../../git/config-file.ts";
import { copyIndex } from "../../git/copy-index.ts";
import { formatOf } from "../../git/format.ts";
import { nothingLike } from "../../git/object-ids.ts";
import { dropStaleLock } from "../../git/ref-locks.ts";
import { lockOf } from "../../git/refs.ts";
import { expectGit, Git } from "../../git/run-git.ts";
import { Failure } from "../../model/failure.ts";
import { STATE_BRANCH } from "../../model/naming.ts";
import { noteNewest } from "./newest-tip.ts";
import { isTipBroken, repairTip } from "./repair-tip.ts";
import { gitOf, REF, type StateRepository, tip } from "./state-basics.ts";

/**
 * Makes the state repository, or puts back what is missing of it; every step may have been done before. A state
 * folder that was deleted comes back from its history. Callers hold a lock, so everything here is synchronous.
 */
export function prepare(repo: StateRepository): { restored: boolean } {
  mkdirSync(repo.state, { recursive: true });
  if (!isGitDir(repo.gitDir)) makeGitDir(repo);
  nameWorktree(repo);
  mkdirSync(join(repo.gitDir, "info"), { recursive: true });
  addLine(join(repo.gitDir, "info", "exclude"), "/.local/");
  const names = readdirSync(repo.state).filter((name) => name !== ".local");
  const lost = !names.includes(".git") || !names.includes("tasks");
  // Another memory is never begun while an old one has objects.
  if (lost && isTipBroken(repo)) repairTip(repo);
  const restored = lost && tip(repo) !== undefined && restore(repo);
  mkdirSync(join(repo.state, "tasks"), { recursive: true });
  // Last, because whoever finds this link takes everything else for complete.
  writeLink(repo);
  return { restored };
}

const isGitDir = (path: string) => ["HEAD", "objects", "refs"].every((name) => existsSync(join(path, name)));

/** Git makes a repository in many steps; under its own name it appears finished. */
function makeGitDir(repo: StateRepository): void {
  const folder = dirname(repo.gitDir);
  mkdirSync(folder, { recursive: true });
  const unfinished = `${repo.gitDir}.new-`;
  for (const name of readdirSync(folder))
    if (join(folder, name).startsWith(unfinished))
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  const fresh = unfinished + unique();
  // Refs are read as files, whatever git makes by default; objects are named as in the project, whose remote gets them too.
  const git = Git.in("records", repo.env, folder).with({ GIT_DEFAULT_REF_FORMAT: "files" });
  const { objects } = formatOf(dirname(folder));
  const init = [
    "init",
    "-q",
    "--bare",
    `--object-format=${objects}`,
    "--template=",
    "-b",
    STATE_BRANCH,
    fresh,
  ];
  git.expectSync("The state repository could not be created", init);
  const config = join(fresh, "config");
  const worktree = slashes(relative(repo.gitDir, repo.state)).replace(/["\\]/g, "\\$&");
  const bare = readFileSync(config, "utf8").replace(
    /^\s*bare = true$/m,
    `\tbare = false\n\tworktree = "${worktree}"`,
  );
  writeFileSync(config, bare);
  if (existsSync(repo.gitDir)) renameSync(repo.gitDir, `${repo.gitDir}.broken-${unique()}`);
  renameSync(fresh, repo.gitDir);
}

/** Brings back each folder whole, by one rename; what is there already may be newer than the history, and stays. */
function restore(repo: StateRepository): boolean {
  const [index, scratch] = [privateIndex(repo), scratchPath(repo)];
  try {
    mkdirSync(scratch);
    const git = filesOf({ ...repo, state: scratch }, index);
    git.expectSync("The state could not be restored from its history", ["read-tree", "-u", "--reset", REF]);
    const missing = readdirSync(scratch).filter((name) => !existsSync(join(repo.state, name)));
    for (const name of missing) renameSync(join(scratch, name), join(repo.state, name));
    return missing.length > 0;
  } finally {
    rmSync(index, { force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A relative link, so that a project folder can be moved or copied with its memory. */
function writeLink(repo: StateRepository): void {
  const link = join(repo.state, ".git");
  if (link === repo.gitDir) return;
  const scratch = scratchPath(repo);
  writeFileSync(scratch, `gitdir: ${slashes(relative(repo.state, repo.gitDir))}\n`);
  renameSync(scratch, link);
}

/** Where the records' own unfinished files wait: on the same disk, out of git's sight, swept by their age. */
function scratchPath(repo: StateRepository): string {
  const folder = join(repo.state, ".local", "tmp");
  mkdirSync(folder, { recursive: true });
  return join(folder, unique());
}

const unique = () => `${process.pid}-${randomBytes(4).toString("hex")}`;

/** Adds a line to a file of git's own, such as info/exclude, once, whatever its last line ends with. */
function addLine(path: string, line: string): void {
  const text = textIfPresent(path) ?? "";
  if (text.split(/\r?\n/).includes(line)) return;
  appendFileSync(path, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}

/**
 * Commits everything that the state folder holds. A private index and a compare-and-swap of the branch mean that
 * parallel commands cannot collide, and that a kill at any moment leaves no lock. Answers the new commit, or
 * undefined when there was nothing new. `joined` is a history from elsewhere whose records are in place by now.
 */
export async function commitState(
  repo: StateRepository,
  message: string,
  joined?: string,
  /** Hears of records that the last commit had and that are not there any more. */
  gone: (paths: string[]) => void = () => {},
): Promise<string | undefined> {
  const index = privateIndex(repo);
  const git = filesOf(repo, index);
  const failed = "The state could not be committed";
  // The ordinary index, so that a person who looks with plain git sees a clean state.
  const shared = join(repo.gitDir, "index");
  keepObjects(repo);
  try {
    for (
      const started = Date.now();
      Date.now() - started < PATIENCE_MS;
      await pause(10 + Math.random() * 60)
    ) {
      // The last good index remembers which files are unchanged; without it every record is read again.
      if (existsSync(shared)) copyIndex(shared, index);
      const parent = tip(repo);
      if (parent === undefined && isTipBroken(repo)) {
        repairTip(repo);
        continue;
      }
      if (!existsSync(shared) && parent) await git.expect(failed, ["read-tree", parent]);
      const added = await git.ask(["add", "-A", "--", "."]);
      if (added.code !== 0 && existsSync(shared)) {
        // A power cut may have torn it; it is only a memory of what the commit says anyway.
        for (const torn of [shared, index]) rmSync(torn, { force: true });
        continue;
      }
      expectGit(added, failed);
      const tree = await git.expect(failed, ["write-tree"]);
      const commit = await commitFor(git, { tree, parent, joined, message });
      if (commit && parent && !joined) {
        const { out } = await git.ask(["diff-tree", "-r", "--name-only", "--diff-filter=D", parent, commit]);
        gone(out.split("\n").filter((path) => path.endsWith(".md")));
      }
      if (commit === undefined) {
        if (!existsSync(shared)) renameSync(index, shared);
        return undefined;
      }
      const moved = await git.ask(["update-ref", "-m", "pawl", REF, commit, parent ?? nothingLike(commit)]);
      if (moved.code === 0) {
        renameSync(index, shared);
        await noteNewest(repo, commit, parent);
        return commit;
      }
      for (const ref of [REF, "HEAD"]) dropStaleLock(lockOf(repo.gitDir, ref));
    }
    throw new Failure(
      "conflict",
      "state_busy",
      "Other commands kept the state's branch busy; the next command commits it.",
    );
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

/** Git neither prunes nor repacks away anything here: a commit's objects are there before its branch names it. */
function keepObjects(repo: StateRepository): void {
  const file = join(repo.gitDir, "config");
  if (isOn(configValue(textIfPresent(file) ?? "", "extensions", "preciousobjects"))) return;
  for (const [name, value] of [
    ["extensions.preciousObjects", "true"],
    ["gc.auto", "0"],
  ] as const)
    gitOf(repo).askSync(["config", "--file", file, name, value]);
}

interface Wanted {
  tree: string;
  parent: string | undefined;
  joined: string | undefined;
  message: string;
}

/** The commit that the branch should name: none if it does already, theirs where ours adds nothing, else a new one. */
async function commitFor(git: Git, wanted: Wanted): Promise<string | undefined> {
  const { tree, parent, joined, message } = wanted;
  const what = "The state could not be committed";
  const treeOf = (commit: string) => git.expect(what, ["rev-parse", `${commit}^{tree}`]);
  const joining = joined && !(parent && (await git.isAncestor(joined, parent))) ? joined : undefined;
  if (parent && !joining && (await treeOf(parent)) === tree) return undefined;
  if (joining && (!parent || (await git.isAncestor(parent, joining))) && (await treeOf(joining)) === tree)
    return joining;
  const apart = parent && joining && (await beganApart(git, parent, joining));
  if (apart) await git.expect(what, ["update-ref", `refs/pawl/begun/${parent}`, parent]);
  const parents = [apart ? undefined : parent, joining].flatMap((one) => (one ? ["-p", one] : []));
  return git.expect(what, ["commit-tree", "--no-gpg-sign", tree, ...parents], message);
}

/**
 * A clone that was guarded before it knew of the published state has a baseline of its own in its history. That history
 * stays with it: whoever reads the published one finds no baseline but the first.
 */
async function beganApart(git: Git, ours: string, theirs: string): Promise<boolean> {
  if ((await git.line(["merge-base", ours, theirs])) !== undefined) return false;
  return (await git.ask(["grep", "-q", "^baseline:", ours, "--", "repos"])).code === 0;
}

const PATIENCE_MS = 5_000;

const privateIndex = (repo: StateRepository) => join(repo.gitDir, `pawl-index-${unique()}`);

/** For its files, with an index of their own. */
const filesOf = ({ state, gitDir, env }: StateRepository, index: string) =>
  Git.on("records", env, { root: state, gitDir }).withIndex(index);

function nameWorktree({ gitDir, state, env }: StateRepository): void {
  const file = join(gitDir, "config");
  const value = slashes(relative(gitDir, state));
  if (configValue(readFileSync(file, "utf8"), "core", "worktree") === value) return;
  dropStaleLock(`${file}.lock`);
  // Git looks at the repository around it even here, and gives up on one whose work tree has moved away.
  const git = Git.of("records", env, gitDir).with({ GIT_WORK_TREE: state });
  const set = git.askSync(["config", "--file", file, "core.worktree", value]);
  expectGit(set, "The state repository could not be set up");
}

const slashes = (path: string) => path.replaceAll("\\", "/");
