import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../model/environment.ts";
import { step } from "../model/steps.ts";
import type { Site } from "../ports/sites.ts";
import type { SavedPatch } from "../ports/snapshots.ts";
import { Git } from "./run-git.ts";

/** Whatever the user's settings and drivers make of a diff for their own eyes, this one has to apply. */
const PLAIN = [
  "-c",
  "core.quotePath=true",
  "-c",
  "diff.suppressBlankEmpty=false",
  "-c",
  "diff.renameLimit=1000",
  "-c",
  "core.attributesFile=/dev/null",
  "diff",
  "--full-index",
  "-M",
  "-O/dev/null",
  "-U3",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--inter-hunk-context=0",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--submodule=short",
  "--ignore-submodules=none",
  "--diff-algorithm=default",
  "--indent-heuristic",
];

/** Without an index no attributes of any checkout have a say; the file does not exist. */
const NO_INDEX = { GIT_INDEX_FILE: "pawl-no-index", GIT_ATTR_NOSYSTEM: "1" };

export interface PatchFacts {
  patch_sha256: string;
  files: number;
  insertions: number;
  deletions: number;
}

/** Writes the diff between two commits to a file, by git itself, so that no size is too big. */
export async function writePatch(
  site: Pick<Site, "commonDir">,
  from: string,
  to: string,
  file: string,
  env: Environment,
  more: readonly string[] = [],
): Promise<PatchFacts> {
  const git = Git.of("quiet", env, site.commonDir).with(NO_INDEX);
  step("snapshot patch");
  await git.expect("The patch could not be written", [
    ...PLAIN,
    ...more,
    "--binary",
    `--output=${file}`,
    from,
    to,
  ]);
  const counted = await git.expect("The patch could not be counted", [
    ...PLAIN,
    ...more,
    "--numstat",
    "-z",
    from,
    to,
  ]);
  const stats = parseNumstat(counted);
  const sum = (of: "insertions" | "deletions") => stats.reduce((all, one) => all + (one[of] ?? 0), 0);
  return {
    patch_sha256: digestOf(file),
    files: stats.length,
    insertions: sum("insertions"),
    deletions: sum("deletions"),
  };
}

type FileStat = Awaited<ReturnType<SavedPatch["stat"]>>[number];

/** `added TAB deleted TAB path NUL`, and for a rename an empty path, then both paths. */
function parseNumstat(text: string): FileStat[] {
  const parts = text.split("\0");
  const stats: FileStat[] = [];
  for (let at = 0; at < parts.length; at++) {
    const entry = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(parts[at] ?? "");
    if (!entry) continue;
    const [, added, deleted, path] = entry;
    const count = (value: string | undefined) => (value === "-" ? undefined : Number(value));
    stats.push({
      path: path === "" ? (parts[at + 2] ?? "") : (path ?? ""),
      insertions: count(added),
      deletions: count(deleted),
    });
    if (path === "") at += 2;
  }
  return stats;
}

function digestOf(file: string): string {
  const fd = openSync(file, "r");
  try {
    return digestOfOpen(fd);
  } finally {
    closeSync(fd);
  }
}

const PIECE = 1 << 16;

function digestOfOpen(fd: number): string {
  const hash = createHash("sha256");
  for (const piece of piecesOf(fd)) hash.update(piece);
  return hash.digest("hex");
}

function* piecesOf(fd: number): Generator<Uint8Array> {
  for (let at = 0; ; ) {
    const piece = Buffer.alloc(PIECE);
    const got = readSync(fd, piece, 0, PIECE, at);
    if (got === 0) return;
    yield piece.subarray(0, got);
    at += got;
  }
}

/** The same open file is checked and then read, so that nobody can put another one in its place in between. */
export function openPatch(
  file: string,
  sha256: string | undefined,
  env: Environment,
): SavedPatch | undefined {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (sha256 !== undefined && digestOfOpen(fd) !== sha256) {
    closeSync(fd);
    return undefined;
  }
  return {
    async *chunks() {
      yield* piecesOf(fd);
    },
    async stat() {
      const args = ["-c", "apply.whitespace=nowarn", "apply", "--numstat", "-z", "--allow-empty", "--", file];
      // Inside a repository git would leave out whatever is not below the current folder.
      const git = Git.in("user", env, dirname(file)).with({
        GIT_CEILING_DIRECTORIES: dirname(dirname(file)),
      });
      return parseNumstat(await git.expect("The patch could not be counted", args));
    },
    close: () => closeSync(fd),
  };
}
