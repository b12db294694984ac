import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../model/environment.ts";
import { firstFew, plural, quoted } from "../../model/text.ts";
import type { Site } from "../../ports/sites.ts";
import type { Movement, Obstacle } from "../../ports/targets.ts";
import { type Checkout, Git } from "../run-git.ts";
import { type ChangedPath, changedPaths, isSubmodule } from "./changed-paths.ts";
import { type Involved, involvedCheckouts } from "./checkouts.ts";
import { hashFiles, holds, lookAt } from "./file-states.ts";
import { hiddenPaths } from "./hidden-paths.ts";

const SHOWN = 10;

/** Everything of the user's that stands in the way of moving a branch, in every worktree that has it checked out. */
export async function findObstacles(env: Environment, site: Site, movement: Movement): Promise<Obstacle[]> {
  const { branch, from, to } = movement;
  const involved = involvedCheckouts(site, branch);
  const found = [...operations(involved, branch), ...unreachable(involved, branch)];
  const changed = await changedPaths(Git.of("quiet", env, site.commonDir), from, to);
  for (const checkout of involved.checkouts) {
    const git = Git.on("quiet", env, checkout);
    if (existsSync(join(checkout.gitDir, "index.lock"))) found.push(indexLocked(checkout));
    if ((await git.line(["config", "--type=bool", "core.sparseCheckout"])) === "true")
      found.push(sparse(checkout, branch));
    found.push(...(await checkoutObstacles(git, checkout, branch, changed)));
  }
  return found;
}

/** The user's files in one worktree: edits of tracked ones, and untracked ones where something would be written. */
export async function checkoutObstacles(
  git: Git,
  checkout: Checkout,
  branch: string,
  changed: readonly ChangedPath[],
): Promise<Obstacle[]> {
  const found: Obstacle[] = [];
  const dirty = [...new Set([...(await visibleEdits(git)), ...(await hiddenEdits(git, checkout, changed))])];
  if (dirty.length > 0) found.push(edited(checkout, branch, dirty));
  const blocking = await filesInTheWay(git, checkout.root, changed);
  if (blocking.length > 0) found.push(inTheWay(checkout, blocking));
  return found;
}

/** Staged or modified tracked files; a submodule that is elsewhere than recorded is left alone, as git itself does. */
async function visibleEdits(git: Git): Promise<string[]> {
  const status = await git.names("git status failed", [
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=no",
    "--no-renames",
    "--ignore-submodules=dirty",
  ]);
  return status.flatMap((entry) => {
    const [kind = "", xy = "", sub = ""] = entry.split(" ");
    if (kind === "#") return [];
    const onlyElsewhere = kind === "1" && sub.startsWith("S") && xy.startsWith(".");
    return onlyElsewhere
      ? []
      : [
          entry
            .split(" ")
            .slice(kind === "u" ? 10 : 8)
            .join(" "),
        ];
  });
}

/** Git was told not to look at some files; what we would overwrite is looked at all the same. */
async function hiddenEdits(git: Git, { root }: Checkout, changed: readonly ChangedPath[]): Promise<string[]> {
  const { unchanged, skipped } = await hiddenPaths(git, changed);
  const hidden = new Set([...unchanged, ...skipped]);
  const touched = changed.filter((one) => hidden.has(one.path) && !isSubmodule(one.old));
  if (touched.length === 0) return [];
  const look = lookAt(root);
  const present = touched.map((one) => look(one.path));
  const files = touched.filter((_one, index) => present[index]?.kind === "file").map((one) => one.path);
  const hashes = await hashFiles(git, files);
  return touched
    .filter((one, index) => !holds(one.old, present[index] ?? { kind: "nothing" }, hashes.get(one.path)))
    .map((one) => one.path);
}

/**
 * Files, folders and links at paths that the move adds. Ignored ones count: git would overwrite them without a word.
 */
async function filesInTheWay(git: Git, root: string, changed: readonly ChangedPath[]): Promise<string[]> {
  const foldsCase = (await git.line(["config", "--type=bool", "core.ignoreCase"])) === "true";
  const fold = (path: string) => (foldsCase ? path.toLowerCase() : path);
  const leaving = new Set(changed.filter((one) => one.old && !one.new).map((one) => fold(one.path)));
  const look = lookAt(root);
  const blocking = new Set<string>();
  for (const { path, old, new: added } of changed) {
    if (!added || (old && isSubmodule(old) === isSubmodule(added))) continue;
    const present = look(path);
    if (present.kind === "nothing" || leaving.has(fold(path))) continue;
    if (present.kind === "folder") {
      for (const file of contents(root, path)) if (!leaving.has(fold(file))) blocking.add(file);
    } else if (present.kind === "blocked") {
      if (!leaving.has(fold(present.by))) blocking.add(present.by);
    } else if (!old) blocking.add(path);
  }
  return [...blocking].sort();
}

/** Everything below a folder but folders themselves. A nested repository is one thing, and not ours to look into. */
function contents(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return existsSync(join(root, path, ".git")) ? [path] : contents(root, path);
  });
}

function operations({ busy }: Involved, branch: string): Obstacle[] {
  return busy.map(({ checkout: { root }, operation }) => ({
    code: "operation_in_progress",
    message: `${operation.what} is in progress on ${branch} in ${root} (${operation.file}).`,
    hint: `Finish it: cd ${quoted(root)} && ${operation.end}`,
    details: { worktree: root, operation: operation.file },
  }));
}

function unreachable(involved: Involved, branch: string): Obstacle[] {
  return involved.unreachable.map((root) => ({
    code: "checkout_unreachable",
    message: `${branch} is checked out in ${root}, which does not exist.`,
    hint: "Bring that folder back, or unlock and prune the worktree if it is gone for good.",
    details: { worktree: root },
  }));
}

function indexLocked({ root, gitDir }: Checkout): Obstacle {
  return {
    code: "index_locked",
    message: `Another git process is running in ${root}: there is an index.lock.`,
    hint: "Let it finish. If none is running, a git was killed there: check, then remove the file named in the details.",
    details: { worktree: root, file: join(gitDir, "index.lock") },
  };
}

function sparse({ root }: Checkout, branch: string): Obstacle {
  return {
    code: "sparse_checkout",
    message: `${branch} is a sparse checkout in ${root}; pawl cannot safely tell which files belong there.`,
    hint: `Switch that checkout away from the branch first: git -C ${quoted(root)} switch --detach`,
    details: { worktree: root },
  };
}

function edited({ root }: Checkout, branch: string, files: string[]): Obstacle {
  return {
    code: "target_dirty",
    message: `${plural(files.length, "tracked file")} of ${branch} changed in ${root}: ${shown(files)}.`,
    hint: `If an agent's commands made them, \`pawl rescue\` moves them into the task's worktree. Otherwise commit them on another branch, or undo them: git -C ${quoted(root)} status`,
    details: { worktree: root, files },
  };
}

function inTheWay({ root }: Checkout, files: string[]): Obstacle {
  return {
    code: "files_in_the_way",
    message: `${plural(files.length, "file")} in ${root} would be overwritten: ${shown(files)}.`,
    hint: `They are yours, and git does not track them: move them away. They are in ${root}`,
    details: { worktree: root, files: files.slice(0, SHOWN), count: files.length },
  };
}

const shown = (files: readonly string[]) => firstFew(files, SHOWN);
