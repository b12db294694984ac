import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { textIfPresent } from "../../files/read.ts";
import { step } from "../../model/steps.ts";
import { hideLines } from "../exclude.ts";
import { sideFolders } from "./entries.ts";

/**
 * Keeps the worktrees out of the project's own `git status`. A folder that is made for them is hidden as a whole; in
 * one that was there before, only our places are, because the rest is the user's to see.
 */
export function hideWorktree(commonDir: string, mainRoot: string | undefined, path: string): void {
  if (mainRoot === undefined) return;
  const inside = relative(mainRoot, path).replaceAll("\\", "/");
  const [top = "", ...below] = inside.split("/");
  if (top === ".." || top === "") return;
  const lines = (textIfPresent(join(commonDir, "info", "exclude")) ?? "").split(/\r?\n/);
  const whole = `/${escapePattern(top)}/`;
  const places = [path, ...sideFolders(path)].map(
    (one) => `/${escapePattern(relative(mainRoot, one).replaceAll("\\", "/"))}/`,
  );
  const alone = below.length > 0 && (lines.includes(whole) || !existsSync(join(mainRoot, top)));
  const missing = (alone ? [whole] : places).filter((line) => !lines.includes(line));
  if (missing.length === 0) return;
  step("worktree hide");
  hideLines(commonDir, missing);
}

const escapePattern = (path: string) => path.replace(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ");
