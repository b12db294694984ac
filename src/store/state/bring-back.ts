import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../files/digest.ts";
import { makeFolder, writeDurably } from "../../files/durable.ts";
import { textIfPresent } from "../../files/read.ts";
import type { Environment } from "../../model/environment.ts";
import { eventFile } from "../../model/paths.ts";
import type { Effect } from "../../ports/operation.ts";
import { readEvents } from "../event-log.ts";
import { type Home, stagingDir } from "../layout.ts";
import { forgetTaskListCache } from "../task-list-cache.ts";
import { transact } from "../transaction.ts";
import { gitOf, REF, type StateRepository } from "./state-basics.ts";
import { type Listing, listFiles, writeContent } from "./state-objects.ts";

/** Records that were deleted or changed by hand, as pawl last wrote them; the history has what was ever committed. */
export async function bringBack(home: Home, env: Environment, paths: readonly string[]): Promise<string[]> {
  const repo = { state: home.state, gitDir: home.gitDir, env };
  const wanted = new Set(paths);
  const told = readEvents(home, { limit: Number.POSITIVE_INFINITY, about: (path) => wanted.has(path) });
  const scratch: string[] = [];
  try {
    const effects: Effect[] = [];
    // A task's folder comes into being with its own record.
    for (const path of [...paths].sort((a, b) => Number(isTask(b)) - Number(isTask(a)))) {
      const digests = told.filter((one) => one.path === path).flatMap((one) => one.text ?? []);
      const found = await lastWritten(repo, path, digests);
      if (found === undefined) continue;
      const folderThere = existsSync(dirname(join(home.state, path)));
      effects.push(effectFor(home, path, found, scratch));
      if (isTask(path) && !folderThere) effects.push(...(await attachments(home, repo, path, scratch)));
    }
    if (effects.length === 0) return [];
    const log = eventFile(home.clone, new Date().toISOString());
    // What they say was told when it was written; coming back is no change of theirs.
    if (transact(home, { effects, events: [], log }).state !== "done") return [];
    forgetTaskListCache(home);
    return effects.map((one) => one.path).filter((path) => wanted.has(path));
  } finally {
    for (const path of scratch) rmSync(path, { force: true });
  }
}

const isTask = (path: string) => path.endsWith("/task.md");

async function lastWritten(
  repo: StateRepository,
  path: string,
  digests: readonly string[],
): Promise<string | undefined> {
  const git = gitOf(repo);
  const { out } = await git.ask(["rev-list", REF, "--", path]);
  for (const commit of out.split("\n").filter(Boolean)) {
    const { code, out: text } = await git.ask(["cat-file", "blob", `${commit}:${path}`]);
    if (code === 0 && digests.some((one) => sha256(text).startsWith(one))) return text;
  }
  return undefined;
}

function effectFor(home: Home, path: string, text: string, scratch: string[]): Effect {
  const common = { record: path, rev: 0, path, about: "brought back" };
  const before = textIfPresent(join(home.state, path));
  if (before !== undefined) return { do: "replace", ...common, text, before };
  if (!isTask(path) || !existsSync(dirname(join(home.state, path)))) return { do: "create", ...common, text };
  const from = scratchFile(home, scratch);
  writeDurably(from, text);
  return { do: "attach", ...common, from, fresh: true };
}

/** Patches, logs and the like, which no event tells of by their text. */
async function attachments(
  home: Home,
  repo: StateRepository,
  task: string,
  scratch: string[],
): Promise<Effect[]> {
  const folder = `${dirname(task)}/`;
  const others = [...(await lastFolder(repo, task))].filter(
    ([path]) => path.startsWith(folder) && !/\/(?:task|run|[A-Z]\d+)\.md$/.test(path),
  );
  return others.map(([path, id]): Effect => {
    const from = scratchFile(home, scratch);
    writeContent(repo, id, from);
    return { do: "attach", record: path, rev: 0, path, from, about: "brought back" };
  });
}

/** The files of the last commit that had the task; the one that touched its folder last may have taken it away. */
async function lastFolder(repo: StateRepository, task: string): Promise<Listing> {
  const { out } = await gitOf(repo).ask(["rev-list", "-n", "1", "--parents", REF, "--", dirname(task)]);
  for (const commit of out.trim().split(" ").filter(Boolean)) {
    const files = await listFiles(repo, commit);
    if (files.has(task)) return files;
  }
  return new Map();
}

function scratchFile(home: Home, scratch: string[]): string {
  makeFolder(stagingDir(home));
  const path = join(stagingDir(home), `back-${process.pid}-${randomBytes(4).toString("hex")}`);
  scratch.push(path);
  return path;
}
