/** One line of a hunk. A line without an end says so, because adding the end is a change as well. */
export interface Row {
  sign: " " | "+" | "-";
  old: number | undefined;
  new: number | undefined;
  text: string;
  endless: boolean;
}

export interface Hunk {
  oldStart: number;
  newStart: number;
  heading: string;
  rows: Row[];
}

export interface PatchFile {
  path: string;
  oldPath: string;
  change: "added" | "deleted" | "modified" | "renamed" | "copied";
  oldMode: string | undefined;
  newMode: string | undefined;
  binary: boolean;
  additions: number;
  deletions: number;
  hunks: Hunk[];
  /** The lines of the patch that are about this file: its digest tells whether it changed since somebody looked. */
  firstLine: number;
  lastLine: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Reads a patch as git writes it. The counts of each hunk say where it ends, so no line of a file passes for a header. */
export function parsePatch(patch: string): PatchFile[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: PatchFile[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at]?.startsWith("diff --git ")) {
      at++;
      continue;
    }
    const file = begin(lines[at] ?? "", at);
    at = readHeader(file, lines, at + 1);
    while (HUNK.test(lines[at] ?? "")) at = readHunk(file, lines, at);
    while (at < lines.length && !lines[at]?.startsWith("diff --git ")) at++;
    file.lastLine = at - 1;
    files.push(file);
  }
  return files;
}

function begin(line: string, at: number): PatchFile {
  const [oldPath, path] = pathsOf(line.slice("diff --git ".length));
  return {
    path,
    oldPath,
    change: "modified",
    oldMode: undefined,
    newMode: undefined,
    binary: false,
    additions: 0,
    deletions: 0,
    hunks: [],
    firstLine: at,
    lastLine: at,
  };
}

/** `a/x b/x`: where neither is quoted, both have the same name, so the middle is where they part. */
function pathsOf(both: string): [string, string] {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(both);
  if (quoted && both.includes('"')) return [withoutPrefix(quoted[1] ?? ""), withoutPrefix(quoted[2] ?? "")];
  const middle = (both.length - 1) / 2;
  return [withoutPrefix(both.slice(0, middle)), withoutPrefix(both.slice(middle + 1))];
}

const withoutPrefix = (word: string) => unquote(word).replace(/^[ab]\//, "");

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** A name as git quotes it: `"caf\303\251.txt"` is written in bytes. */
function unquote(word: string): string {
  if (!word.startsWith('"')) return word;
  const bytes: Buffer[] = [];
  for (const [, octal, escaped, plain] of word.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs))
    bytes.push(
      octal === undefined
        ? Buffer.from(plain ?? ESCAPES[escaped ?? ""] ?? escaped ?? "")
        : Buffer.from([Number.parseInt(octal, 8)]),
    );
  return Buffer.concat(bytes).toString("utf8");
}

/** The lines between `diff --git` and the first hunk; returns where that begins. */
function readHeader(file: PatchFile, lines: readonly string[], from: number): number {
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("@@ ") || line.startsWith("diff --git ")) return at;
    if (line.startsWith("GIT binary patch") || /^Binary files .* differ$/.test(line)) {
      file.binary = true;
      return at + 1;
    }
    readHeaderLine(file, line);
  }
  return lines.length;
}

function readHeaderLine(file: PatchFile, line: string): void {
  const [, words, value = ""] =
    /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to|index) (.*)$/.exec(
      line,
    ) ?? [];
  if (words === "new file mode") Object.assign(file, { change: "added", newMode: value });
  if (words === "deleted file mode") Object.assign(file, { change: "deleted", oldMode: value });
  if (words === "old mode") file.oldMode = value;
  if (words === "new mode") file.newMode = value;
  if (words === "rename from" || words === "copy from")
    Object.assign(file, { oldPath: unquote(value), change: words === "copy from" ? "copied" : "renamed" });
  if (words === "rename to" || words === "copy to") file.path = unquote(value);
}

function readHunk(file: PatchFile, lines: readonly string[], from: number): number {
  const [, oldStart, oldCount = "1", newStart, newCount = "1", heading = ""] =
    HUNK.exec(lines[from] ?? "") ?? [];
  const hunk: Hunk = { oldStart: Number(oldStart), newStart: Number(newStart), heading, rows: [] };
  const left = { old: Number(oldCount), new: Number(newCount) };
  const next = { old: hunk.oldStart, new: hunk.newStart };
  file.hunks.push(hunk);
  let at = from + 1;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("\\")) {
      const last = hunk.rows.at(-1);
      if (last) last.endless = true;
      continue;
    }
    if (left.old <= 0 && left.new <= 0) break;
    const sign = line[0] === "+" || line[0] === "-" ? line[0] : " ";
    const row: Row = { sign, old: undefined, new: undefined, text: line.slice(1), endless: false };
    if (sign !== "+") {
      row.old = next.old++;
      left.old--;
    }
    if (sign !== "-") {
      row.new = next.new++;
      left.new--;
    }
    if (sign === "+") file.additions++;
    if (sign === "-") file.deletions++;
    hunk.rows.push(row);
  }
  return at;
}
