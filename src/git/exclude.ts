import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "../disk/durable.ts";
import { addLine } from "./state-repository.ts";

/** How `info/exclude` was before the first line of ours; null where there was no such file. */
interface Original {
  text: string | null;
  folder: boolean;
}

const excludeOf = (commonDir: string) => join(commonDir, "info", "exclude");
const originalOf = (commonDir: string) => join(commonDir, "pawl", "exclude");

/** info/exclude is not tracked and covers every branch and worktree, so the project never becomes dirty. */
export function hide(commonDir: string, line: string): void {
  const exclude = excludeOf(commonDir);
  const text = existsSync(exclude) ? readFileSync(exclude, "utf8") : null;
  if (text?.split(/\r?\n/).includes(line)) return;
  if (!existsSync(originalOf(commonDir))) {
    const original: Original = { text, folder: existsSync(dirname(exclude)) };
    replaceFile(originalOf(commonDir), `${JSON.stringify(original)}\n`);
  }
  mkdirSync(dirname(exclude), { recursive: true });
  addLine(exclude, line);
}

/** Takes the line out again: byte for byte where nobody else has written since. */
export function unhide(commonDir: string, line: string): void {
  const exclude = excludeOf(commonDir);
  if (!existsSync(exclude)) return;
  const text = readFileSync(exclude, "utf8");
  const { text: before, folder } = readOriginal(commonDir);
  const withLine = `${before ?? ""}${before === null || before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`;
  if (text !== withLine) {
    const kept = text.split(/(?<=\n)/).filter((one) => one.replace(/\r?\n$/, "") !== line);
    if (kept.join("") !== text) writeFileSync(exclude, kept.join(""));
  } else if (before !== null) writeFileSync(exclude, before);
  else {
    rmSync(exclude);
    if (!folder) rmdirSync(dirname(exclude));
  }
}

/** Without a memory of it, the file was there and ended with a whole line. */
function readOriginal(commonDir: string): Original {
  try {
    return JSON.parse(readFileSync(originalOf(commonDir), "utf8")) as Original;
  } catch {
    return { text: "", folder: true };
  }
}
