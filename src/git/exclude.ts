import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeIfEmpty, replaceFile, replaceQuickly } from "../files/durable.ts";
import { jsonIfReadable, textIfPresent } from "../files/read.ts";

/** What `info/exclude` was before our first line, and which lines are ours: enough to give it back to the byte. */
interface Excluded {
  before: "absent" | "no line end" | "whole";
  /** There was no folder `info`. */
  noFolder: boolean;
  lines: string[];
}

const fileOf = (commonDir: string) => join(commonDir, "info", "exclude");
const memoryOf = (commonDir: string) => join(commonDir, "pawl", "excluded");
const readMemory = (commonDir: string) => jsonIfReadable<Excluded>(memoryOf(commonDir));

/** Adds lines that are not there yet. What was there is written down first, so that a kill cannot make us forget it. */
export function hideLines(commonDir: string, lines: readonly string[]): void {
  const path = fileOf(commonDir);
  const text = textIfPresent(path);
  const missing = lines.filter((line) => !text?.split(/\r?\n/).includes(line));
  if (missing.length === 0) return;
  const noFolder = !existsSync(dirname(path));
  const before = text === undefined ? "absent" : text === "" || text.endsWith("\n") ? "whole" : "no line end";
  const known = readMemory(commonDir) ?? { before, noFolder, lines: [] };
  const memory = { ...known, lines: [...new Set([...known.lines, ...missing])] };
  replaceFile(memoryOf(commonDir), `${JSON.stringify(memory)}\n`);
  mkdirSync(dirname(path), { recursive: true });
  const gap = before === "no line end" ? "\n" : "";
  replaceQuickly(path, `${text ?? ""}${gap}${missing.map((line) => `${line}\n`).join("")}`);
}

/** Takes our lines out again; whatever others wrote meanwhile stays. */
export function showLines(commonDir: string): void {
  const memory = readMemory(commonDir);
  if (memory) takeOut(commonDir, memory, memory.lines);
  if (memory?.noFolder) removeIfEmpty(dirname(fileOf(commonDir)));
  rmSync(memoryOf(commonDir), { force: true });
}

/** The same for folders that are not there any more: of worktrees that are removed, while the records stay. */
export function showGone(commonDir: string, mainRoot: string): void {
  const memory = readMemory(commonDir);
  const gone = memory?.lines.filter((line) => !existsSync(join(mainRoot, line.replaceAll("\\", "")))) ?? [];
  if (!memory || gone.length === 0) return;
  takeOut(commonDir, memory, gone);
  const lines = memory.lines.filter((line) => !gone.includes(line));
  replaceFile(memoryOf(commonDir), `${JSON.stringify({ ...memory, lines })}\n`);
}

function takeOut(commonDir: string, memory: Excluded, lines: readonly string[]): void {
  const path = fileOf(commonDir);
  const text = textIfPresent(path);
  if (text === undefined) return;
  const rows = text.split(/(?<=\n)/);
  const isOurs = (row: string) => lines.includes(row.replace(/\r?\n$/, ""));
  const rest = rows.filter((row) => !isOurs(row));
  const wereLast =
    rows.slice(rest.length).every(isOurs) && rows.slice(0, rest.length).join("") === rest.join("");
  const joined = rest.join("");
  const after = memory.before === "no line end" && wereLast ? joined.replace(/\n$/, "") : joined;
  if (after === "" && memory.before === "absent") rmSync(path);
  else if (after !== text) replaceFile(path, after);
}
