import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isBlob } from "../git/blobs.ts";
import { idLength } from "../git/object-ids.ts";
import { expectGit, Git, type GitAnswer } from "../git/run-git.ts";
import type { Environment } from "../model/environment.ts";

/** A file as a commit or the index has it. */
export interface GitEntry {
  mode: string;
  id: string;
}

const FAILED = "The installed files could not be committed";

/** Plain git in the worktree that is installed into. Nothing here runs a hook of the user's but those of a moving ref. */
export class TreeGit {
  readonly root: string;
  readonly #git: Git;
  readonly #local: string;

  constructor(root: string, local: string, env: Environment) {
    this.root = root;
    this.#local = local;
    this.#git = Git.in("author", env, root);
  }

  ask(args: readonly string[], stdin?: string, extra: Record<string, string> = {}): GitAnswer {
    return this.#git.with(extra).askSync(args, stdin);
  }

  expect(args: readonly string[], stdin?: string, extra?: Record<string, string>): string {
    return expectGit(this.ask(args, stdin, extra), FAILED);
  }

  /** What a commit has at these paths. */
  committed(commit: string | undefined, paths: readonly string[]): Map<string, GitEntry> {
    if (commit === undefined || paths.length === 0) return new Map();
    const out = this.ask(["--literal-pathspecs", "ls-tree", "-z", commit, "--", ...paths]).out;
    return readEntries(out, /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s);
  }

  /** What is staged at these paths. */
  staged(paths: readonly string[]): Map<string, GitEntry> {
    if (paths.length === 0) return new Map();
    const out = this.ask(["--literal-pathspecs", "ls-files", "-z", "-s", "--", ...paths]).out;
    return readEntries(out, /^(\d+) ([0-9a-f]+) 0\t(.*)$/s);
  }

  /** Files in the index that a sparse checkout keeps out of the tree. */
  leftOut(): Set<string> {
    const rows = this.ask(["ls-files", "-z", "-t"]).out.split("\0");
    return new Set(rows.filter((row) => row.startsWith("S ")).map((row) => row.slice(2)));
  }

  /** The bytes of a blob as text; undefined when they are none in UTF-8. */
  text({ id }: GitEntry): string | undefined {
    const { code, out } = this.ask(["cat-file", "blob", id]);
    return code === 0 && isBlob(id, out) ? out : undefined;
  }

  /** The bytes of a blob, whatever they are. Git writes them to a file, because what it prints is read as text. */
  bytes({ id }: GitEntry): Buffer | undefined {
    const path = join(this.#local, `blob-${randomBytes(4).toString("hex")}`);
    mkdirSync(this.#local, { recursive: true });
    const file = openSync(path, "wx");
    try {
      if (this.#git.askSync(["cat-file", "blob", id], "", file).code !== 0) return undefined;
      const bytes = readFileSync(path);
      return isBlob(id, bytes) ? bytes : undefined;
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  }

  /** Those of the paths that the project's own rules keep out of git. */
  ignored(paths: readonly string[]): Set<string> {
    const { out } = this.ask(["check-ignore", "-z", "--stdin"], paths.map((one) => `${one}\0`).join(""));
    return new Set(out.split("\0").filter(Boolean));
  }

  /** Writes blobs, all by one git. */
  write(contents: readonly Uint8Array[]): string[] {
    if (contents.length === 0) return [];
    const folder = join(this.#local, `blobs-${randomBytes(4).toString("hex")}`);
    mkdirSync(folder, { recursive: true });
    try {
      const files = contents.map((bytes, index) => {
        writeFileSync(join(folder, String(index)), bytes);
        return join(folder, String(index));
      });
      const list = files.map((one) => `${one}\n`).join("");
      return this.expect(["hash-object", "-w", "--no-filters", "--stdin-paths"], list).split("\n");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** The tree of a commit with some paths replaced; without an entry a path goes. */
  treeWith(commit: string | undefined, entries: ReadonlyMap<string, GitEntry | undefined>): string {
    const index = { GIT_INDEX_FILE: join(this.#local, `index-${randomBytes(4).toString("hex")}`) };
    try {
      this.expect(commit === undefined ? ["read-tree", "--empty"] : ["read-tree", commit], undefined, index);
      this.expect(["update-index", "-z", "--index-info"], this.#indexInfo(entries), index);
      return this.expect(["write-tree"], undefined, index);
    } finally {
      for (const end of ["", ".lock"]) rmSync(`${index.GIT_INDEX_FILE}${end}`, { force: true });
    }
  }

  stage(entries: ReadonlyMap<string, GitEntry | undefined>): void {
    if (entries.size === 0) return;
    this.expect(["update-index", "-z", "--index-info"], this.#indexInfo(entries));
    // As git's own commit leaves it, with what it knows of the files and the tree: `check` need not ask git then.
    this.ask(["update-index", "-q", "--refresh"]);
    this.ask(["write-tree"]);
  }

  #indexInfo(entries: ReadonlyMap<string, GitEntry | undefined>): string {
    const nothing = "0".repeat(idLength(this.ask(["rev-parse", "--show-object-format"]).out.trim()));
    return [...entries]
      .map(([path, entry]) => (entry ? `${entry.mode} ${entry.id}\t${path}\0` : `0 ${nothing}\t${path}\0`))
      .join("");
  }
}

function readEntries(out: string, form: RegExp): Map<string, GitEntry> {
  const found = new Map<string, GitEntry>();
  for (const row of out.split("\0")) {
    const [, mode, id, path] = form.exec(row) ?? [];
    if (mode && id && path) found.set(path, { mode, id });
  }
  return found;
}
