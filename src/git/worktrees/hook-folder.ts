import { isAbsolute, join } from "node:path";
import { isFolder, lineIfReadable, namesIfReadable, occupied, textIfReadable } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { step } from "../../model/steps.ts";
import { configValue } from "../config-file.ts";
import { Git } from "../run-git.ts";
import { copyWhole } from "./copy-whole.ts";

/**
 * Husky and its like keep their hooks in a folder of the worktree that they make on every `npm install` and that git
 * ignores, so that a new worktree has none, and git then runs no hook and says nothing. It is copied as it is: that is
 * what the tool itself would write there.
 */
export async function copyHookFolder(
  { commonDir, main }: { commonDir: string; main: string | undefined },
  to: string,
  scratch: string,
  env: Environment,
): Promise<string[]> {
  const folder = main === undefined ? undefined : hookFolder(commonDir);
  if (main === undefined || folder === undefined || !isFolder(join(main, folder))) return [];
  if (occupied(join(to, folder))) return [];
  const files = namesIfReadable(join(main, folder)).map((name) => `${folder}/${name}`);
  const ignores = lineIfReadable(join(main, folder, ".gitignore")) === "*";
  const asked = ["check-ignore", "-q", ...files];
  if (!ignores && (await Git.in("user", env, to).ask(asked)).code !== 0) return [];
  step("worktree hooks");
  const failed = files.filter((file) => !copyWhole(join(main, file), to, file, scratch));
  return [
    failed.length === 0
      ? `${folder} was copied into the worktree, so that the hooks in it run there too.`
      : `${failed.join(", ")} could not be copied into the worktree, so hooks may not run there.`,
  ];
}

/** Where another tool pointed git, relative to each worktree: as the guard found it, or as the configuration says. */
function hookFolder(commonDir: string): string | undefined {
  const config = textIfReadable(join(commonDir, "config")) ?? "";
  const said = configValue(config, "core", "hookspath");
  const path = lineIfReadable(join(commonDir, "pawl", "previous")) ?? said;
  if (!path || isAbsolute(path) || /^~|\\/.test(path)) return undefined;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 || parts.some((part) => part === ".." || part === ".git")
    ? undefined
    : parts.join("/");
}
