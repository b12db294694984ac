import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../model/environment.ts";
import { Failure } from "../../model/failure.ts";
import { step } from "../../model/steps.ts";
import type { MainCheckout, Placing, Rescues, Saved } from "../../ports/rescues.ts";
import type { Site } from "../../ports/sites.ts";
import { discover, type Place } from "../discover.ts";
import { changedPaths } from "../merging/changed-paths.ts";
import { headOf } from "../refs.ts";
import { Git } from "../run-git.ts";
import { commitTree } from "../snapshot-commit.ts";
import { forgetStrays, notedStrays, readStatus, STATUS } from "../strays.ts";
import { operationIn } from "../unfinished-operation.ts";
import { hashWorkingTree } from "../working-tree.ts";
import { replaceFile } from "./replace-file.ts";

export function openRescues(env: Environment): Rescues {
  return {
    look: (site) => look(site, env),
    save: (site, checkout, files, task) => save(site, checkout, files, task, env),
    plan: (saved, worktree) => plan(saved, worktree, env),
    async place({ site }, { tree, from, worktree }) {
      const place = placeOf(worktree);
      const git = Git.on("quiet", env, place);
      for (const change of await changedPaths(Git.of("quiet", env, site.commonDir), from, tree)) {
        const { how } = await replaceFile(git, place, change);
        if (how !== "done") throw movedMeanwhile(worktree, change.path);
      }
    },
    clear: (saved) => clear(saved, env),
  };
}

async function look(site: Site, env: Environment): Promise<MainCheckout | undefined> {
  const { mainRoot: root, commonDir } = site;
  if (root === undefined) return undefined;
  const { out } = await Git.in("quiet", env, root).ask(STATUS);
  const { files, tracked, others } = readStatus(out);
  const noted = new Set(notedStrays(commonDir));
  if (files.length === 0 && noted.size > 0) forgetStrays(commonDir);
  const head = headOf({ gitDir: commonDir, commonDir });
  return {
    root,
    head: head?.commit,
    branch: head?.branch,
    operation: operationIn(commonDir)?.what,
    files,
    tracked,
    others,
    noted: files.filter((file) => noted.has(file)),
  };
}

/** Built in an index of its own: neither the files nor what is staged changes by a byte. */
async function save(
  site: Site,
  checkout: MainCheckout,
  files: readonly string[],
  task: string,
  env: Environment,
): Promise<Saved> {
  const { head } = checkout;
  if (head === undefined) throw new Error("This checkout has no commit to go back to");
  const git = Git.of("quiet", env, site.commonDir);
  step("rescue tree");
  const main = placeOf(checkout.root);
  const whole = await hashWorkingTree(main, env, { keep: true, staged: true });
  const headTree = await git.expect("The commit could not be read", ["rev-parse", `${head}^{tree}`]);
  const tree = await treeOfSome(git, headTree, whole.tree, files, main);
  const index =
    whole.staged === undefined || whole.staged === headTree || whole.staged === whole.tree
      ? undefined
      : await commitTree(git, whole.staged, [head], `Staged in the main checkout, for ${task}`);
  const parents = [head, ...(index === undefined ? [] : [index])];
  const commit = await commitTree(git, tree, parents, `Uncommitted in the main checkout, for ${task}`);
  const ref = `refs/pawl/rescued/${task}/${commit.slice(0, 12)}`;
  step("rescue ref");
  await git.expect("The changes could not be saved", ["update-ref", "-m", "pawl: rescue", ref, commit]);
  return { site, checkout: { ...checkout, head }, files, commit, ref, staged: index !== undefined };
}

/** The commit's tree with some files as another tree has them. */
async function treeOfSome(
  git: Git,
  base: string,
  other: string,
  files: readonly string[],
  { gitDir }: Place,
): Promise<string> {
  const wanted = new Set(files);
  const changed = (await changedPaths(git, base, other)).filter((one) => wanted.has(one.path));
  const index = join(gitDir, `pawl-rescue-index-${process.pid}`);
  const own = git.withIndex(index);
  const lines = changed.map(({ path, new: entry }) =>
    entry ? `${entry.mode} ${entry.oid}\t${path}` : `0 ${"0".repeat(base.length)}\t${path}`,
  );
  try {
    await own.expect("The commit could not be read", ["read-tree", base]);
    await own.expect(
      "The changes could not be staged",
      ["update-index", "-z", "--index-info"],
      lines.join("\0"),
    );
    return await own.expect("The changes could not be written", ["write-tree"]);
  } finally {
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  }
}

/** A merge of what the worktree holds now, uncommitted changes included, with what main has on top of its commit. */
async function plan(saved: Saved, worktree: string, env: Environment): Promise<Placing> {
  const git = Git.of("quiet", env, saved.site.commonDir);
  const place = placeOf(worktree);
  const { tree: from } = await hashWorkingTree(place, env, { keep: true });
  const there = await commitTree(git, from, [saved.checkout.head], "What the worktree holds");
  const args = [
    "-c",
    "merge.renames=false",
    "merge-tree",
    "--write-tree",
    "--name-only",
    "-z",
    "--no-messages",
  ];
  const { code, out, err } = await git.ask([...args, there, saved.commit]);
  const [tree = "", ...conflicts] = out.split("\0").filter((one) => one !== "");
  if (code === 0) return { fits: true, tree, from, worktree };
  if (code === 1) return { fits: false, conflicts: [...new Set(conflicts)] };
  throw new Failure("unavailable", "git_failed", `git could not compare the changes: ${err.trim()}`);
}

async function clear(saved: Saved, env: Environment): Promise<string[]> {
  const { site, checkout, commit, files } = saved;
  const main = placeOf(checkout.root);
  const git = Git.on("quiet", env, main);
  const said: string[] = [];
  for (const change of await changedPaths(Git.of("quiet", env, site.commonDir), commit, checkout.head)) {
    const done = await replaceFile(git, main, change);
    if (done.how === "left")
      said.push(`${change.path} has changed in the meantime and stays in ${checkout.root}.`);
    if (done.how === "kept")
      said.push(
        `${change.path} was written to while it was being moved; that version is kept at ${done.at}.`,
      );
  }
  step("rescue index");
  const literally = git.with({ GIT_LITERAL_PATHSPECS: "1" });
  const list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const reset = await literally.ask(["reset", "-q", ...list, checkout.head], files.join("\0"));
  if (reset.code !== 0)
    said.push(`The changes staged in ${checkout.root} could not be unstaged: ${reset.err.trim()}`);
  await git.ask(["update-index", "-q", "--refresh"]);
  return said;
}

function placeOf(folder: string): Place & { root: string } {
  const place = existsSync(folder) ? discover(folder) : undefined;
  if (place?.root === undefined)
    throw new Failure("not_found", "worktree_missing", `${folder} is no longer a worktree.`, {
      details: { worktree: folder },
    });
  return { ...place, root: place.root };
}

function movedMeanwhile(worktree: string, path: string): Failure {
  return new Failure(
    "conflict",
    "changed_meanwhile",
    `${path} changed in ${worktree} while pawl was reading it.`,
    {
      hint: "Nothing was lost and the main checkout is unchanged. Run the command again.",
      details: { file: path, worktree },
    },
  );
}
