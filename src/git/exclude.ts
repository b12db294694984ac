import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile, replaceQuickly } from "../files/durable.ts";
import { jsonIfReadable, removeIfEmpty, textIfPresent } from "../files/read.ts";

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
  const path = fileOf(commonDir);
  const [memory, text] = [readMemory(commonDir), textIfPresent(path)];
  if (memory && text !== undefined) {
    const rows = text.split(/(?<=\n)/);
    const isOurs = (row: string) => memory.lines.includes(row.replace(/\r?\n$/, ""));
    const rest = rows.filter((row) => !isOurs(row));
    const wereLast =
      rows.slice(rest.length).every(isOurs) && rows.slice(0, rest.length).join("") === rest.join("");
    const joined = rest.join("");
    const after = memory.before === "no line end" && wereLast ? joined.replace(/\n$/, "") : joined;
    if (after === "" && memory.before === "absent") rmSync(path);
    else if (after !== text) replaceFile(path, after);
  }
  if (memory?.noFolder) removeIfEmpty(dirname(path));
  rmSync(memoryOf(commonDir), { force: true });
}
