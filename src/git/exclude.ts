import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeIfEmpty, replaceFile, replaceQuickly } from "../files/durable.ts";
import { type AnyText, anyText, jsonIfReadable, realpathOr } from "../files/read.ts";

/** What `info/exclude` was before our first line, and which lines are ours: enough to give it back to the byte. */
interface Excluded {
  before: "absent" | "no line end" | "whole";
  /** There was no folder `info`. */
  noFolder: boolean;
  lines: string[];
}

/** Where a link leads, as people have who share one list. */
const fileOf = (commonDir: string) => realpathOr(join(commonDir, "info", "exclude"));
/** As a line of ours is written in a file of that encoding. */
const inFile = (line: string, encoding: AnyText["encoding"]) => Buffer.from(line).toString(encoding);
const memoryOf = (commonDir: string) => join(commonDir, "pawl", "excluded");
const readMemory = (commonDir: string) => jsonIfReadable<Excluded>(memoryOf(commonDir));

/** Adds lines that are not there yet. What was there is written down first, so that a kill cannot make us forget it. */
export function hideLines(commonDir: string, lines: readonly string[]): void {
  const path = fileOf(commonDir);
  const { text, encoding } = anyText(path);
  const rows = text.split(/\r?\n/);
  const missing = lines.filter((line) => !rows.includes(inFile(line, encoding)));
  if (missing.length === 0) return;
  const noFolder = !existsSync(dirname(path));
  const before = !existsSync(path) ? "absent" : text === "" || text.endsWith("\n") ? "whole" : "no line end";
  const known = readMemory(commonDir) ?? { before, noFolder, lines: [] };
  const memory = { ...known, lines: [...new Set([...known.lines, ...missing])] };
  replaceFile(memoryOf(commonDir), `${JSON.stringify(memory)}\n`);
  mkdirSync(dirname(path), { recursive: true });
  const gap = before === "no line end" ? "\n" : "";
  const added = missing.map((line) => `${inFile(line, encoding)}\n`).join("");
  replaceQuickly(path, Buffer.from(`${text}${gap}${added}`, encoding));
}

/** Takes our lines out again; whatever others wrote meanwhile stays. */
export function showLines(commonDir: string): void {
  const memory = readMemory(commonDir);
  if (memory) takeOut(commonDir, memory, memory.lines);
  if (memory?.noFolder) removeIfEmpty(join(commonDir, "info"));
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
  if (!existsSync(path)) return;
  const { text, encoding } = anyText(path);
  const own = lines.map((line) => inFile(line, encoding));
  const rows = text.split(/(?<=\n)/);
  const isOurs = (row: string) => own.includes(row.replace(/\r?\n$/, ""));
  const rest = rows.filter((row) => !isOurs(row));
  const wereLast =
    rows.slice(rest.length).every(isOurs) && rows.slice(0, rest.length).join("") === rest.join("");
  const joined = rest.join("");
  const after = memory.before === "no line end" && wereLast ? joined.replace(/\n$/, "") : joined;
  if (after === "" && memory.before === "absent") rmSync(path);
  else if (after !== text) replaceFile(path, Buffer.from(after, encoding));
}
