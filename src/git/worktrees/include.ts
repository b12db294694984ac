import { existsSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { occupied } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { step } from "../../model/steps.ts";
import { Git } from "../run-git.ts";
import { copyWhole } from "./copy-whole.ts";

/** Names the ignored files that a worktree cannot do without, such as `.env`, in the words of a .gitignore. */
const LIST = ".worktreeinclude";

/** Never copied, whatever the list says: git's own, and our memory. Other worktrees are not either. */
const OWN = /(?:^|\/)\.git(?:\/|$)|^\.pawl\/state(?:\/|$)/;

/**
 * Copies what the list names from the main worktree: untracked files that git ignores, and no others.
 */
export async function copyIncluded(
  main: string | undefined,
  to: string,
  scratch: string,
  env: Environment,
): Promise<string[]> {
  if (main === undefined || !existsSync(join(main, LIST))) return [];
  const others = `${relative(main, dirname(scratch))
    .replaceAll("\\", "/")
    .replace(/\/?[^/]+$/, "")}/`;
  const paths = (await wanted(main, env)).filter(
    (path) => !(others !== "/" && path.startsWith(others)) && !occupied(join(to, path)),
  );
  if (paths.length === 0) return [];
  step("worktree include");
  rmSync(scratch, { recursive: true, force: true });
  const failed = paths.filter((path) => !copyWhole(join(main, path), to, path, scratch));
  return failed.map((path) => `${path} of ${LIST} could not be copied.`);
}

async function wanted(main: string, env: Environment): Promise<string[]> {
  const git = Git.in("user", env, main);
  const list = ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${LIST}`];
  const found = await git.names(`${LIST} could not be applied`, list);
  const named = found.filter((path) => !path.endsWith("/") && !OWN.test(path));
  if (named.length === 0) return [];
  const ignored = await git.ask(["check-ignore", "-z", "--stdin"], `${named.join("\0")}\0`);
  return ignored.out.split("\0").filter(Boolean);
}
