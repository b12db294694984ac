import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { textIfReadable } from "../../files/read.ts";
import { keptMovers, MOVERS, taskOfWorktree } from "../discover.ts";

/** Whoever moved a task's branch stays its author when the worktree is removed and the work comes back in another one. */
export function keepMovers(commonDir: string, gitDir: string): void {
  const own = join(commonDir, gitDir);
  const task = taskOfWorktree(own);
  const lines = linesOf(join(own, MOVERS));
  if (task === undefined || lines.length === 0) return;
  const file = keptMovers(commonDir, task);
  const known = linesOf(file);
  const news = lines.filter((line) => !known.includes(line));
  if (news.length === 0) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, news.map((line) => `${line}\n`).join(""));
}

const linesOf = (file: string) => (textIfReadable(file) ?? "").split("\n").filter((line) => line !== "");
